//! Calls models for operations, within spending limits.
//!
//! Operations are synchronous, so this module blocks until a model responds. Each `ModelClient` has
//! a budget: the limit minus all recorded spending, including that of other processes.

use std::sync::{Mutex, PoisonError};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use nacre_base::config::{LimitSettings, Settings};
use nacre_base::redact::ExtraWords;
use nacre_engine::model::{
    Allowance, Amount, AsyncRuntime, Cancel, Control, Cost, ErrorKind, LimitScope, Limits,
    ModelError, Models, OutputSchema, Reached, Request, RetryPolicy, Role, RolesError, Route,
    SpendingBudget, Spent, StructuredError, Usage, request_structured,
};
use nacre_engine::record::state::{SpentFilter, SpentOn, SpentSum, State, StateError};
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::settings::words;
use crate::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpendingLimits {
    /// Maximum cost of all model requests for one session.
    pub session: Amount,
    /// Maximum cost of all model requests per day.
    pub day: Amount,
    /// Maximum cost of one project's model requests per month.
    pub project: Amount,
}

/// A project's limits and redactions for model requests.
#[derive(Clone, Debug)]
pub struct AskRules {
    pub spending: SpendingLimits,
    pub agent_sessions: u64,
    pub words: Arc<ExtraWords>,
}

/// The models available to operations. [`AskRules`] limits what a project can spend and send.
pub struct FlowModels {
    pub(crate) models: Models,
    pub(crate) runtime: AsyncRuntime,
    pub(crate) control: Control,
    pub(crate) state: Arc<Mutex<State>>,
}

#[derive(Clone, Copy)]
pub struct ProjectModels<'a> {
    pub flow: &'a FlowModels,
    pub rules: &'a AskRules,
}

#[derive(Clone, Debug)]
pub struct ModelQuestion {
    pub role: Role,
    pub instructions: String,
    /// The data to which the instructions apply.
    pub material: String,
    pub output: OutputSchema,
}

#[derive(Debug, thiserror::Error)]
pub enum AskError {
    #[error(transparent)]
    Roles(#[from] RolesError),
    #[error("No model request is allowed: {0}")]
    OverLimit(Reached),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("The model's response cannot be used")]
    Answer(#[source] StructuredError),
    #[error("The model's response was lost")]
    Lost,
}

impl<'a> ProjectModels<'a> {
    /// Returns a client for one session. The limits are computed now, so that they take into
    /// account what other processes have already spent.
    pub fn asker(self, on: SpentOn, now: Timestamp) -> Result<ModelClient<'a>, StateError> {
        let Self { flow, rules } = self;
        let (allowances, n_others) = {
            let state = flow.state.lock().unwrap_or_else(PoisonError::into_inner);
            let n_others = state.agent_sessions(day_of(now), &on.session)?;
            let spent = sum_spending_by_scope(&state, &rules.spending, &on, now)?.into_iter();
            let allowance = |(scope, limit, sum): (_, _, SpentSum)| Allowance {
                scope,
                limit,
                used: sum.amount,
            };
            (spent.map(allowance).collect(), n_others)
        };
        let state = Arc::clone(&flow.state);
        let keep = move |spent: &Spent| {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            state.spend(&on, spent, now).map_err(|error| error.to_string())
        };
        let budget = SpendingBudget::new(allowances, Usage::cost, keep);
        let budget = Arc::new(budget.with_agent_sessions(rules.agent_sessions, n_others));
        let models = Arc::new(flow.models.paid_from(&budget).without_words(&rules.words));
        Ok(ModelClient { flow, models, budget })
    }
}

