//! Memories as they are printed: one shape for lists, search and show.

use nacre_core::base::Shown;
use nacre_core::memory::{Memory, MemoryId, Shelf, Unreadable};
use serde::Serialize;

use super::super::ui::{Role, Ui};
use nacre_api::wire::{BrokenFile, MemoryEntry, StoreScope};
use nacre_ops::OpError;
use nacre_ops::host::ScopedStore;

/// More warnings than this say nothing new.
const MAX_WARNINGS: usize = 20;

/// Claims that one line names.
const MAX_CLAIMS: usize = 3;

/// A memory's keys in JSON.
#[derive(Debug, Serialize)]
pub(super) struct MemoryOutput {
    pub(super) id: String,
    r#type: &'static str,
    kind: Option<&'static str>,
    title: String,
    status: &'static str,
    confidence: Option<f64>,
    tags: Vec<String>,
    related: Vec<String>,
    created: Option<String>,
    updated: Option<String>,
    archived: bool,
    scope: &'static str,
    path: String,
}

impl MemoryOutput {
    pub(super) fn new(memory: &Memory, scoped: &ScopedStore) -> Self {
        Self {
            id: memory.at.id.to_string(),
            r#type: memory.at.memory_type.as_str(),
            kind: memory.kind.map(nacre_core::memory::LearningKind::as_str),
            title: memory.title.clone(),
            status: memory.status.as_str(),
            confidence: memory.confidence,
            tags: memory.tags.clone(),
            related: memory.related.iter().map(ToString::to_string).collect(),
            created: memory.created.map(|time| time.to_string()),
            updated: memory.updated.map(|time| time.to_string()),
            archived: memory.at.shelf == Shelf::Archived,
            scope: scoped.scope.as_str(),
            path: scoped.store.path().join(memory.at.path.as_str()).display().to_string(),
        }
    }
}

/// A file that could not be read.
pub(super) fn broken_file(unreadable: &Unreadable, scoped: &ScopedStore) -> BrokenFile {
    BrokenFile {
        path: scoped.store.path().join(unreadable.path.as_str()).display().to_string(),
        line: unreadable.line(),
        message: unreadable.reason(),
    }
}

/// A memory as a row of a table.
pub(super) fn memory_row(memory: &Memory, whose: StoreScope) -> Vec<(Role, String)> {
    let what = memory
        .kind
        .map_or(memory.at.memory_type.as_str(), nacre_core::memory::LearningKind::as_str);
    let mut notes = Vec::new();
    if memory.status != nacre_core::memory::Status::Active {
        notes.push(memory.status.as_str());
    }
    if whose == StoreScope::Global {
        notes.push("global");
    }
    let note = if notes.is_empty() { String::new() } else { format!("  ({})", notes.join(", ")) };
    vec![
        (Role::Id, memory.at.id.to_string()),
        (Role::Faint, what.to_owned()),
        (Role::Title, format!("{}{note}", Shown(&memory.title).one_line())),
    ]
}

/// A memory as a row of a table.
pub(super) fn row(memory: &MemoryEntry) -> Vec<(Role, String)> {
    let what = memory.kind.as_deref().unwrap_or_else(|| memory.r#type.as_str());
    let mut notes = Vec::new();
    if memory.status != "active" {
        notes.push(memory.status.as_str());
    }
    if memory.scope == StoreScope::Global {
        notes.push("global");
    }
    let note = if notes.is_empty() { String::new() } else { format!("  ({})", notes.join(", ")) };
    vec![
        (Role::Id, memory.id.clone()),
        (Role::Faint, what.to_owned()),
        (Role::Title, format!("{}{note}", Shown(&memory.title).one_line())),
    ]
}

/// What a memory overturned by nothing but its own claim, in one line; `None` where there is nothing.
pub(super) fn not_verified(ids: &[&MemoryId]) -> Option<String> {
    let named: Vec<&str> = ids.iter().take(MAX_CLAIMS).map(|id| id.as_str()).collect();
    let more = match ids.len().saturating_sub(MAX_CLAIMS) {
        0 => String::new(),
        n_more => format!(" and {n_more} more"),
    };
    (!ids.is_empty()).then(|| format!("supersedes {}{more}; not verified", named.join(", ")))
}

/// Tells of files that could not be read, and where they are broken.
pub(super) fn warn_broken(ui: &mut Ui, broken: &[BrokenFile]) {
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

/// Says what was done to a memory, as text or JSON.
pub(super) fn print_done(
    ui: &mut Ui,
    verb: &str,
    id: &str,
    path: Option<&str>,
) -> Result<(), OpError> {
    if ui.is_json() {
        return ui.json(&serde_json::json!({ "done": verb, "id": id, "path": path }));
    }
    ui.status(format!("{} {}", capitalized(verb), ui.paint(Role::Id, id)))
}

/// A verb at the start of a sentence.
pub(super) fn capitalized(verb: &str) -> String {
    let mut said = verb.to_owned();
    if let Some(first) = said.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    said
}
