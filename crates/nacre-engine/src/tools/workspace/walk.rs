//! Walks the files in a workspace in name order and respects git's ignore rules.
//!
//! Directories are opened relative to the handle of their parent directory, never by path.

use std::ops::ControlFlow;
use std::sync::Arc;

use nacre_base::fs::{EntryKind, Folder, FsError, RelPath};
use nacre_map::indexer::{MAX_RULES_BYTES, RULES_FILE, RuleBudget, Rules};

use crate::model::Cancel;
use crate::record::Fault;
use crate::tools::footprint::Area;
use crate::tools::tool::{Result, ToolError};
use crate::tools::workspace::{Workspace, tool_error};

pub(crate) const MAX_ENTRIES: usize = 100_000;

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
    /// The ignore rules that apply in each of the current directories, outermost first.
    rules: Vec<Option<Arc<Rules>>>,
    budget: RuleBudget,
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
            budget: RuleBudget::default(),
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

    /// Adds a directory's rules. If they exceed the limits, skips the directory, because it is
    /// unknown which of its files they ignore.
    fn enter(&mut self, folder: &Folder, path: Option<&RelPath>) -> bool {
        let text = match folder.read(RULES_FILE, MAX_RULES_BYTES) {
            Err(FsError::TooLarge { .. }) => None,
            text => Some(text.unwrap_or_default()),
        };
        let rules = text.and_then(|text| {
            let (above, text) = (self.rules.last().cloned(), String::from_utf8_lossy(&text));
            let path = path.map_or("", RelPath::as_str);
            Rules::add(&self.budget, above.flatten(), &text, path).ok()
        });
        self.end.is_cut |= rules.is_none();
        let is_entered = rules.is_some();
        self.rules.extend(rules);
        is_entered
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
        let rules = self.rules.last().and_then(Option::as_ref);
        Rules::leaving_out(rules, path.as_str(), is_folder).is_some()
    }
}

fn join(path: Option<&RelPath>, name: &str) -> Option<RelPath> {
    path.map_or_else(|| RelPath::new(name), |path| path.join(name)).ok()
}
