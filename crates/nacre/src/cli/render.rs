//! Formats memories, changes and counts for several commands.

use std::fmt::Display;

use nacre_ops::text::{ChangeTag, find_changed_parts};
use nacre_types::{
    BrokenFile, CheckedCopy, CopyPlace, CopyState, MemoryChange, MemoryChangeReport,
    MemoryChangesReport, MemoryEntry, PlannedChange, StoreScope,
};

use super::layout::{KEPT, day};
use super::prelude::*;

const MAX_WARNINGS: usize = 20;

const MAX_NAMED: usize = 3;

/// Formats a count with a noun, such as `1 memory` or `2 runs`.
pub(crate) fn count(n: usize, noun: &str) -> String {
    match (n, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{n} {stem}ies"),
        (_, None) => format!("{n} {noun}s"),
    }
}

pub(crate) fn memories_text(n: usize) -> String {
    count(n, "memory")
}

/// Joins the first few items and says how many more there are. Returns `None` for an empty list.
pub(crate) fn first_few(items: &[impl Display]) -> Option<String> {
    let named: Vec<String> = items.iter().take(MAX_NAMED).map(ToString::to_string).collect();
    let more = match items.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        n_more => format!(" and {n_more} more"),
    };
    (!items.is_empty()).then(|| format!("{}{more}", named.join(", ")))
}

/// Formats notes in parentheses, with `blanks` before them. Returns an empty string if there are
/// none.
pub(crate) fn parenthesize(blanks: &str, notes: &[impl AsRef<str>]) -> String {
    let notes: Vec<&str> = notes.iter().map(AsRef::as_ref).collect();
    if notes.is_empty() { String::new() } else { format!("{blanks}({})", notes.join(", ")) }
}

/// Returns the part of an id after its last `-` if that part has at least `min` characters and
/// identifies the id. Otherwise, returns the full id.
pub(crate) fn unique_end<'i>(
    id: &'i str,
    ids: impl Iterator<Item = &'i str>,
    min: usize,
) -> &'i str {
    let Some((_, end)) = id.rsplit_once('-') else { return id };
    let n_alike = ids.filter(|other| other.ends_with(end)).count();
    if end.len() < min || n_alike > 1 { id } else { end }
}

/// Prints a table of memories. On a terminal, titles come first and ids are shortened; otherwise
/// ids are complete.
pub(crate) fn print_memory_rows(ui: &mut Ui, memories: &[MemoryEntry]) {
    let rows: Vec<Row> = memories.iter().map(|memory| memory_row(ui, memory)).collect();
    ui.print_titled_table(rows);
}

pub(crate) fn print_memory_row(ui: &mut Ui, memory: &MemoryEntry) {
    print_memory_rows(ui, std::slice::from_ref(memory));
}

