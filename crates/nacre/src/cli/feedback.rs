//! `nacre feedback`

use clap::{Args, ValueEnum};
use nacre_api::wire::{FeedbackRequest, Verdict};
use nacre_ops::{Host, OpError};

use super::exit::Exit;
use super::memory::{ScopeArg, print_undo};
use super::ui::{Role, Ui};

/// Say how a memory served
///
/// `useful` raises its confidence; `wrong` and `outdated` lower it. What is wrong is put away at once: it is in no brief, answer
/// or search until you say that it is useful, and no later session brings it back. What is outdated comes back when it is
/// said again.
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
    let request = FeedbackRequest {
        id: id.clone(),
        verdict: (*verdict).into(),
        note: note.clone(),
        scope: scope.mode(),
    };
    let report = nacre_ops::feedback(host, &request, &ui.events())?;
    ui.report(&report, |ui, report| {
        let (id, verdict) = (ui.paint(Role::Id, &report.id), report.verdict.as_str());
        let (before, after) = (report.confidence_before, report.confidence);
        ui.status(format!("{id} is {verdict}: confidence {before} to {after}"))?;
        match report.verdict {
            Verdict::Wrong => {
                let again = format!("nacre feedback {} useful", report.id);
                ui.status(format!("It is archived and no longer offered; put it back: {again}"))?;
            }
            Verdict::Useful | Verdict::Outdated => {}
        }
        print_undo(ui, report.change.as_deref())
    })
}
