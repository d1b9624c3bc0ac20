//! Walks the files in a workspace in name order and respects git's ignore rules.
//!
//! Directories are opened relative to the handle of their parent directory, never by path.

use std::ops::ControlFlow;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use nacre_base::fs::{EntryKind, Folder, FsError, RelPath};

use crate::model::Cancel;
use crate::record::Fault;
use crate::tools::footprint::Area;
use crate::tools::tool::{Result, ToolError};
use crate::tools::workspace::{Workspace, tool_error};

pub(crate) const MAX_ENTRIES: usize = 100_000;

/// Maximum size of an ignore file. A file that exceeds this size, or has too many rules, is not
/// read. A single rule that is too long is skipped.
const MAX_RULES_BYTES: u64 = 256 << 10;
const MAX_RULES: usize = 5_000;
const MAX_RULE_BYTES: usize = 1_000;

const MAX_WALK_RULES: usize = 30_000;
const MAX_NESTED: usize = 24;

/// Directories that contain generated files.
const NEVER_WALKED: &[&str] = &["node_modules", "__pycache__", ".venv"];

/// A directory that is walked only if the walk starts inside it.
const NOT_FROM_OUTSIDE: &str = ".nacre";

pub(crate) struct Walk<'w> {
    workspace: &'w Workspace,
    cancel: &'w Cancel,
    max_entries: usize,
    n_entries: usize,
    end: WalkEnd,
    /// For each directory, the length of its path and its ignore rules.
    rules: Vec<(usize, Gitignore)>,
    n_rules_left: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WalkEnd {
    pub(crate) n_files: usize,
    /// Whether files were skipped because of a limit.
    pub(crate) is_cut: bool,
}

type Visit<'v> = dyn FnMut(&RelPath, &Folder) -> ControlFlow<()> + 'v;

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

    /// Visits `under` itself if it is a file, or everything below it otherwise, until `visit`
    /// breaks.
    pub(crate) fn run(mut self, under: Option<&RelPath>, visit: &mut Visit<'_>) -> Result<WalkEnd> {
        let scope = &self.workspace.scope;
        let mut folder = scope.root().map_err(|error| {
            let hint = "The workspace itself cannot be read; report this.";
            ToolError::new(Fault::Io, error.to_string(), hint)
        })?;
        let mut path: Option<RelPath> = None;
        for name in under.iter().flat_map(|under| under.components()) {
            // Ignore rules of parent directories also apply.
            if !self.enter(&folder, path.as_ref()) {
                return Ok(self.end);
            }
            let Some(below) = join(path.as_ref(), name) else { return Ok(self.end) };
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

    /// Adds a directory's rules. If there are too many rules, skips the directory, because it
    /// cannot determine which files are ignored.
    fn enter(&mut self, folder: &Folder, path: Option<&RelPath>) -> bool {
        let Some(ignore) = self.rules_of(folder) else {
            self.end.is_cut = true;
            return false;
        };
        let skip = path.map_or(0, |path| path.as_str().len() + 1);
        self.rules.push((skip, ignore));
        true
    }

    fn rules_of(&mut self, folder: &Folder) -> Option<Gitignore> {
        let text = match folder.read(".gitignore", MAX_RULES_BYTES) {
            Ok(text) => text,
            Err(FsError::TooLarge { .. }) => return None,
            Err(_) => Vec::new(),
        };
        let lossy = String::from_utf8_lossy(&text);
        let rules = || lossy.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let n_rules = rules().count();
        let n_nested = self.rules.iter().filter(|(_, ignore)| !ignore.is_empty()).count();
        if n_rules == 0 {
            return Some(Gitignore::empty());
        }
        if MAX_RULES < n_rules || MAX_NESTED <= n_nested {
            return None;
        }
        self.n_rules_left = self.n_rules_left.checked_sub(n_rules)?;
        let mut builder = GitignoreBuilder::new("");
        for line in rules().filter(|line| line.len() <= MAX_RULE_BYTES) {
            // Invalid rules are ignored, as in git.
            let _ = builder.add_line(None, line);
        }
        builder.build().ok()
    }

    fn folder(
        &mut self,
        folder: &Folder,
        path: Option<&RelPath>,
        visit: &mut Visit<'_>,
    ) -> ControlFlow<()> {
        if !self.enter(folder, path) {
            return ControlFlow::Continue(());
        }
        for entry in folder.list().unwrap_or_default() {
            self.n_entries += 1;
            if self.max_entries < self.n_entries || self.cancel.is_cancelled() {
                self.end.is_cut = true;
                return ControlFlow::Break(());
            }
            let Some(below) = join(path, &entry.name) else { continue };
            match entry.kind {
                EntryKind::Folder if self.is_walked(&below) => {
                    if let Ok(inner) = folder.open(&entry.name) {
                        self.folder(&inner, Some(&below), visit)?;
                    }
                }
                EntryKind::File if !self.is_ignored(&below, false) => {
                    self.file(folder, &below, visit)?;
                }
                EntryKind::Folder | EntryKind::File | EntryKind::Other => {}
            }
        }
        self.rules.pop();
        ControlFlow::Continue(())
    }

    fn file(&mut self, folder: &Folder, path: &RelPath, visit: &mut Visit<'_>) -> ControlFlow<()> {
        if self.workspace.denied.forbids_reading(&Area::File(path.clone())) {
            return ControlFlow::Continue(());
        }
        self.end.n_files += 1;
        visit(path, folder)
    }

    fn is_walked(&self, path: &RelPath) -> bool {
        let name = path.name();
        !NEVER_WALKED.contains(&name)
            && !name.eq_ignore_ascii_case(NOT_FROM_OUTSIDE)
            && !self.workspace.denied.forbids_reading(&Area::Tree(Some(path.clone())))
            && !self.is_ignored(path, true)
    }

    fn is_ignored(&self, path: &RelPath, is_folder: bool) -> bool {
        self.rules
            .iter()
            .rev()
            .map(|(skip, ignore)| ignore.matched(&path.as_str()[*skip..], is_folder))
            .find(|verdict| !verdict.is_none())
            .is_some_and(|verdict| verdict.is_ignore())
    }
}

fn join(path: Option<&RelPath>, name: &str) -> Option<RelPath> {
    path.map_or_else(|| RelPath::new(name), |path| path.join(name)).ok()
}
