//! How a flow asks a model: a question of a role, an answer of a given shape, and every call counted.
//!
//! Flows are plain code that waits. This is the one place where they wait for a model, on the runtime that they are given;
//! each piece of work gets an `ModelClient` with a budget of its own. What the budget allows is what the limits leave of all
//! that was written down before, by whatever process.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use nacre_core::base::redact::ExtraWords;
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;
use tokio::task::{JoinError, JoinHandle};

use crate::model::{
    Allowance, Amount, AsyncRuntime, Cancel, Control, ErrorKind, LimitScope, Limits, ModelError,
    Models, OutputSchema, Reached, Request, RetryPolicy, Role, RoleSettings, RolesError, Route,
    SpendingBudget, Spent, StructuredError, structured,
};
use crate::record::state::{SpentFilter, SpentOn, SpentSum, State, StateError};

/// What models may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpendingLimits {
    /// All that is ever asked about one session.
    pub session: Amount,
    /// Everything of one day.
    pub day: Amount,
    /// One project's month.
    pub project: Amount,
}

/// What the settings of one project say about asking a model.
#[derive(Clone, Debug)]
pub struct AskRules {
    pub spending: SpendingLimits,
    /// How many sessions installed agents may read in a day.
    pub agent_sessions: u64,
    /// Words that no request contains.
    pub words: Arc<ExtraWords>,
}

/// The models that flows may ask. What a project may spend and send is in its `AskRules`.
pub struct FlowModels {
    models: Models,
    runtime: AsyncRuntime,
    policy: RetryPolicy,
    limits: Limits,
    seed: u64,
    /// Ends every question that waits.
    cancel: Cancel,
    state: Arc<Mutex<State>>,
}

/// The models, under the rules of one project.
#[derive(Clone, Copy)]
pub struct ProjectModels<'a> {
    pub flow: &'a FlowModels,
    pub rules: &'a AskRules,
}

/// One question.
#[derive(Clone, Debug)]
pub struct Question {
    pub role: Role,
    /// What the model is to do.
    pub instructions: String,
    /// What it is to do it with.
    pub material: String,
    pub output: OutputSchema,
}

/// Why a flow got no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    #[error(transparent)]
    Roles(#[from] RolesError),
    #[error("No model may be asked: {0}")]
    OverLimit(Reached),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("The model's answer cannot be used")]
    Answer(#[source] StructuredError),
    #[error("The answer was lost on its way")]
    Lost,
}

impl FlowModels {
    /// Takes models, where it is written down what they cost, and the runtime to wait on.
    pub fn new(
        models: Models,
        state: State,
        runtime: AsyncRuntime,
        (policy, limits, seed): (RetryPolicy, Limits, u64),
    ) -> Self {
        let state = Arc::new(Mutex::new(state));
        Self { models, runtime, policy, limits, seed, cancel: Cancel::never(), state }
    }

    /// The same, for a flow that may be cancelled.
    #[must_use]
    pub fn with_cancel(self, cancel: Cancel) -> Self {
        Self { cancel, ..self }
    }

    /// What is set for a role; nothing where it has no model.
    pub fn settings_of(&self, role: Role) -> Option<&RoleSettings> {
        self.models.settings_of(role).ok()
    }
}

impl<'a> ProjectModels<'a> {
    /// Somebody to ask about one session. Limits are looked up now: what other processes spent counts.
    pub fn asker(self, on: SpentOn, now: Timestamp) -> Result<ModelClient<'a>, StateError> {
        let Self { flow, rules } = self;
        let (allowances, n_others) = {
            let state = flow.state.lock().unwrap_or_else(PoisonError::into_inner);
            let n_others = state.agent_sessions(day_of(now), &on.session)?;
            (allowances(&state, &rules.spending, &on, now)?, n_others)
        };
        let state = Arc::clone(&flow.state);
        let keep = move |spent: &Spent| {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            state.spend(&on, spent, now).map_err(|error| error.to_string())
        };
        let budget = SpendingBudget::new(allowances, flow.models.prices().clone(), keep);
        let budget = Arc::new(budget.with_agent_sessions(rules.agent_sessions, n_others));
        let models = Arc::new(flow.models.paid_from(&budget).without_words(&rules.words));
        Ok(ModelClient { flow, models, budget })
    }
}

/// What the limits leave.
fn allowances(
    state: &State,
    limits: &SpendingLimits,
    on: &SpentOn,
    now: Timestamp,
) -> Result<Vec<Allowance>, StateError> {
    let mut allowances = Vec::new();
    for (scope, limit, sum) in spent_by_scope(state, limits, on, now)? {
        allowances.push(Allowance { scope, limit, used: sum.amount });
    }
    Ok(allowances)
}

/// What was spent in each scope, beside its limit.
pub fn spent_by_scope(
    state: &State,
    limits: &SpendingLimits,
    on: &SpentOn,
    now: Timestamp,
) -> Result<Vec<(LimitScope, Amount, SpentSum)>, StateError> {
    let all = SpentFilter::default();
    let session = SpentFilter { session: Some(&on.session), ..all };
    let day = SpentFilter { since: Some(day_of(now)), ..all };
    let mut found = vec![
        (LimitScope::Session, limits.session, state.spent(session)?),
        (LimitScope::Day, limits.day, state.spent(day)?),
    ];
    if let Some(project) = &on.project {
        let month = SpentFilter { since: Some(month_of(now)), project: Some(project), ..all };
        found.push((LimitScope::Project, limits.project, state.spent(month)?));
    }
    Ok(found)
}

