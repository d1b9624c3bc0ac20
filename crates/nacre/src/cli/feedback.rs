//! `nacre feedback`

use nacre_types::{FeedbackReport, FeedbackRequest, Verdict};

use super::prelude::*;
use super::render::print_undo;

/// Rate a memory
///
/// `useful` raises its confidence; `wrong` and `outdated` lower it. A wrong memory is archived at
/// once: it is left out of briefs, answers and searches until you rate it useful, and later
/// sessions do not add it again. An outdated memory returns when a session states it again.
#[derive(Debug, Args)]
pub(crate) struct FeedbackArgs {
    /// The memory's id
    id: String,
    /// The rating
    #[arg(value_parser = one_of::<Verdict>(Verdict::NAMES))]
    verdict: Verdict,
    /// The reason, in one sentence; stored only on this machine
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    #[command(flatten)]
    scope: ScopeArg,
}

pub(crate) fn cmd_feedback(ui: &mut Ui, host: &Host, args: FeedbackArgs) -> CommandResult {
    let FeedbackArgs { id, verdict, note, scope } = args;
    let request = FeedbackRequest { id, verdict, note, scope: scope.mode() };
    let report = nacre_ops::feedback(host, &request, &ui.events())?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &FeedbackReport) {
    let (id, verdict) = (ui.paint(Role::Id, &report.id), report.verdict.as_str());
    let (before, after) = (report.confidence_before, report.confidence);
    ui.status(format!("{id} is {verdict}: confidence {before} to {after}"));
    if report.verdict == Verdict::Wrong {
        let again = format!("nacre feedback {} useful", report.id);
        ui.status(format!("The memory is archived and no longer used; restore it: {again}"));
    }
    print_undo(ui, report.change.as_deref());
}
