//! `nacre import`

use std::collections::BTreeMap;

use clap::Args;
use nacre_api::wire::{
    FileFault, ImportReport, ImportRequest, ImportSkip, ImportedCandidate, ImportedFile,
};
use nacre_ops::text::ShownLine;
use nacre_ops::{Host, OpError, import as ops};

use super::exit::Exit;
use super::memory::{ScopeArg, print_undo};
use super::ui::{Role, Ui};

/// Candidates that are named; `nacre review` shows all.
const MAX_NAMED: usize = 20;

/// Take over what CLAUDE.md, AGENTS.md and other rules say
///
/// Reads AGENTS.md, CLAUDE.md, CLAUDE.local.md, GEMINI.md, .cursorrules, .cursor/rules,
/// .github/copilot-instructions.md and what Claude Code remembers of the project. Every statement
/// becomes a candidate with its file, line and text, and waits in `nacre review`: nothing holds before
/// you accept it. What is known already is left out, so that importing twice adds nothing; a line that
/// changed gives a new candidate in the place of the old one. The files stay as they are.
///
///   nacre import                      the usual files of the project
///   nacre import --dry-run            what would be taken over
///   nacre import docs/rules.md        this file; a folder gives its Markdown files
///
/// Sessions come by `nacre sync`, transcripts of other programs by `nacre trace import`.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ImportArgs {
    /// Files and folders [default: the usual files of the project]
    paths: Vec<String>,
    /// Show what would be taken over, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    scope: ScopeArg,
}

pub(crate) fn cmd_import(ui: &mut Ui, host: &Host, args: &ImportArgs) -> Result<Exit, OpError> {
    let ImportArgs { paths, dry_run, scope } = args;
    let request = ImportRequest { paths: paths.clone(), scope: scope.mode(), dry_run: *dry_run };
    let report = ops(host, &request, &ui.events())?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &ImportReport) -> Result<(), OpError> {
    if report.files.is_empty() {
        ui.status("There are no instruction files here.")?;
        ui.hint("Name one: nacre import PATH");
        return Ok(());
    }
    let rows: Vec<_> = report.candidates.iter().take(MAX_NAMED).map(row).collect();
    ui.table(&rows)?;
    let n_more = report.candidates.len().saturating_sub(MAX_NAMED);
    if n_more > 0 {
        ui.status(format!("… {n_more} more"))?;
    }
    for file in &report.files {
        ui.status(format!("{}: {}", ShownLine(&file.file), of_file(file)))?;
    }
    if !report.skipped.is_empty() {
        ui.status(format!("Left out: {}", left_out(report)))?;
    }
    ui.status(outcome(report))?;
    print_undo(ui, report.change.as_deref())?;
    let changed = report.candidates.iter().filter_map(|candidate| {
        let older = candidate.replaces.as_ref().filter(|older| !older.done)?;
        Some(format!("nacre review accept {} --supersedes {}", candidate.id.as_ref()?, older.id))
    });
    for command in changed.take(MAX_NAMED) {
        ui.hint(&format!("Its line changed: {command}"));
    }
    Ok(())
}

fn row(candidate: &ImportedCandidate) -> Vec<(Role, String)> {
    let place = format!("{}:{}", candidate.file, candidate.line);
    let kind = candidate.kind.as_deref().unwrap_or(candidate.r#type.as_str());
    vec![
        (Role::Faint, ShownLine(&place).to_string()),
        (Role::Faint, kind.to_owned()),
        (Role::Title, ShownLine(&candidate.title).to_string()),
    ]
}

fn of_file(file: &ImportedFile) -> String {
    match file.skipped {
        None => format!("{} found, {} new", file.found, file.added),
        Some(FileFault::NotPlain) => "not read: a link, or not a file".to_owned(),
        Some(FileFault::TooLarge) => "not read: larger than 256 KiB".to_owned(),
        Some(FileFault::NotText) => "not read: not valid UTF-8".to_owned(),
        Some(FileFault::Unreadable) => "not read: it cannot be opened".to_owned(),
        Some(FileFault::OverLimit) => "not read: too many files at once".to_owned(),
    }
}

/// How many texts were left out for each reason.
fn left_out(report: &ImportReport) -> String {
    let mut counts: BTreeMap<ImportSkip, usize> = BTreeMap::new();
    report.skipped.iter().for_each(|text| *counts.entry(text.reason).or_default() += 1);
    let named = counts.iter().map(|(reason, count)| {
        let why = match reason {
            ImportSkip::Imported => "imported before",
            ImportSkip::Known => "known already",
            ImportSkip::Rejected => "thrown away before",
            ImportSkip::Repeated => "said twice",
            ImportSkip::TooLong => "too long",
            ImportSkip::NotAStatement => "not a statement",
            ImportSkip::OwnBlock => "written by `nacre export`",
            ImportSkip::Secret => "with a secret",
            ImportSkip::OverLimit => "beyond 300 at once; import the rest by path",
        };
        format!("{count} {why}")
    });
    named.collect::<Vec<_>>().join(", ")
}

fn outcome(report: &ImportReport) -> String {
    match (report.candidates.len(), report.dry_run) {
        (0, _) => "Nothing new.".to_owned(),
        (1, true) => "1 candidate would wait for review; nothing was written.".to_owned(),
        (n, true) => format!("{n} candidates would wait for review; nothing was written."),
        (1, false) => "1 candidate waits for you: nacre review".to_owned(),
        (n, false) => format!("{n} candidates wait for you: nacre review"),
    }
}