/// When the day began, by UTC: the same on every machine of a person.
fn day_of(now: Timestamp) -> Timestamp {
    start(now, |date| date)
}

/// When the month began.
fn month_of(now: Timestamp) -> Timestamp {
    start(now, Date::first_of_month)
}

fn start(now: Timestamp, first: fn(Date) -> Date) -> Timestamp {
    let date = first(now.to_zoned(TimeZone::UTC).date());
    date.to_zoned(TimeZone::UTC).as_ref().map_or(now, Zoned::timestamp)
}

/// Asks models about one session.
pub struct ModelClient<'f> {
    flow: &'f FlowModels,
    models: Arc<Models>,
    budget: Arc<SpendingBudget>,
}

impl ModelClient<'_> {
    /// The models, paid for from this asker's budget: for whoever runs an agent.
    pub fn models(&self) -> &Arc<Models> {
        &self.models
    }

    /// What was spent, and whether a limit stood in the way.
    pub fn budget(&self) -> &Arc<SpendingBudget> {
        &self.budget
    }

    /// Waits for something that waits for models.
    pub fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.flow.runtime.block_on(work)
    }

    /// Asks one question.
    pub fn ask<T>(&self, question: &Question) -> Result<T, AskError>
    where
        T: DeserializeOwned,
    {
        let (route, request) = self.prepared(question)?;
        let work = ask::<T>(route, request, question.output.clone(), self.control(0));
        self.wait(work).map_err(|error| self.named(error))
    }

    /// Asks several questions that do not depend on each other, at most `width` at a time. Answers come in the
    /// order of the questions.
    pub fn ask_all<T>(&self, questions: &[Question], width: usize) -> Vec<Result<T, AskError>>
    where
        T: DeserializeOwned + Send + 'static,
    {
        let turns = Arc::new(Semaphore::new(width.max(1)));
        self.wait(async {
            let mut under_way = Vec::new();
            for (idx, question) in questions.iter().enumerate() {
                under_way.push(self.spawned(idx, question, &turns));
            }
            let mut answers = Vec::new();
            for work in under_way {
                answers.push(match work {
                    Ok(work) => self.joined(work.await),
                    Err(error) => Err(error),
                });
            }
            answers
        })
    }

    /// Asks once it is its turn.
    fn spawned<T>(
        &self,
        idx: usize,
        question: &Question,
        turns: &Arc<Semaphore>,
    ) -> Result<JoinHandle<Result<T, StructuredError>>, AskError>
    where
        T: DeserializeOwned + Send + 'static,
    {
        let (route, request) = self.prepared(question)?;
        let (output, control) = (question.output.clone(), self.control(idx));
        let turns = Arc::clone(turns);
        Ok(tokio::spawn(async move {
            // It is never closed; without a turn it would only be asked too early.
            let _turn = turns.acquire().await;
            ask::<T>(route, request, output, control).await
        }))
    }

    fn joined<T>(
        &self,
        joined: Result<Result<T, StructuredError>, JoinError>,
    ) -> Result<T, AskError> {
        joined.map_err(|_| AskError::Lost)?.map_err(|error| self.named(error))
    }

    fn prepared(&self, question: &Question) -> Result<(Route, Request), AskError> {
        let Question { role, instructions, material, .. } = question;
        let settings = self.models.settings_of(*role)?;
        let mut request = Request::new(*role, instructions, material);
        request.max_tokens = settings.max_tokens.unwrap_or(request.max_tokens);
        request.temperature = settings.temperature;
        request.effort = settings.effort;
        Ok((self.models.route(*role)?, request))
    }

    fn control(&self, idx: usize) -> Control {
        let FlowModels { policy, limits, seed, cancel, .. } = self.flow;
        Control {
            policy: policy.clone(),
            limits: limits.clone(),
            seed: seed.wrapping_add(idx as u64),
            cancel: cancel.clone(),
        }
    }

    /// Tells a limit from other reasons.
    fn named(&self, error: StructuredError) -> AskError {
        match error {
            StructuredError::Model(error) if error.kind == ErrorKind::OverLimit => {
                self.budget.reached().map_or(AskError::Model(error), AskError::OverLimit)
            }
            StructuredError::Model(error) => AskError::Model(error),
            error @ (StructuredError::Schema(_)
            | StructuredError::Incomplete { .. }
            | StructuredError::Invalid { .. }) => AskError::Answer(error),
        }
    }
}

async fn ask<T: DeserializeOwned>(
    route: Route,
    request: Request,
    output: OutputSchema,
    control: Control,
) -> Result<T, StructuredError> {
    let answer = structured::<T>(&route, &request, &output, &control, &mut |_| {}).await?;
    Ok(answer.value)
}

#[cfg(test)]
mod tests;
