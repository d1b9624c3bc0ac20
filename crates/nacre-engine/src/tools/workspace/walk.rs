//! Walks the files of a workspace in name order, as git would see them.
//!
//! Folders are opened from the handle of the one above, never by path, so that no swap during the walk leads outside.
//! `.gitignore` files are obeyed; what they say is remembered by hash, because an answer depends on it.

use std::ops::ControlFlow;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use nacre_core::base::ContentHash;
use nacre_core::safefs::{EntryKind, Folder, FsError, RelPath};

use super::super::footprint::Area;
use super::super::tool::ToolError;
use super::{Workspace, tool_error};
use crate::model::Cancel;

/// A walk ends after so many entries.
pub(crate) const MAX_ENTRIES: usize = 100_000;

/// A file with more rules than these is not read. A longer line is no rule.
const MAX_RULES_BYTES: u64 = 256 << 10;
const MAX_RULES: usize = 5_000;
const MAX_RULE_BYTES: usize = 1_000;

/// All rules that one walk reads, and how many folders with rules may lie one inside of the other.
const MAX_WALK_RULES: usize = 30_000;
const MAX_NESTED: usize = 24;

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
    /// How many rules may still be read.
    n_rules_left: usize,
}

/// One folder's rules, and where it lies.
struct Rules {
    /// How many bytes of a path lead to the folder, with the slash.
    skip: usize,
    ignore: Gitignore,
}

/// What a walk meets.
pub(crate) enum WalkedFile<'f> {
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
    /// Whether there was more than one walk may see, or a folder with rules beyond what is read.
    pub(crate) is_cut: bool,
}

/// Whether a folder is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Entered {
    Yes,
    No,
}

type Visit<'v> = dyn FnMut(WalkedFile<'_>) -> ControlFlow<()> + 'v;

impl<'w> Walk<'w> {
    pub(crate) fn new(workspace: &'w Workspace, cancel: &'w Cancel) -> Self {
        Self {
            workspace,
            cancel,
            max_entries: MAX_ENTRIES,
            n_entries: 0,
            end: WalkEnd::default(),
            rules: Vec::new(),
            n_rules_left: MAX_WALK_RULES,
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
            let entered = self.enter(&folder, path.as_ref(), visit);
            if matches!(entered, ControlFlow::Break(()) | ControlFlow::Continue(Entered::No)) {
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

    /// Takes the rules of a folder in. Where they are beyond what is read, nobody knows what they leave out, and nothing is shown.
    fn enter(
        &mut self,
        folder: &Folder,
        path: Option<&RelPath>,
        visit: &mut Visit<'_>,
    ) -> ControlFlow<(), Entered> {
        let Some((text, ignore)) = self.rules_of(folder) else {
            self.end.is_cut = true;
            visit(WalkedFile::Other("unread rules"))?;
            return ControlFlow::Continue(Entered::No);
        };
        visit(WalkedFile::Rules(ContentHash::of(&text)))?;
        let skip = path.map_or(0, |path| path.as_str().len() + 1);
        self.rules.push(Rules { skip, ignore });
        ControlFlow::Continue(Entered::Yes)
    }

    /// The rules of a folder, and their text; `None` when there are too many of them.
    fn rules_of(&mut self, folder: &Folder) -> Option<(Vec<u8>, Gitignore)> {
        let text = match folder.read(".gitignore", MAX_RULES_BYTES) {
            Ok(text) => text,
            Err(FsError::TooLarge { .. }) => return None,
            Err(_) => Vec::new(),
        };
        let lossy = String::from_utf8_lossy(&text);
        let rules = || lossy.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let n_rules = rules().count();
        let n_nested = self.rules.iter().filter(|rules| !rules.ignore.is_empty()).count();
        if n_rules == 0 {
            return Some((text, Gitignore::empty()));
        }
        if MAX_RULES < n_rules || MAX_NESTED <= n_nested {
            return None;
        }
        self.n_rules_left = self.n_rules_left.checked_sub(n_rules)?;
        let mut builder = GitignoreBuilder::new("");
        for line in rules().filter(|line| line.len() <= MAX_RULE_BYTES) {
            // A rule that git does not understand says nothing.
            let _ = builder.add_line(None, line);
        }
        let ignore = builder.build().ok()?;
        Some((text, ignore))
    }

    fn folder(
        &mut self,
        folder: &Folder,
        path: Option<&RelPath>,
        visit: &mut Visit<'_>,
    ) -> ControlFlow<()> {
        visit(WalkedFile::Folder(folder))?;
        if self.enter(folder, path, visit)? == Entered::No {
            return ControlFlow::Continue(());
        }
        let Ok(entries) = folder.list() else {
            self.end.n_skipped += 1;
            self.rules.pop();
            return visit(WalkedFile::Other("unreadable"));
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
                        Err(_) => visit(WalkedFile::Other(&entry.name))?,
                    };
                }
                EntryKind::File if !self.is_ignored(&below, false) => {
                    self.file(folder, &below, visit)?;
                }
                EntryKind::Other => visit(WalkedFile::Other(&entry.name))?,
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
        visit(WalkedFile::File { path, folder })
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

fn walk_error(error: &FsError) -> ToolError {
    let hint = "The workspace itself cannot be read; say so.";
    ToolError::new(super::Fault::Io, error.to_string(), hint)
}
