//! `nacre brief`

use nacre_ops::brief as ops;
use nacre_types::{BriefReport, BriefRequest};

use super::prelude::*;
use super::render::first_few;

/// Small enough to leave room for the task in a context window.
const DEFAULT_BUDGET: usize = 2000;

const MAX_UNPROVEN: usize = 50;

/// Print the briefing an agent gets at the start of a session
///
/// Lists current decisions, preferences, pitfalls, recent work and what it left open, best first
/// and each with its id. With --task and --file, matching memories come first. The text never
/// exceeds the budget, and the same memories give the same text. No model is used. Left out are
/// memories that are archived, superseded or redacted, that only a tool stated, or that have no
/// evidence and were not written on this machine.
#[derive(Debug, Args)]
pub(crate) struct BriefArgs {
    /// Maximum number of tokens, counted conservatively for every model
    #[arg(long, value_name = "TOKENS", default_value_t = DEFAULT_BUDGET)]
    budget: usize,

    /// The task, in words
    #[arg(value_name = "TASK", conflicts_with = "task")]
    words: Vec<String>,

    /// The task as a flag, for scripts
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
    ui.report(&ops::brief(host, &request)?, print)
}

fn print(ui: &mut Ui, report: &BriefReport) {
    if let Some(note) = note_unproven(&report.unproven) {
        ui.warning(note, Some("See them and decide: nacre trust. To trust a whole repository: nacre config set safe.memories PATH"));
    }
    let broken = match report.broken.as_slice() {
        [] => None,
        [one] => Some(format!("{one} could not be read")),
        [first, rest @ ..] => {
            Some(format!("{first} and {} more files could not be read", rest.len()))
        }
    };
    if let Some(broken) = broken {
        ui.warning(broken, Some("nacre doctor"));
    }
    print_text(ui, report);
    match report.candidates {
        0 => {}
        1 => ui.hint("1 candidate waits and is not in it: nacre review"),
        n => ui.hint(&format!("{n} candidates wait and are not in it: nacre review")),
    }
}

fn print_text(ui: &mut Ui, report: &BriefReport) {
    let BriefReport { text, unproven, left_out, .. } = report;
    if !text.is_empty() {
        ui.text(text);
    } else if *left_out > unproven.len() && unproven.len() < MAX_UNPROVEN {
        ui.status(format!("A budget of {} has no room for a memory.", report.budget));
    } else if !unproven.is_empty() || report.candidates > 0 {
        ui.status("Nothing to brief.");
    } else {
        ui.status("Nothing is remembered yet.");
    }
}

pub(crate) fn note_unproven(ids: &[String]) -> Option<String> {
    first_few(ids).map(|ids| format!("Left out, because it came from elsewhere: {ids}"))
}
