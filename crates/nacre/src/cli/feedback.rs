//! `nacre feedback`

use clap::{Args, ValueEnum};
use nacre_core::memory::Verdict;
use serde_json::json;

use super::exit::Exit;
use super::memory::ScopeArg;
use super::ui::{Role, Ui};
use nacre_ops::Host;
use nacre_ops::OpError;
use nacre_ops::host::Holding;

/// Say how a memory served
///
/// `useful` raises its confidence. `wrong` and `outdated` lower it; what is wrong is not brought back by a later session,
/// what is outdated is, should it be said again.
#[derive(Debug, Args)]
pub(crate) struct FeedbackArgs {
    /// The memory's id
    id: String,
    /// How it served
    verdict: VerdictName,
    /// Why, in a sentence; kept on this machine
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    #[command(flatten)]
    scope: ScopeArg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum VerdictName {
    Useful,
    Wrong,
    Outdated,
}

impl From<VerdictName> for Verdict {
    fn from(name: VerdictName) -> Self {
        match name {
            VerdictName::Useful => Self::Useful,
            VerdictName::Wrong => Self::Wrong,
            VerdictName::Outdated => Self::Outdated,
        }
    }
}

pub(crate) fn cmd_feedback(ui: &mut Ui, host: &Host, args: &FeedbackArgs) -> Result<Exit, OpError> {
    let FeedbackArgs { id, verdict, note, scope } = args;
    let Holding { scoped, also_in } = host.store_of(&ui.events(), scope.mode(), id)?;
    let mut batch = scoped.store.begin(&host.owner("feedback"), host.settings().lock.wait)?;
    let verdict = Verdict::from(*verdict);
    let (id, before, after) = batch.judge(id, verdict, note.as_deref(), host.now())?;
    batch.commit()?;
    if ui.is_json() {
        ui.json(&json!({
            "id": id, "verdict": verdict.as_str(), "confidence_before": before, "confidence": after,
            "scope": scoped.scope.as_str(), "also_in": also_in,
        }))?;
        return Ok(Exit::Done);
    }
    let id = ui.paint(Role::Id, &id);
    ui.status(format!("{id} is {}: confidence {before} to {after}", verdict.as_str()))?;
    Ok(Exit::Done)
}
