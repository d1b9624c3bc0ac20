//! An artifact in memory: the rows for all files and directories, and their history.

use std::collections::BTreeMap;
use std::path::Path;

use nacre_types::SkippedCounts;
use serde::{Deserialize, Serialize};

use super::model::{Commit, ContentChange, FileRow, FolderRow, Head, History, MapState, Stamp};

/// Increase this version whenever the meaning of a stored byte changes. Artifacts with another
/// version are rebuilt.
const FORMAT: u32 = 5;

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Artifact {
    head: Head,
    files: BTreeMap<String, FileRow>,
    folders: BTreeMap<String, FolderRow>,
    /// The number and identity of the oldest revision in the history.
    oldest: (u64, u64),
    /// One line of JSON per change. The history is rarely needed, so it is not parsed on load.
    #[serde(skip)]
    changes: String,
    /// The stamp this artifact's file had when it was read. A new state may be written only if the
    /// file still has this stamp.
    #[serde(skip)]
    pub(super) source: Option<Stamp>,
}

impl Artifact {
    pub(super) fn read(bytes: &[u8], root: &Path, source: Stamp) -> Option<Self> {
        let text = simdutf8::basic::from_utf8(bytes).ok()?;
        let (rows, changes) = text.split_once('\n')?;
        let (format, stored_root, artifact): (u32, String, Self) =
            serde_json::from_str(rows).ok()?;
        let is_ours = format == FORMAT && stored_root == root.to_string_lossy();
        is_ours.then(|| Self { changes: changes.to_owned(), source: Some(source), ..artifact })
    }

    pub(super) fn render(&self, root: &Path) -> serde_json::Result<Vec<u8>> {
        let mut bytes = serde_json::to_vec(&(FORMAT, root.to_string_lossy(), self))?;
        bytes.push(b'\n');
        bytes.extend(self.changes.as_bytes());
        Ok(bytes)
    }

    pub fn apply(&mut self, commit: Commit) {
        let Commit { head, files, folders, changes } = commit;
        if self.head == Head::default() {
            self.oldest = (head.revision.number, head.identity);
        }
        self.head = head;
        update(&mut self.files, files);
        update(&mut self.folders, folders);
        for change in changes {
            let line = serde_json::to_string(&(head.revision.number, change));
            // Serializing cannot fail because paths are valid UTF-8.
            self.changes.extend(line.ok().into_iter().flat_map(|line| [line, "\n".to_owned()]));
        }
    }

    pub(super) fn trim(&mut self) {
        let mut history = self.history();
        let n_before = history.changes.len();
        history.trim();
        if history.changes.len() == n_before {
            return;
        }
        self.oldest = (history.since, history.identity);
        let lines = history.changes.iter().filter_map(|change| serde_json::to_string(change).ok());
        self.changes = lines.flat_map(|line| [line, "\n".to_owned()]).collect();
    }

    pub fn knows(&self, state: MapState) -> bool {
        let MapState { revision, identity } = state;
        let now = self.head.revision;
        if revision == now {
            return identity == self.head.identity;
        }
        let history = self.history();
        revision.epoch == now.epoch
            && (history.since..now.number).contains(&revision.number)
            && identity == history.identity_at(revision.number)
    }

    pub fn head(&self) -> &Head {
        &self.head
    }

    pub fn find(&self, path: &str) -> Option<FileRow> {
        self.files.get(path).copied()
    }

    pub fn files(&self) -> Vec<(&str, FileRow)> {
        self.files.iter().map(|(path, row)| (path.as_str(), *row)).collect()
    }

    pub fn folders(&self) -> &BTreeMap<String, FolderRow> {
        &self.folders
    }

    pub fn count_skipped(&self) -> SkippedCounts {
        let mut all = SkippedCounts::default();
        for FolderRow { skipped, .. } in self.folders.values() {
            all.denied += skipped.denied;
            all.links += skipped.links;
            all.special += skipped.special;
            all.unreadable += skipped.unreadable;
            all.unnamable += skipped.unnamable;
            all.nested += skipped.nested;
            all.too_deep += skipped.too_deep;
            all.unread_rules += skipped.unread_rules;
        }
        all
    }

    pub fn history(&self) -> History {
        let (since, identity) = self.oldest;
        let parse = |line| serde_json::from_str::<(u64, ContentChange)>(line).ok();
        History { since, identity, changes: self.changes.lines().filter_map(parse).collect() }
    }
}

fn update<R>(rows: &mut BTreeMap<String, R>, changes: Vec<(String, Option<R>)>) {
    for (path, row) in changes {
        match row {
            Some(row) => rows.insert(path, row),
            None => rows.remove(&path),
        };
    }
}
