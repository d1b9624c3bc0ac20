//! `nacre import`

use std::collections::BTreeMap;

use nacre_ops::import as ops;
use nacre_types::{FileFault, ImportReport, ImportRequest, ImportSkip, ImportedFile};

use super::prelude::*;
use super::render::print_undo;

/// Maximum number of candidates to list. `nacre review` shows them all.
const MAX_NAMED: usize = 20;

/// Import rules from CLAUDE.md, AGENTS.md and similar files
///
/// Reads AGENTS.md, CLAUDE.md, CLAUDE.local.md, GEMINI.md, .cursorrules, .cursor/rules,
/// .github/copilot-instructions.md and Claude Code's memory of the project. Every statement becomes
/// a candidate with its file, line and text; candidates are not used until you accept them with
/// `nacre review`. Known statements are skipped, so importing twice adds nothing; a changed line
/// becomes a new candidate that supersedes the old one. The files are not changed.
///
///   nacre import                      import the project's instruction files
///   nacre import --dry-run            show what would be imported
///   nacre import docs/rules.md        import this file, or the Markdown files of a directory
///
/// `nacre sync` reads sessions, and `nacre trace import` reads transcripts from other programs.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ImportArgs {
    /// Files and directories [default: the project's instruction files]
    paths: Vec<String>,
    /// Show what would be imported without changing anything
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    scope: ScopeArg,
}

pub(crate) fn cmd_import(ui: &mut Ui, host: &Host, args: ImportArgs) -> CommandResult {
    let ImportArgs { paths, dry_run, scope } = args;
    let request = ImportRequest { paths, scope: scope.mode(), dry_run };
    let report = ops(host, &request, &ui.events())?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &ImportReport) {
    if report.files.is_empty() {
        ui.status("No instruction files found.");
        return ui.hint("Specify a file: nacre import PATH");
    }
    ui.table(report.candidates.iter().take(MAX_NAMED).map(|candidate| {
        let place = format!("{}:{}", candidate.file, candidate.line);
        let kind = candidate.kind.as_deref().unwrap_or(candidate.r#type.as_str());
        [faint(place), faint(kind), title(&candidate.title)]
    }));
    let n_more = report.candidates.len().saturating_sub(MAX_NAMED);
    if n_more > 0 {
        ui.status(format!("… {n_more} more"));
    }
    for file in &report.files {
        ui.status(format!("{}: {}", ShownLine(&file.file), file_text(file)));
    }
    if !report.skipped.is_empty() {
        ui.status(format!("Left out: {}", left_out(report)));
    }
    ui.status(match (report.candidates.len(), report.dry_run) {
        (0, _) => "Nothing new.".to_owned(),
        (1, true) => "1 candidate would be added; nothing was written.".to_owned(),
        (n, true) => format!("{n} candidates would be added; nothing was written."),
        (1, false) => "Added 1 candidate. Review it: nacre review".to_owned(),
        (n, false) => format!("Added {n} candidates. Review them: nacre review"),
    });
    print_undo(ui, report.change.as_deref());
    let changed = report.candidates.iter().filter_map(|candidate| {
        let older = candidate.replaces.as_ref().filter(|older| !older.done)?;
        Some(format!("nacre review accept {} --supersedes {}", candidate.id.as_ref()?, older.id))
    });
    for command in changed.take(MAX_NAMED) {
        ui.hint(&format!("The source line changed: {command}"));
    }
}

fn file_text(file: &ImportedFile) -> String {
    let why = match file.skipped {
        None => return format!("{} found, {} new", file.found, file.added),
        Some(FileFault::NotPlain) => "not a regular file",
        Some(FileFault::TooLarge) => "larger than 256 KiB",
        Some(FileFault::NotText) => "not valid UTF-8",
        Some(FileFault::Unreadable) => "could not be opened",
        Some(FileFault::OverLimit) => "too many files",
    };
    format!("not read: {why}")
}

fn left_out(report: &ImportReport) -> String {
    let mut counts: BTreeMap<ImportSkip, usize> = BTreeMap::new();
    report.skipped.iter().for_each(|text| *counts.entry(text.reason).or_default() += 1);
    let named = counts.iter().map(|(reason, count)| {
        let why = match reason {
            ImportSkip::Imported => "imported before",
            ImportSkip::Known => "already known",
            ImportSkip::Rejected => "rejected before",
            ImportSkip::Repeated => "duplicate",
            ImportSkip::TooLong => "too long",
            ImportSkip::NotAStatement => "not a statement",
            ImportSkip::OwnBlock => "written by `nacre export`",
            ImportSkip::Secret => "with a secret",
            ImportSkip::OverLimit => "over the limit of 300; import the others by path",
        };
        format!("{count} {why}")
    });
    named.collect::<Vec<_>>().join(", ")
}