fn memory_row(ui: &Ui, memory: &MemoryEntry) -> Row {
    let mut notes = Vec::new();
    notes.extend((memory.status != "active").then(|| memory.status.clone()));
    notes.extend(memory.replaced_by.as_ref().map(|id| format!("replaced by {id}")));
    notes.extend((memory.scope == StoreScope::Global).then(|| "global".to_owned()));
    notes.extend(memory.trust.map(|trust| trust.as_str().to_owned()));
    let note = parenthesize("  ", &notes);
    let name = Shown(&memory.title).one_line();
    let kind = faint(memory.kind.as_deref().unwrap_or_else(|| memory.r#type.as_str()));
    let id = id(ui.short_id(&memory.id));
    if !ui.is_watched() {
        let day = faint(memory.stated().map(day).unwrap_or_default());
        return vec![id, kind, day, (Role::Title, name + &note)];
    }
    let updated = memory.stated().map(|time| ui.when(time)).unwrap_or_default();
    vec![(Role::Title, format!("{name}{KEPT}{note}")), kind, faint(updated), id]
}

pub(crate) fn quote_place(ui: &Ui, place: &str, at: &str) -> String {
    if at.is_empty() { place.to_owned() } else { format!("{place}, {}", ui.when(at)) }
}

/// Prints the ids of memories that other memories claim to supersede, but whose own files do not
/// confirm it.
pub(crate) fn print_not_verified(ui: &mut Ui, ids: &[impl Display]) {
    if let Some(ids) = first_few(ids) {
        ui.note(4, Role::Warning, format!("supersedes {ids}; not verified"));
    }
}

pub(crate) fn warn_broken(ui: &mut Ui, broken: &[BrokenFile]) {
    for file in broken.iter().take(MAX_WARNINGS) {
        let line = file.line.map_or_else(String::new, |line| format!(":{line}"));
        let place = Shown(&format!("{}{line}", file.path)).one_line();
        ui.warning(format!("Skipped {place}: {}", Shown(&file.message).one_line()), None);
    }
    if broken.len() > MAX_WARNINGS {
        ui.warning(format!("{} more files are malformed", broken.len() - MAX_WARNINGS), None);
    }
    if !broken.is_empty() {
        ui.hint("`nacre doctor` shows every malformed file");
    }
}

pub(crate) fn print_more(ui: &mut Ui, n_more: usize) {
    if n_more > 0 {
        ui.status(format!("… {n_more} more; `--limit 0` shows all"));
    }
}

pub(crate) fn print_change(ui: &mut Ui, report: &MemoryChangeReport) {
    print_done(ui, report.done, &report.id);
    if let Some(path) = &report.path {
        ui.status(Shown(path).one_line());
    }
    print_undo(ui, report.change.as_deref());
}

pub(crate) fn print_undo(ui: &mut Ui, change: Option<&str>) {
    if let Some(change) = change {
        ui.status(format!("Undo: nacre undo {change}"));
    }
}

/// Prints the changes. If all of them failed, the first error determines the exit code.
pub(crate) fn report_changes(ui: &mut Ui, report: &MemoryChangesReport) -> CommandResult {
    let exit = ui.report(report, |ui, report| {
        for id in &report.ids {
            print_done(ui, report.done, id);
        }
        print_copies(ui, &report.copies);
        // Forgetting cannot be undone.
        let change = report.change.as_deref().filter(|_| report.done != MemoryChange::Forgotten);
        print_undo(ui, change);
    })?;
    match report.failed.first() {
        Some(first) if report.ids.is_empty() => Ok(first.failure.code.into()),
        Some(_) | None => Ok(exit),
    }
}

fn print_done(ui: &mut Ui, done: MemoryChange, id: &str) {
    let mut verb = done.as_str().to_owned();
    if let Some(first) = verb.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    ui.status(format!("{verb} {}", ui.paint(Role::Id, id)));
}

/// Prints where copies of a forgotten memory were checked for, and where some may remain.
fn print_copies(ui: &mut Ui, copies: &[CheckedCopy]) {
    let gone = copies.iter().filter(|copy| copy.state == CopyState::Gone);
    let gone: Vec<&str> = gone.map(|copy| copy.place.label()).collect();
    if !gone.is_empty() {
        ui.status(format!("Gone from: {}", gone.join(", ")));
    }
    for copy in copies.iter().filter(|copy| copy.state == CopyState::Waits) {
        let detail = copy.detail.as_deref().unwrap_or_default();
        let hint = match copy.place {
            CopyPlace::Server => "Delete it there, too: nacre push",
            CopyPlace::SharedIndex => "It is deleted when the database is available again",
            CopyPlace::Index => "Delete it: nacre index --rebuild",
            CopyPlace::Files | CopyPlace::Runs | CopyPlace::Notes => "See: nacre doctor",
        };
        ui.warning(format!("Still in the {}: {detail}", copy.place.label()), Some(hint));
    }
}

/// Prints each file that a run would change, with its changed lines.
pub(crate) fn print_changes(ui: &mut Ui, changes: &[PlannedChange]) {
    if changes.is_empty() {
        ui.line("  Nothing would change.");
    }
    for PlannedChange { path, before, after } in changes {
        let name = |side: &Option<String>| if side.is_some() { path.as_str() } else { "/dev/null" };
        ui.line(ui.paint(Role::Bad, format!("--- {}", name(before))));
        ui.line(ui.paint(Role::Good, format!("+++ {}", name(after))));
        let (before, after) = (before.as_deref(), after.as_deref());
        print_diff(ui, 0, "", before.unwrap_or_default(), after.unwrap_or_default());
    }
}

/// Prints the lines around a change. Each line starts with its sign (`+`, `-` or a space), followed
/// by `gap`.
pub(crate) fn print_diff(ui: &mut Ui, indent: usize, gap: &str, before: &str, after: &str) {
    for (tag, line) in find_changed_parts(before, after).into_iter().flat_map(|part| part.lines) {
        let role = match tag {
            ChangeTag::Equal => Role::Faint,
            ChangeTag::Delete => Role::Bad,
            ChangeTag::Insert => Role::Good,
        };
        ui.note(indent, role, format!("{tag}{gap}{line}"));
    }
}