pub fn sum_spending_by_scope(
    state: &State,
    limits: &SpendingLimits,
    on: &SpentOn,
    now: Timestamp,
) -> Result<Vec<(LimitScope, Amount, SpentSum)>, StateError> {
    let all = SpentFilter::default();
    let session = SpentFilter { session: Some(&on.session), ..all };
    let day = SpentFilter { since: Some(day_of(now)), ..all };
    let mut found = vec![
        (LimitScope::Session, limits.session, state.sum_spending(session)?),
        (LimitScope::Day, limits.day, state.sum_spending(day)?),
    ];
    if let Some(project) = &on.project {
        let month = start_of(now.to_zoned(TimeZone::UTC).date().first_of_month());
        let month = SpentFilter { since: Some(month), project: Some(project), ..all };
        found.push((LimitScope::Project, limits.project, state.sum_spending(month)?));
    }
    Ok(found)
}

/// Returns the start of a day in UTC, so that all of a user's machines agree.
pub(crate) fn start_of(day: Date) -> Timestamp {
    day.to_zoned(TimeZone::UTC).map_or(Timestamp::MIN, |day| day.timestamp())
}

fn day_of(now: Timestamp) -> Timestamp {
    start_of(now.to_zoned(TimeZone::UTC).date())
}

pub struct ModelClient<'f> {
    flow: &'f FlowModels,
    models: Arc<Models>,
    budget: Arc<SpendingBudget>,
}

impl ModelClient<'_> {
    /// Returns models that charge this client's budget, for running an agent.
    pub fn models(&self) -> &Arc<Models> {
        &self.models
    }

    pub fn budget(&self) -> &Arc<SpendingBudget> {
        &self.budget
    }

    pub fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.flow.runtime.block_on(work)
    }

    pub fn ask<T>(&self, question: &ModelQuestion) -> Result<T, AskError>
    where
        T: DeserializeOwned,
    {
        let (route, request) = self.prepare(question)?;
        let work = ask::<T>(route, request, question.output.clone(), self.control(0));
        self.wait(work).map_err(|error| self.classify(error))
    }

    /// Asks independent questions, at most `width` at a time, and returns the answers in the same
    /// order.
    pub fn ask_all<T>(&self, questions: &[ModelQuestion], width: usize) -> Vec<Result<T, AskError>>
    where
        T: DeserializeOwned + Send + 'static,
    {
        let turns = Arc::new(Semaphore::new(width.max(1)));
        self.wait(async {
            let mut under_way = Vec::new();
            for (idx, question) in questions.iter().enumerate() {
                under_way.push(self.spawn(idx, question, &turns));
            }
            let mut answers = Vec::new();
            for work in under_way {
                answers.push(match work {
                    Ok(work) => work
                        .await
                        .map_err(|_| AskError::Lost)
                        .and_then(|answered| answered.map_err(|error| self.classify(error))),
                    Err(error) => Err(error),
                });
            }
            answers
        })
    }

    fn spawn<T>(
        &self,
        idx: usize,
        question: &ModelQuestion,
        turns: &Arc<Semaphore>,
    ) -> Result<JoinHandle<Result<T, StructuredError>>, AskError>
    where
        T: DeserializeOwned + Send + 'static,
    {
        let (route, request) = self.prepare(question)?;
        let (output, control) = (question.output.clone(), self.control(idx));
        let turns = Arc::clone(turns);
        Ok(tokio::spawn(async move {
            // Acquiring a permit cannot fail, because the semaphore is never closed. Without a
            // permit, the question would only be sent too early.
            let _turn = turns.acquire().await;
            ask::<T>(route, request, output, control).await
        }))
    }

    fn prepare(&self, question: &ModelQuestion) -> Result<(Route, Request), AskError> {
        let ModelQuestion { role, instructions, material, .. } = question;
        let settings = self.models.settings_of(*role)?;
        let mut request = Request::new(*role, instructions, material);
        request.max_tokens = settings.max_tokens.unwrap_or(request.max_tokens);
        request.temperature = settings.temperature;
        request.effort = settings.effort;
        Ok((self.models.route(*role)?, request))
    }

    fn control(&self, idx: usize) -> Control {
        let control = self.flow.control.clone();
        Control { seed: control.seed.wrapping_add(idx as u64), ..control }
    }

    fn classify(&self, error: StructuredError) -> AskError {
        match error {
            StructuredError::Model(error) if error.kind == ErrorKind::OverLimit => {
                self.budget.limit_reached().map_or(AskError::Model(error), AskError::OverLimit)
            }
            StructuredError::Model(error) => AskError::Model(error),
            error @ (StructuredError::Incomplete { .. } | StructuredError::Invalid { .. }) => {
                AskError::Answer(error)
            }
        }
    }
}

