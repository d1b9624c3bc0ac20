//! `nacre export`

use clap::Args;
use nacre_api::wire::{ExportReport, ExportRequest, ExportState};
use nacre_ops::text::ShownLine;
use nacre_ops::{Host, OpError, export as ops};

use super::brief::unproven_note;
use super::exit::Exit;
use super::memory::print_undo;
use super::ui::Ui;

/// What every session of every agent may pay.
const DEFAULT_BUDGET: usize = 1500;

/// Keep decisions and conventions in AGENTS.md or CLAUDE.md
///
/// Writes a marked block with the project's decisions, preferences and conventions into the file
/// that agents read anyway, and brings it up to date when it is there. Every byte outside the block
/// stays. The block changes only when the memories do. A change that somebody made inside the block is
/// not written over without --force. Only what a brief would tell is in it; see `nacre brief --help`.
/// Memories that you keep for all projects are not: others read the file.
///
///   nacre export --agents-md                    write it, or bring it up to date
///   nacre export --agents-md --dry-run          show what would change
///   nacre export --agents-md --file CLAUDE.md   this file of the project
///   nacre export --agents-md --remove           the file as it was before
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ExportArgs {
    /// As a block in an instruction file; that is what it does without the flag, too
    #[arg(long)]
    agents_md: bool,
    /// The file, below the project [default: AGENTS.md or CLAUDE.md, whichever is there]
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// At most this many tokens, marks included; counted so that no model counts more
    #[arg(long, value_name = "TOKENS", default_value_t = DEFAULT_BUDGET)]
    budget: usize,
    /// Take the block out, and leave the file as it was before
    #[arg(long)]
    remove: bool,
    /// Write also over what somebody changed inside the block
    #[arg(long)]
    force: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn cmd_export(ui: &mut Ui, host: &Host, args: &ExportArgs) -> Result<Exit, OpError> {
    let ExportArgs { agents_md: _, file, budget, remove, force, dry_run } = args;
    let request = ExportRequest {
        file: file.clone(),
        budget: Some(*budget),
        remove: *remove,
        force: *force,
        dry_run: *dry_run,
    };
    let report = ops(host, &request)?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &ExportReport) -> Result<(), OpError> {
    if let Some(note) = unproven_note(&report.unproven) {
        ui.warning(note, Some("See them and decide: nacre trust"));
    }
    if report.dry_run {
        ui.text(&report.diff)?;
        if report.edited && !report.diff.is_empty() {
            let message = "Somebody changed the text inside the block; this would write over it";
            ui.warning(message, None);
        }
    }
    ui.status(outcome(report))?;
    print_undo(ui, report.change.as_deref())?;
    match (report.state, report.left_out - report.unproven.len().min(report.left_out)) {
        (ExportState::Removed | ExportState::Absent, _) | (_, 0) => {}
        (_, n_more) => {
            ui.hint(&format!("{n_more} more did not fit: --budget {}", report.budget * 2));
        }
    }
    Ok(())
}

fn outcome(report: &ExportReport) -> String {
    let file = ShownLine(&report.file);
    let memories = match report.memories.len() {
        1 => "1 memory".to_owned(),
        n_memories => format!("{n_memories} memories"),
    };
    let size = format!("{} of {} tokens", report.tokens, report.budget);
    match (report.state, report.dry_run) {
        (ExportState::Unchanged, _) => format!("{file} is up to date: {memories}, {size}."),
        (ExportState::Absent, _) => {
            format!("There is no block in {file}, and nothing to write into one.")
        }
        (ExportState::Added | ExportState::Updated, true) => {
            format!("{file} would hold {memories}, {size}; nothing was written.")
        }
        (ExportState::Removed, true) => {
            format!("The block would be taken out of {file}; nothing was written.")
        }
        (ExportState::Added, false) => format!("Wrote {memories} into {file}, {size}."),
        (ExportState::Updated, false) => format!("Updated {file}: {memories}, {size}."),
        (ExportState::Removed, false) => {
            format!("Took the block out of {file}; the rest is as it was.")
        }
    }
}
