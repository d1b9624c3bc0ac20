//! Walks the files of a workspace in name order, as git would see them.
//!
//! Folders are opened from the handle of the one above, never by path, so that no swap during the walk leads outside.
//! `.gitignore` files are obeyed; what they say is remembered by hash, because an answer depends on it.

use std::ops::ControlFlow;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use nacre_core::base::ContentHash;
use nacre_core::safefs::{EntryKind, Folder, RelPath};

use super::super::footprint::Area;
use super::super::tool::ToolError;
use super::{Workspace, tool_error};
use crate::model::Cancel;

/// A walk ends after so many entries.
pub(crate) const MAX_ENTRIES: usize = 100_000;

/// A folder with more rules than these is not obeyed further.
const MAX_RULES_BYTES: u64 = 64 << 10;
const MAX_RULES: usize = 500;
const MAX_RULE_BYTES: usize = 200;

/// Folders that hold nothing which anybody wrote here.
const NEVER_WALKED: &[&str] = &["node_modules", "__pycache__", ".venv"];

/// Folders that are walked only when one asks for them by name.
const NOT_FROM_OUTSIDE: &str = ".nacre";

/// A walk under way.
pub(crate) struct Walk<'w> {
    workspace: &'w Workspace,
    cancel: &'w Cancel,
    max_entries: usize,
    n_entries: usize,
    end: WalkEnd,
    rules: Vec<Rules>,
}

/// One folder's rules, and where it lies.
struct Rules {
    /// How many bytes of a path lead to the folder, with the slash.
    skip: usize,
    ignore: Gitignore,
}

/// What a walk meets.
pub(crate) enum Found<'f> {
    /// A folder that is about to be listed.
    Folder(&'f Folder),
    /// A plain file, with the folder that it can be read from.
    File { path: &'f RelPath, folder: &'f Folder },
    /// The rules of a folder.
    Rules(ContentHash),
    /// A link, a device, or what could not be opened: by name only.
    Other(&'f str),
}

/// How a walk ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WalkEnd {
    pub(crate) n_files: usize,
    /// Files that are denied, not portable by name, or could not be opened.
    pub(crate) n_skipped: usize,
    /// Whether there was more than one walk may see.
    pub(crate) is_cut: bool,
}

type Visit<'v> = dyn FnMut(Found<'_>) -> ControlFlow<()> + 'v;

impl<'w> Walk<'w> {
    pub(crate) fn new(workspace: &'w Workspace, cancel: &'w Cancel) -> Self {
        Self {
            workspace,
            cancel,
            max_entries: MAX_ENTRIES,
            n_entries: 0,
            end: WalkEnd::default(),
            rules: Vec::new(),
        }
    }

    pub(crate) fn at_most(mut self, max_entries: usize) -> Self {
        self.max_entries = max_entries;
        self
    }

    /// Shows everything below `under`, or `under` itself if it is a file, until `visit` breaks.
    pub(crate) fn run(
        mut self,
        under: Option<&RelPath>,
        visit: &mut Visit<'_>,
    ) -> Result<WalkEnd, ToolError> {
        let scope = &self.workspace.scope;
        let mut folder = scope.root().map_err(|error| walk_error(&error))?;
        let mut path: Option<RelPath> = None;
        for name in under.iter().flat_map(|under| under.components()) {
            // What lies above the start has rules for it, too.
            if self.enter(&folder, path.as_ref(), visit).is_break() {
                return Ok(self.end);
            }
            let below = join(path.as_ref(), name);
            let Some(below) = below else { return Ok(self.end) };
            folder = match folder.open(name) {
                Ok(inner) => inner,
                Err(_) if Some(&below) == under && folder.stamp(name).is_some() => {
                    let _ = self.file(&folder, &below, visit);
                    return Ok(self.end);
                }
                Err(error) => return Err(tool_error(&error, &below)),
            };
            path = Some(below);
        }
        let _ = self.folder(&folder, path.as_ref(), visit);
        Ok(self.end)
    }