async fn ask<T: DeserializeOwned>(
    route: Route,
    request: Request,
    output: OutputSchema,
    control: Control,
) -> Result<T, StructuredError> {
    let answer = request_structured::<T>(&route, &request, &output, &control, &mut |_| {}).await?;
    Ok(answer.value)
}

#[cfg(test)]
mod tests;

/// Opens the models and the database that records their cost. Cancelling the operation cancels the
/// requests to the models.
pub fn open_models(host: &Host, models: Models, cancel: &Cancel) -> Result<FlowModels> {
    let state = State::open(&host.home_scope()?, &host.owner("sync"), host.settings().lock.wait)?;
    let (policy, limits) = patience(host);
    let seed = host.now().as_nanosecond() as u64 ^ u64::from(host.environment.pid);
    let control = Control { policy, limits, seed, cancel: cancel.clone() };
    let state = Arc::new(Mutex::new(state));
    Ok(FlowModels { models, runtime: host.async_runtime()?, control, state })
}

pub fn ask_rules(settings: &Settings) -> AskRules {
    AskRules {
        spending: spending_limits(&settings.limits),
        agent_sessions: settings.reading.sessions_per_day,
        words: Arc::new(words(settings)),
    }
}

pub fn patience(host: &Host) -> (RetryPolicy, Limits) {
    let deadline = host.settings().limits.model_time;
    let policy = RetryPolicy { deadline, ..RetryPolicy::default() };
    // On a slow machine, a local model takes minutes to process a long prompt.
    (policy, Limits { first_token: Duration::from_secs(300), ..Limits::default() })
}

/// Returns a client for this run of a command. The run counts as a session, and its cost is charged
/// to `project`.
pub fn asker_of_run<'m>(
    host: &Host,
    models: ProjectModels<'m>,
    command: &str,
    project: Option<String>,
) -> Result<ModelClient<'m>> {
    let session = format!("{command} {}", host.now());
    Ok(models.asker(SpentOn { project, session }, host.now())?)
}

/// Returns models for this run of a command. The limits apply to every call.
pub fn open_charged_models(host: &Host, models: Models, command: &str) -> Result<Arc<Models>> {
    let project = host.project.as_ref().map(|project| project.path.as_path());
    let rules = ask_rules(&host.settings_of(project)?);
    // Cancelling the agent stops its requests, so its models need no cancellation token.
    let flow = open_models(host, models, &Cancel::new())?;
    let models = ProjectModels { flow: &flow, rules: &rules };
    let project = project.map(|project| project.display().to_string());
    Ok(Arc::clone(asker_of_run(host, models, command, project)?.models()))
}

pub fn spending_limits(settings: &LimitSettings) -> SpendingLimits {
    let amount = |tokens: u64, thousandths: u64| Amount {
        tokens,
        cost: Cost::from_nano_dollars(thousandths.saturating_mul(1_000_000)),
    };
    SpendingLimits {
        session: amount(settings.session_tokens, settings.session_usd),
        day: amount(settings.day_tokens, settings.day_usd),
        project: amount(settings.project_tokens, settings.project_usd),
    }
}

pub fn limit_hint(reached: &Reached) -> String {
    raise_limit_hint(reached.key())
}

pub fn raise_limit_hint(key: &str) -> String {
    format!(
        "Raise the limit: nacre config set {key} N; or work without a model: --strategy offline"
    )
}
