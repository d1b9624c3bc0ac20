//! `nacre export`

use nacre_ops::export as ops;
use nacre_types::{ExportReport, ExportRequest, ExportState};

use super::brief::note_unproven;
use super::prelude::*;
use super::render::{memories_text, print_undo};

/// Small, because every agent session spends these tokens.
const DEFAULT_BUDGET: usize = 1500;

/// Write decisions and conventions to AGENTS.md or CLAUDE.md
///
/// Writes or updates a marked block with the project's decisions, preferences and conventions in
/// the instruction file that agents read. Nothing outside the block is changed, and the block
/// changes only when the memories do. Edits inside the block are not overwritten without --force.
/// The block contains only memories that a brief would contain; see `nacre brief --help`. Your
/// global memories are left out, because other people read the file.
///
///   nacre export --agents-md                    write or update the block
///   nacre export --agents-md --dry-run          show what would change
///   nacre export --agents-md --file CLAUDE.md   use this file instead
///   nacre export --agents-md --remove           remove the block
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ExportArgs {
    /// Write a block to an instruction file (the default)
    #[arg(long)]
    agents_md: bool,
    /// The file, relative to the project [default: AGENTS.md or CLAUDE.md, whichever exists]
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// Maximum number of tokens including the markers, as estimated for current models
    #[arg(long, value_name = "TOKENS", default_value_t = DEFAULT_BUDGET)]
    budget: usize,
    /// Remove the block and restore the file
    #[arg(long)]
    remove: bool,
    /// Overwrite edits inside the block
    #[arg(long)]
    force: bool,
    /// Show what would change without changing anything
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn cmd_export(ui: &mut Ui, host: &Host, args: ExportArgs) -> CommandResult {
    let ExportArgs { agents_md: _, file, budget, remove, force, dry_run } = args;
    let request = ExportRequest { file, budget: Some(budget), remove, force, dry_run };
    ui.report(&ops(host, &request)?, print)
}

fn print(ui: &mut Ui, report: &ExportReport) {
    if let Some(note) = note_unproven(&report.unproven) {
        ui.warning(note, Some("Review them: nacre trust"));
    }
    if report.dry_run {
        ui.text(&report.diff);
        if report.edited && !report.diff.is_empty() {
            let message = "The text inside the block was edited; this would overwrite it";
            ui.warning(message, None);
        }
    }
    ui.status(outcome(report));
    print_undo(ui, report.change.as_deref());
    let n_more = report.left_out.saturating_sub(report.unproven.len());
    let has_block = !matches!(report.state, ExportState::Removed | ExportState::Absent);
    if has_block && n_more > 0 {
        ui.hint(&format!("{n_more} more did not fit; use --budget {}", report.budget * 2));
    }
}

fn outcome(report: &ExportReport) -> String {
    let file = ShownLine(&report.file);
    let memories = memories_text(report.memories.len());
    let size = format!("{} of {} tokens", report.tokens, report.budget);
    match (report.state, report.dry_run) {
        (ExportState::Unchanged, _) => format!("{file} is up to date: {memories}, {size}."),
        (ExportState::Absent, _) => {
            format!("{file} has no block, and there is nothing to write.")
        }
        (ExportState::Added | ExportState::Updated, true) => {
            format!("{file} would contain {memories}, {size}; nothing was written.")
        }
        (ExportState::Removed, true) => {
            format!("The block would be removed from {file}; nothing was written.")
        }
        (ExportState::Added, false) => format!("Wrote {memories} to {file}, {size}."),
        (ExportState::Updated, false) => format!("Updated {file}: {memories}, {size}."),
        (ExportState::Removed, false) => {
            format!("Removed the block from {file}; the rest is unchanged.")
        }
    }
}
