//! Files of a workspace that other programs act on, outside of any walls: a hook runs when a person commits.
//!
//! The walls let a program change them, for they lie in the workspace. So each change is told, to the model and, by the
//! record of the call, to the person.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use nacre_core::platform::ext::MetadataExt as _;

const FILES: &[&str] = &[
    ".git/config",
    ".gitmodules",
    ".envrc",
    ".nacre/config.toml",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".mcp.json",
    ".vscode/tasks.json",
    ".vscode/settings.json",
];

const FOLDERS: &[&str] = &[".git/hooks", ".claude/skills", ".agents/skills", ".github/workflows"];

/// More names in one folder than this are not looked at.
const MAX_NAMES: usize = 200;

/// What the file system says of each, by path.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Guarded(BTreeMap<String, (u64, u64, i64, i64)>);

impl Guarded {
    pub(super) fn look(workspace: &Path) -> Self {
        let named = FILES.iter().map(|path| (*path).to_owned());
        let listed = FOLDERS.iter().flat_map(|folder| {
            let entries = fs::read_dir(workspace.join(folder)).into_iter().flatten().flatten();
            entries
                .take(MAX_NAMES)
                .map(move |entry| format!("{folder}/{}", entry.file_name().display()))
        });
        let stamp = |path: String| {
            let metadata = fs::symlink_metadata(workspace.join(&path)).ok()?;
            // The time of a change of the inode is the one that no program can set.
            let stamp = (metadata.ino(), metadata.size(), metadata.ctime(), metadata.ctime_nsec());
            Some((path, stamp))
        };
        Self(named.chain(listed).filter_map(stamp).collect())
    }

    /// The paths that are new, gone or different now.
    pub(super) fn changes_until(&self, now: &Self) -> Vec<String> {
        let mut paths: Vec<String> = self.0.keys().chain(now.0.keys()).cloned().collect();
        paths.sort();
        paths.dedup();
        paths.retain(|path| self.0.get(path) != now.0.get(path));
        paths
    }
}
