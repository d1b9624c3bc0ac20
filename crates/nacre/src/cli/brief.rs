//! `nacre brief`

use nacre_ops::brief as ops;
use nacre_ops::connect::lacks_hooks;
use nacre_types::{BriefReport, BriefRequest};

use super::prelude::*;
use super::render::{count, first_few};

/// Leaves room for the task in a context window.
const DEFAULT_BUDGET: usize = 2000;

const MAX_UNPROVEN: usize = 50;

/// Print the briefing an agent gets at the start of a session
///
/// Lists current decisions, preferences, pitfalls, recent work and open items, best first and each
/// with its id. With --task and --file, matching memories come first. The text never exceeds the
/// budget, and the output is deterministic. No model is used. Archived, superseded and redacted
/// memories are left out. So are memories whose only source is a tool, and memories that have no
/// evidence and were not written on this machine.
#[derive(Debug, Args)]
pub(crate) struct BriefArgs {
    /// Maximum number of tokens, as estimated for current models
    #[arg(long, value_name = "TOKENS", default_value_t = DEFAULT_BUDGET)]
    budget: usize,

    /// The task, in words
    #[arg(value_name = "TASK", conflicts_with = "task")]
    words: Vec<String>,

    /// The task, as a flag for scripts
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,

    /// A file that the task is about (can be repeated)
    #[arg(long, value_name = "PATH")]
    file: Vec<String>,

    #[command(flatten)]
    scope: ScopeArg,
}

pub(crate) fn cmd_brief(ui: &mut Ui, host: &Host, args: BriefArgs) -> CommandResult {
    let BriefArgs { budget, words, task, file: files, scope } = args;
    let words = Some(words.join(" ")).filter(|words| !words.is_empty());
    let task = task.or(words);
    let request = BriefRequest { budget: Some(budget), task, files, scope: scope.mode() };
    ui.report(&ops::brief(host, &request)?, |ui, report| {
        print(ui, report);
        if ui.is_watched() && lacks_hooks(host) {
            ui.status(format!("\nNext: {}", ui.paint(Role::Title, "nacre connect auto")));
        }
    })
}

fn print(ui: &mut Ui, report: &BriefReport) {
    if let Some(note) = note_unproven(&report.unproven) {
        ui.warning(
            note,
            Some(
                "Review them: nacre trust. To trust a whole repository: nacre config \
         set safe.memories PATH",
            ),
        );
    }
    if let Some(files) = first_few(&report.broken) {
        ui.warning(format!("{files} could not be read"), Some("nacre doctor"));
    }
    let BriefReport { text, unproven, left_out, .. } = report;
    if !text.is_empty() {
        ui.text(text);
    } else if *left_out > unproven.len() && unproven.len() < MAX_UNPROVEN {
        ui.status(format!("A budget of {} is too small for any memory.", report.budget));
    } else if !unproven.is_empty() || report.candidates > 0 {
        ui.status("Nothing to brief.");
    } else {
        ui.status("No memories yet.");
    }
    if report.candidates > 0 {
        let candidates = count(report.candidates, "candidate");
        ui.hint(&format!("{candidates} to review, not included: nacre review"));
    }
}

pub(crate) fn note_unproven(ids: &[String]) -> Option<String> {
    first_few(ids).map(|ids| format!("Left out, because they are untrusted: {ids}"))
}
