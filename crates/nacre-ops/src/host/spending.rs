//! What models may cost, and where it is counted: one spending budget for every operation that asks one.

use std::sync::Arc;
use std::time::Duration;

use nacre_api::wire::ErrorCode;
use nacre_core::config::{LimitSettings, Settings};
use nacre_engine::flows::models::{
    AskRules, FlowModels, ModelClient, ProjectModels, SpendingLimits,
};
use nacre_engine::model::{Amount, Cost, Limits, Models, Reached, RetryPolicy};
use nacre_engine::record::state::{SpentOn, State};

use super::Host;
use super::settings::words;
use crate::cancel::Cancel;
use crate::error::OpError;

/// Models, with the state in which it is counted what they cost. A cancelled operation waits for none of them.
pub fn open_models(host: &Host, models: Models, cancel: &Cancel) -> Result<FlowModels, OpError> {
    let home = host.home_scope()?;
    let state = State::open(&home, &host.owner("sync"), host.settings().lock.wait)
        .map_err(|error| OpError::from_error(ErrorCode::Failed, &error, None))?;
    let (policy, patience) = patience(host);
    let seed = host.now().as_nanosecond() as u64 ^ u64::from(host.environment.pid);
    let models = FlowModels::new(models, state, host.async_runtime()?, (policy, patience, seed));
    Ok(models.with_cancel(cancel.token()))
}

/// What the settings of a project say about asking a model.
pub fn ask_rules(settings: &Settings) -> AskRules {
    AskRules {
        spending: spending_limits(&settings.limits),
        agent_sessions: settings.reading.sessions_per_day,
        words: Arc::new(words(settings)),
    }
}

/// How long a command waits for a model, all attempts together and word by word.
pub fn patience(host: &Host) -> (RetryPolicy, Limits) {
    let deadline = host.settings().limits.model_time;
    let policy = RetryPolicy { deadline, ..RetryPolicy::default() };
    // A small machine reads a long question slowly before it says its first word.
    (policy, Limits { first_token: Duration::from_secs(300), ..Limits::default() })
}

/// Somebody to ask for this run of a command. `project` is the one it is counted for; a run is a session of its own.
pub fn asker_of_run<'m>(
    host: &Host,
    models: ProjectModels<'m>,
    command: &str,
    project: Option<String>,
) -> Result<ModelClient<'m>, OpError> {
    let session = format!("{command} {}", host.now());
    let asker = models.asker(SpentOn { project, session }, host.now());
    asker.map_err(|error| OpError::from_error(ErrorCode::Failed, &error, None))
}

/// The models for this run of a command, each call charged within the limits.
pub fn charged_models(host: &Host, models: Models, command: &str) -> Result<Arc<Models>, OpError> {
    let project = host.project.as_ref().map(|project| project.path.as_path());
    let rules = ask_rules(&host.settings_of(project)?);
    // An agent is cancelled as a whole; its models need no token of their own.
    let flow = open_models(host, models, &Cancel::new())?;
    let models = ProjectModels { flow: &flow, rules: &rules };
    let project = project.map(|project| project.display().to_string());
    Ok(Arc::clone(asker_of_run(host, models, command, project)?.models()))
}

/// The limits as amounts.
pub fn spending_limits(settings: &LimitSettings) -> SpendingLimits {
    let amount = |tokens: u64, thousandths: u64| Amount {
        tokens,
        cost: Cost::from_nano_dollars(thousandths.saturating_mul(1_000_000)),
    };
    let LimitSettings {
        session_tokens,
        session_usd,
        day_tokens,
        day_usd,
        project_tokens,
        project_usd,
        model_time: _,
        map_time: _,
    } = *settings;
    SpendingLimits {
        session: amount(session_tokens, session_usd),
        day: amount(day_tokens, day_usd),
        project: amount(project_tokens, project_usd),
    }
}

/// What may help where a limit is reached.
pub fn limit_hint(reached: &Reached) -> String {
    raise_limit_hint(reached.key())
}

/// What may help where the limit with this key is reached.
pub fn raise_limit_hint(key: &str) -> String {
    format!("Raise it: nacre config set {key} N; or go on without a model: --strategy offline")
}
