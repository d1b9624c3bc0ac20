//! Takes over what instruction files say already, as candidates that wait for review.
//!
//! Every candidate names its file and line and has the text of the file as its evidence. What was imported before, what a memory
//! says already and what a person threw away is left out, so that importing twice adds nothing.

mod claim;
mod known;
mod sources;
mod take;

use std::collections::BTreeSet;

use nacre_api::wire::{
    ImportReport, ImportRequest, ImportSkip, ImportedCandidate, ImportedFile, ReplacedMemory,
    SkippedText,
};
use nacre_core::instructions::{NotTaken, Split, blank_out, split};
use nacre_core::memory::{Claim, Status};
use nacre_core::search::Builtin;
use nacre_engine::flows::change::Reversal;
use nacre_engine::flows::run::RunMode;

use self::known::folded;
use self::sources::{SourceFile, sources};
use self::take::{Taken, Taker};
use crate::error::OpError;
use crate::events::Events;
use crate::host::{Host, ScopedStore};
use crate::operations::memory::{memory_type, warn_redacted};
use crate::operations::recording::CommandChange;

/// More candidates than this nobody reviews in one go.
const MAX_CANDIDATES: usize = 300;

pub fn import(
    host: &Host,
    request: &ImportRequest,
    events: &Events,
) -> Result<ImportReport, OpError> {
    let scoped = host.store_to_write(request.scope)?;
    let root = host.project.as_ref().map(|project| project.path.as_path());
    let files = sources(host, root, request)?;
    let mut report = ImportReport {
        dry_run: request.dry_run,
        files: Vec::new(),
        candidates: Vec::new(),
        skipped: Vec::new(),
        change: None,
    };
    let mut taken = Vec::new();
    let builtin = Builtin::shipped().ok();
    let mut taker = Taker::open(host, &scoped, builtin.as_ref())?;
    for file in &files {
        events.cancel().check()?;
        look_through(file, &mut taker, &mut taken, &mut report);
    }
    warn_of_personal(&scoped, &files, &taken, events);
    let ids = match request.dry_run || taken.is_empty() {
        true => Vec::new(),
        false => {
            let command = CommandChange::new(RunMode::Import, "import");
            let ids = store(host, &scoped, (&taken, &command), events)?;
            report.change = command.id();
            ids
        }
    };
    let ids = ids.into_iter().map(Some).chain(std::iter::repeat(None));
    report.candidates = taken.iter().zip(ids).map(|(taken, id)| candidate(taken, id)).collect();
    Ok(report)
}

/// Adds the candidates, all or none, and returns their ids.
fn store(
    host: &Host,
    scoped: &ScopedStore,
    (taken, command): (&[Taken], &CommandChange<'_>),
    events: &Events,
) -> Result<Vec<String>, OpError> {
    let mut batch = scoped.store.begin(&host.owner("import"), host.settings().lock.wait)?;
    let mut ids = Vec::new();
    for one in taken {
        let id = match &one.replaces {
            Some((older, Status::Candidate)) => {
                batch.replace_candidate(older, &one.draft, host.now())?
            }
            Some(_) | None => batch.add_candidate(&one.draft, host.now())?,
        };
        ids.push(id.to_string());
    }
    let redacted = batch.redactions().clone();
    command.commit(host, scoped, batch, Reversal::Plan)?;
    warn_redacted(events, &redacted);
    Ok(ids)
}

/// Says so where something of one person's would be shared.
fn warn_of_personal(scoped: &ScopedStore, files: &[SourceFile], taken: &[Taken], events: &Events) {
    let is_told = |file: &&SourceFile| {
        file.is_personal && taken.iter().any(|taken| taken.label == file.label)
    };
    let names: Vec<&str> = files.iter().filter(is_told).map(|file| file.label.as_str()).collect();
    if scoped.store.scope().is_private() || names.is_empty() {
        return;
    }
    let message = format!("Yours alone until now: {}", names.join(", "));
    let hint = "What you accept is shared with the project; to keep it to yourself: nacre import PATH --scope global_only";
    events.warning(message, Some(hint));
}

/// Looks at every statement of a file.
fn look_through(
    file: &SourceFile,
    taker: &mut Taker<'_>,
    taken: &mut Vec<Taken>,
    report: &mut ImportReport,
) {
    let text = match &file.text {
        Ok(text) => text,
        Err(fault) => {
            let (file, skipped) = (file.label.clone(), Some(*fault));
            report.files.push(ImportedFile { file, found: 0, added: 0, skipped });
            return;
        }
    };
    let mut skip = |line: usize, reason: ImportSkip, text: &str, known: Option<String>| {
        let (file, text) = (file.label.clone(), taker.store().redacted(text));
        report.skipped.push(SkippedText { file, line, reason, text, known });
    };
    let (text, own_blocks) = blank_out(text);
    own_blocks.into_iter().for_each(|line| skip(line, ImportSkip::OwnBlock, "", None));
    let Split { statements, left_out } = split(&text);
    for left in &left_out {
        let reason = match left.reason {
            NotTaken::TooLong => ImportSkip::TooLong,
            NotTaken::NotAStatement => ImportSkip::NotAStatement,
        };
        skip(left.line, reason, &left.text, None);
    }
    let quotes: BTreeSet<String> =
        statements.iter().map(|one| folded(&taker.cleaned(&one.quote))).collect();
    let before = taken.len();
    for statement in &statements {
        if MAX_CANDIDATES <= taken.len() {
            // Each look costs as much as for a candidate, and nobody reads what it says.
            let (file, text) = (file.label.clone(), String::new());
            let (line, reason) = (statement.line, ImportSkip::OverLimit);
            report.skipped.push(SkippedText { file, line, reason, text, known: None });
            continue;
        }
        match taker.take(file, statement, &quotes) {
            Ok(one) => taken.push(one),
            Err((reason, known)) => {
                let known = known.map(|id| id.to_string());
                let (file, text) = (file.label.clone(), taker.store().redacted(&statement.title));
                let line = statement.line;
                report.skipped.push(SkippedText { file, line, reason, text, known });
            }
        }
    }
    let (found, added) = (statements.len(), taken.len() - before);
    report.files.push(ImportedFile { file: file.label.clone(), found, added, skipped: None });
}

fn candidate(taken: &Taken, id: Option<String>) -> ImportedCandidate {
    let kind = match taken.draft.claim {
        Claim::Decision => None,
        Claim::Learning(kind) => Some(kind.as_str().to_owned()),
    };
    let replaces = taken.replaces.as_ref().map(|(older, status)| ReplacedMemory {
        id: older.to_string(),
        done: *status == Status::Candidate,
    });
    ImportedCandidate {
        id,
        title: taken.draft.title.clone(),
        r#type: memory_type(taken.draft.claim.memory_type()),
        kind,
        file: taken.label.clone(),
        line: taken.line,
        replaces,
    }
}
