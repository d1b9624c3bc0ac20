//! What the host does by itself after a call changed files.
//!
//! The effects themselves are another folder's; the pipeline only knows when they are due and where their words go.
//! They run before the call counts as finished, so that a later call on the same files sees what they left.

use std::pin::Pin;
use std::time::Duration;

use super::super::tool::ToolContext;
use crate::record::Change;
use crate::record::EffectOutcome;

/// Runs the effects of an agent.
pub trait EffectRunner: Send + Sync {
    /// Whether a program would be run for these files, so that others are looked at before and after it.
    fn starts_programs(&self, changed: &[Change], ctx: &ToolContext) -> bool;

    /// Looks after files that a call changed. It bounds itself in time, and never fails the call.
    fn after<'a>(&'a self, changed: &'a [Change], ctx: &'a ToolContext) -> EffectRun<'a>;
}

/// Effects under way.
pub type EffectRun<'a> = Pin<Box<dyn Future<Output = EffectReport> + Send + 'a>>;

/// What the effects of one call did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EffectReport {
    /// What the model should know, such as what a linter said; empty when there is nothing.
    pub text: String,
    /// Files that the effects changed besides.
    pub changed: Vec<Change>,
    pub done: Vec<EffectDone>,
}

/// One effect that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EffectDone {
    pub effect: &'static str,
    pub outcome: EffectOutcome,
    pub took: Duration,
}
