//! `nacre brief`

use clap::Args;
use nacre_api::wire::{BriefReport, BriefRequest};
use nacre_ops::{Host, OpError, brief as ops};

use super::exit::Exit;
use super::memory::ScopeArg;
use super::ui::Ui;

/// What fits beside a question without pushing it aside.
const DEFAULT_BUDGET: usize = 2000;

/// Memories that a warning names.
const MAX_NAMED: usize = 3;

/// Tell what an agent should know before it starts
///
/// Decisions that hold, preferences, pitfalls, recent work and what it left open, best first and each
/// with its id. With --task and --file what fits them comes first. The text never counts more tokens
/// than the budget, and is the same for the same memories. No model is asked. What was archived,
/// overturned or redacted is not in it, nor what only a tool said, nor what has no evidence and was not
/// written on this machine.
#[derive(Debug, Args)]
pub(crate) struct BriefArgs {
    /// At most this many tokens; counted so that no model counts more
    #[arg(long, value_name = "TOKENS", default_value_t = DEFAULT_BUDGET)]
    budget: usize,
    /// What is to be done, in words
    #[arg(value_name = "TASK", conflicts_with = "task")]
    words: Vec<String>,
    /// The same, for scripts
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// A file that it is about; may be given more than once
    #[arg(long, value_name = "PATH")]
    file: Vec<String>,
    #[command(flatten)]
    scope: ScopeArg,
}

pub(crate) fn cmd_brief(ui: &mut Ui, host: &Host, args: &BriefArgs) -> Result<Exit, OpError> {
    let BriefArgs { budget, words, task, file, scope } = args;
    let words = Some(words.join(" ")).filter(|words| !words.is_empty());
    let request = BriefRequest {
        budget: Some(*budget),
        task: task.clone().or(words),
        files: file.clone(),
        scope: scope.mode(),
    };
    let report = ops::brief(host, &request)?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &BriefReport) -> Result<(), OpError> {
    if let Some(note) = unproven_note(&report.unproven) {
        ui.warning(note, Some("See them and decide: nacre trust. To trust a whole repository: nacre config set safe.memories PATH"));
    }
    match report.broken.as_slice() {
        [] => {}
        [one] => ui.warning(format!("{one} could not be read"), Some("nacre doctor")),
        [first, rest @ ..] => ui.warning(
            format!("{first} and {} more files could not be read", rest.len()),
            Some("nacre doctor"),
        ),
    }
    print_text(ui, report)?;
    match report.candidates {
        0 => {}
        1 => ui.hint("1 candidate waits and is not in it: nacre review"),
        n => ui.hint(&format!("{n} candidates wait and are not in it: nacre review")),
    }
    Ok(())
}

/// Whether there is more than what came from elsewhere, of which the first few are named.
fn has_no_room(report: &BriefReport) -> bool {
    const MAX_NAMED: usize = 50;
    report.left_out > report.unproven.len() && report.unproven.len() < MAX_NAMED
}

fn print_text(ui: &mut Ui, report: &BriefReport) -> Result<(), OpError> {
    match report.text.as_str() {
        "" if has_no_room(report) => {
            ui.status(format!("A budget of {} has no room for a memory.", report.budget))
        }
        "" if !report.unproven.is_empty() || report.candidates > 0 => {
            ui.status("There is nothing to tell.")
        }
        "" => ui.status("Nothing is remembered yet."),
        text => ui.text(text),
    }
}

/// Which memories are not told because they came from elsewhere.
pub(crate) fn unproven_note(ids: &[String]) -> Option<String> {
    let named: Vec<&str> = ids.iter().take(MAX_NAMED).map(String::as_str).collect();
    let more = match ids.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        n_more => format!(" and {n_more} more"),
    };
    let note = format!("Left out, because it came from elsewhere: {}{more}", named.join(", "));
    (!named.is_empty()).then_some(note)
}