    /// Takes the rules of a folder in.
    fn enter(
        &mut self,
        folder: &Folder,
        path: Option<&RelPath>,
        visit: &mut Visit<'_>,
    ) -> ControlFlow<()> {
        let text = folder.read(".gitignore", MAX_RULES_BYTES).unwrap_or_default();
        visit(Found::Rules(ContentHash::of(&text)))?;
        let skip = path.map_or(0, |path| path.as_str().len() + 1);
        self.rules.push(Rules { skip, ignore: read_rules(&text) });
        ControlFlow::Continue(())
    }

    fn folder(
        &mut self,
        folder: &Folder,
        path: Option<&RelPath>,
        visit: &mut Visit<'_>,
    ) -> ControlFlow<()> {
        visit(Found::Folder(folder))?;
        self.enter(folder, path, visit)?;
        let Ok(entries) = folder.list() else {
            self.end.n_skipped += 1;
            self.rules.pop();
            return visit(Found::Other("unreadable"));
        };
        for entry in entries {
            self.n_entries += 1;
            if self.max_entries < self.n_entries || self.cancel.is_cancelled() {
                self.end.is_cut = true;
                return ControlFlow::Break(());
            }
            let Some(below) = join(path, &entry.name) else {
                self.end.n_skipped += 1;
                continue;
            };
            match entry.kind {
                EntryKind::Folder if self.is_walked(&below) => {
                    match folder.open(&entry.name) {
                        Ok(inner) => self.folder(&inner, Some(&below), visit)?,
                        Err(_) => visit(Found::Other(&entry.name))?,
                    };
                }
                EntryKind::File if !self.is_ignored(&below, false) => {
                    self.file(folder, &below, visit)?;
                }
                EntryKind::Other => visit(Found::Other(&entry.name))?,
                EntryKind::Folder | EntryKind::File => {}
            }
        }
        self.rules.pop();
        ControlFlow::Continue(())
    }

    fn file(&mut self, folder: &Folder, path: &RelPath, visit: &mut Visit<'_>) -> ControlFlow<()> {
        if self.workspace.denied.forbids_reading(&Area::File(path.clone())) {
            self.end.n_skipped += 1;
            return ControlFlow::Continue(());
        }
        self.end.n_files += 1;
        visit(Found::File { path, folder })
    }

    fn is_walked(&self, path: &RelPath) -> bool {
        let name = path.name();
        !NEVER_WALKED.contains(&name)
            && !name.eq_ignore_ascii_case(NOT_FROM_OUTSIDE)
            && !self.workspace.denied.forbids_reading(&Area::Tree(Some(path.clone())))
            && !self.is_ignored(path, true)
    }

    /// Whether the innermost rule that speaks of the path leaves it out.
    fn is_ignored(&self, path: &RelPath, is_folder: bool) -> bool {
        self.rules
            .iter()
            .rev()
            .map(|rules| rules.ignore.matched(&path.as_str()[rules.skip..], is_folder))
            .find(|verdict| !verdict.is_none())
            .is_some_and(|verdict| verdict.is_ignore())
    }
}

fn join(path: Option<&RelPath>, name: &str) -> Option<RelPath> {
    path.map_or_else(|| RelPath::new(name), |path| path.join(name)).ok()
}

fn read_rules(text: &[u8]) -> Gitignore {
    if text.is_empty() {
        return Gitignore::empty();
    }
    let text = String::from_utf8_lossy(text);
    let mut builder = GitignoreBuilder::new("");
    for line in text.lines().filter(|line| line.len() <= MAX_RULE_BYTES).take(MAX_RULES) {
        // A rule that git does not understand says nothing.
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

fn walk_error(error: &nacre_core::safefs::FsError) -> ToolError {
    let hint = "The workspace itself cannot be read; say so.";
    ToolError::new(super::Fault::Io, error.to_string(), hint)
}
