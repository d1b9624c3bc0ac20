//! Memories as they are printed: one shape for lists, search and show.

use std::fmt::Display;

use nacre_api::wire::{
    BrokenFile, MemoryChange, MemoryChangeReport, MemoryChangesReport, MemoryEntry, StoreScope,
    TrustLevel,
};
use nacre_ops::OpError;
use nacre_ops::text::Shown;

use super::super::exit::Exit;
use super::super::layout::KEPT;
use super::super::ui::{Role, Row, Ui};
use super::copies::print_copies;

/// More warnings than this say nothing new.
const MAX_WARNINGS: usize = 20;

/// Claims that one line names.
const MAX_CLAIMS: usize = 3;

/// Prints memories as a table. A person gets the title first and the id as short as it can be typed; a program the full id.
pub(super) fn print_memory_rows(ui: &mut Ui, memories: &[MemoryEntry]) -> Result<(), OpError> {
    let rows: Vec<Row> = memories.iter().map(|memory| row(ui, memory)).collect();
    if ui.is_watched() { ui.table_around(&rows, 0) } else { ui.table(&rows) }
}

/// Prints one memory as such a row.
pub(crate) fn print_memory_row(ui: &mut Ui, memory: &MemoryEntry) -> Result<(), OpError> {
    print_memory_rows(ui, std::slice::from_ref(memory))
}

fn row(ui: &Ui, memory: &MemoryEntry) -> Row {
    let what = memory.kind.as_deref().unwrap_or_else(|| memory.r#type.as_str());
    let mut notes = Vec::new();
    if memory.status != "active" {
        notes.push(memory.status.as_str());
    }
    if memory.scope == StoreScope::Global {
        notes.push("global");
    }
    notes.extend(memory.trust.map(TrustLevel::as_str));
    let note = if notes.is_empty() { String::new() } else { format!("  ({})", notes.join(", ")) };
    let mark = if ui.is_watched() { KEPT.to_string() } else { String::new() };
    let title = (Role::Title, format!("{}{mark}{note}", Shown(&memory.title).one_line()));
    let what = (Role::Faint, what.to_owned());
    let id = (Role::Id, ui.short_id(&memory.id).to_owned());
    if !ui.is_watched() {
        return vec![id, what, title];
    }
    let updated = memory.updated.as_deref().map(|time| ui.when(time)).unwrap_or_default();
    vec![title, what, (Role::Faint, updated), id]
}

/// Where words were said, and when, where that is known.
pub(crate) fn quote_place(ui: &Ui, place: &str, at: &str) -> String {
    if at.is_empty() { place.to_owned() } else { format!("{place}, {}", ui.when(at)) }
}

/// What a memory overturned by nothing but its own claim, in one line; `None` where there is nothing.
pub(crate) fn not_verified(ids: &[impl Display]) -> Option<String> {
    let named: Vec<String> = ids.iter().take(MAX_CLAIMS).map(ToString::to_string).collect();
    let more = match ids.len().saturating_sub(MAX_CLAIMS) {
        0 => String::new(),
        n_more => format!(" and {n_more} more"),
    };
    (!ids.is_empty()).then(|| format!("supersedes {}{more}; not verified", named.join(", ")))
}

/// Tells of files that could not be read, and where they are broken.
pub(crate) fn warn_broken(ui: &mut Ui, broken: &[BrokenFile]) {
    for file in broken.iter().take(MAX_WARNINGS) {
        let line = file.line.map_or_else(String::new, |line| format!(":{line}"));
        let place = format!("{}{line}", file.path);
        ui.warning(
            format!("Skipped {}: {}", Shown(&place).one_line(), Shown(&file.message).one_line()),
            None,
        );
    }
    if broken.len() > MAX_WARNINGS {
        ui.warning(format!("{} more files are broken", broken.len() - MAX_WARNINGS), None);
    }
    if !broken.is_empty() {
        ui.hint("`nacre doctor` shows every broken file");
    }
}

/// A number of memories, in words.
pub(crate) fn counted(n: usize) -> String {
    if n == 1 { "1 memory".to_owned() } else { format!("{n} memories") }
}

/// Says how many of a list were not shown.
pub(crate) fn print_more(ui: &mut Ui, n_more: usize) -> Result<(), OpError> {
    match n_more {
        0 => Ok(()),
        _ => ui.status(format!("… {n_more} more; `--limit 0` shows all")),
    }
}

/// Says what was done to a memory.
pub(super) fn print_change(ui: &mut Ui, report: &MemoryChangeReport) -> Result<(), OpError> {
    print_done(ui, report.done, &report.id)?;
    if let Some(path) = &report.path {
        ui.status(Shown(path).one_line())?;
    }
    print_undo(ui, report.change.as_deref())
}

/// Says what takes a change back.
pub(crate) fn print_undo(ui: &mut Ui, change: Option<&str>) -> Result<(), OpError> {
    match change {
        Some(change) => ui.status(format!("Undo: nacre undo {change}")),
        None => Ok(()),
    }
}

/// Says what was done to several memories. Where all of them failed, the first error decides how the command ends.
pub(crate) fn report_changes(ui: &mut Ui, report: &MemoryChangesReport) -> Result<Exit, OpError> {
    let exit = ui.report(report, |ui, report| {
        report.ids.iter().try_for_each(|id| print_done(ui, report.done, id))?;
        print_copies(ui, &report.copies)?;
        // What is forgotten on purpose does not come back.
        let change = report.change.as_deref().filter(|_| report.done != MemoryChange::Forgotten);
        print_undo(ui, change)
    })?;
    match report.failed.first() {
        Some(first) if report.ids.is_empty() => Ok(first.failure.code.into()),
        Some(_) | None => Ok(exit),
    }
}

fn print_done(ui: &mut Ui, done: MemoryChange, id: &str) -> Result<(), OpError> {
    ui.status(format!("{} {}", capitalized(done.as_str()), ui.paint(Role::Id, id)))
}

/// A verb at the start of a sentence.
fn capitalized(verb: &str) -> String {
    let mut said = verb.to_owned();
    if let Some(first) = said.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    said
}
