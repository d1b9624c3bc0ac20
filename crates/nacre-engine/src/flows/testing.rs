//! Models that follow a script, with a state in a temporary home, for tests of flows.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use nacre_core::safefs::{Access, Owner, WriteScope};

use super::models::{AskRules, FlowModels, ModelClient, ProjectModels, SpendingLimits};
use crate::model::{
    Amount, AsyncRuntime, Cost, Limits, ModelRef, ModelSettings, Models, RetryPolicy, RoleSettings,
    Scripted,
};
use crate::record::state::{SpentOn, State, StateError};

/// A million tokens and a dollar.
pub(super) fn plenty() -> Amount {
    Amount { tokens: 1_000_000, cost: Cost::from_nano_dollars(1_000_000_000) }
}

/// Plenty of everything.
pub(super) fn no_limits() -> SpendingLimits {
    SpendingLimits { session: plenty(), day: plenty(), project: plenty() }
}

pub(super) fn state(home: &tempfile::TempDir) -> State {
    let scope = WriteScope::open(&home.path().canonicalize().unwrap(), Access::Private).unwrap();
    let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
    State::open(&scope, &owner, Duration::from_secs(1)).unwrap()
}

/// Models, and the rules of the one project of a test.
pub(super) struct TestFlow {
    models: FlowModels,
    rules: AskRules,
}

impl TestFlow {
    pub(super) fn project(&self) -> ProjectModels<'_> {
        ProjectModels { flow: &self.models, rules: &self.rules }
    }

    pub(super) fn asker(&self, on: SpentOn, now: Timestamp) -> Result<ModelClient<'_>, StateError> {
        self.project().asker(on, now)
    }
}

pub(super) fn flow(home: &tempfile::TempDir, script: &str, spending: SpendingLimits) -> TestFlow {
    flow_with(home, script, spending, RoleSettings::of_model(ModelRef::scripted()))
}

pub(super) fn flow_with(
    home: &tempfile::TempDir,
    script: &str,
    spending: SpendingLimits,
    role: RoleSettings,
) -> TestFlow {
    let models = Models::new(ModelSettings {
        default: Some(role),
        script: Some(Arc::new(Scripted::parse(script).unwrap())),
        ..ModelSettings::default()
    });
    let patience = (RetryPolicy::default(), Limits::default(), 1);
    let runtime = AsyncRuntime::new().unwrap();
    let models = FlowModels::new(models, state(home), runtime, patience);
    TestFlow { models, rules: AskRules { spending, agent_sessions: 20, words: Arc::default() } }
}
