//! How sessions are read: the flag, else the setting; and the models that may be asked for it.

use nacre_api::wire::ErrorCode;
use nacre_core::catalog::key_of;
use nacre_core::config::StrategyChoice;
use nacre_core::transcript::Trace;
use nacre_engine::flows::models::{AskError, AskRules, FlowModels, ModelClient, ProjectModels};
use nacre_engine::flows::strategy::{HowRead, ReadError, Reader};
use nacre_engine::model::{ErrorKind, Models, Role};
use nacre_engine::record::state::SpentOn;

use super::Host;
use super::models::{model_settings, no_answer};
use super::spending::{limit_hint, open_models};
use crate::cancel::Cancel;
use crate::error::OpError;
use crate::events::Events;

/// Who reads sessions, for as long as a command runs.
pub struct Reading {
    choice: StrategyChoice,
    models: Option<FlowModels>,
    rlm_above_tokens: usize,
}

impl Reading {
    /// Looks up what is set. A model that is set and cannot be asked is told before anything is done.
    pub fn open(
        host: &Host,
        strategy: Option<StrategyChoice>,
        role: Role,
        cancel: &Cancel,
    ) -> Result<Self, OpError> {
        let set = host.settings().roles.get(Role::Extract.as_str());
        let choice = strategy.or(set.and_then(|table| table.strategy)).unwrap_or_default();
        let above = set.and_then(|table| table.rlm_above_tokens);
        Ok(Self {
            choice,
            models: flow_models(host, choice, role, cancel)?,
            rlm_above_tokens: above.unwrap_or(Reader::RLM_ABOVE_TOKENS),
        })
    }

    /// The reader of the sessions of one project.
    pub fn reader<'a>(&'a self, rules: &'a AskRules) -> Reader<'a> {
        let Self { choice, models, rlm_above_tokens } = self;
        let models = models.as_ref().map(|flow| ProjectModels { flow, rules });
        Reader { choice: *choice, models, rlm_above_tokens: *rlm_above_tokens }
    }
}

impl Reading {
    /// Somebody to ask about one session, counted for the project around.
    pub fn asker<'a>(
        &'a self,
        host: &Host,
        rules: &'a AskRules,
        trace: &Trace,
    ) -> Result<Option<ModelClient<'a>>, OpError> {
        let project = host.project.as_ref().map(|project| project.path.display().to_string());
        let on = SpentOn { project, session: key_of(trace) };
        let asker = self.reader(rules).asker(on, host.now());
        asker.map_err(|error| OpError::from_error(ErrorCode::Failed, &error, None))
    }
}

/// The models that flows may ask; none where none is set or none is wanted.
fn flow_models(
    host: &Host,
    choice: StrategyChoice,
    role: Role,
    cancel: &Cancel,
) -> Result<Option<FlowModels>, OpError> {
    if choice == StrategyChoice::Offline {
        return Ok(None);
    }
    let models = Models::new(model_settings(host)?);
    if !choice.demands_a_model() && models.settings_of(role).is_err() {
        return Ok(None);
    }
    models.route(role)?;
    open_models(host, models, cancel).map(Some)
}

/// Warns where a limit kept the model away from a session.
pub fn warn_of_limit(events: &Events, how: &HowRead) {
    let (Some(key), Some(why)) = (how.limit, &how.fallback) else { return };
    events.warning(
        format!("The session was read by the rules alone: {why}"),
        Some(&format!("nacre config set {key} N")),
    );
}

impl From<AskError> for OpError {
    fn from(error: AskError) -> Self {
        match error {
            AskError::Roles(error) => error.into(),
            AskError::Model(error) if error.kind == ErrorKind::Cancelled => Self::cancelled(),
            AskError::Model(error) => no_answer(&error),
            AskError::OverLimit(reached) => {
                let hint = limit_hint(&reached);
                Self::from_error(ErrorCode::LimitReached, &AskError::OverLimit(reached), Some(hint))
            }
            AskError::Answer(_) | AskError::Lost => {
                let hint = "Set another model, or read by rules: --strategy offline";
                Self::from_error(ErrorCode::Failed, &error, Some(hint.to_owned()))
            }
        }
    }
}

impl From<ReadError> for OpError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Trace(error) => error.into(),
            ReadError::Ask(error) => error.into(),
        }
    }
}
