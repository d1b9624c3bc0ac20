//! Why a file is in the map, or is not.

use nacre_core::platform;
use nacre_core::platform::fs::{AtFlags, FileType};
use serde::Serialize;

use super::excludes::Excludes;
use super::git::Tracked;
use super::look::{READABLE_FOLDER, open_root};
use super::options::RefreshOptions;
use super::refresh::Current;
use super::rules::{RuleBudget, Rules};
use super::walk::{is_noise, join};
use crate::artifact::RelativePath;

/// What decides about a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum FileVerdict {
    /// It is in the map.
    Mapped { is_tracked: bool, is_unread: bool },
    /// A rule about secrets keeps it out.
    Denied { rule: String },
    /// The repository, or its owner, wants it left out; `folder` is the folder, or the file, that the rule stands in.
    Ignored { rule: String, folder: String },
    /// It lies in a folder that programs fill.
    Noise { folder: String },
    /// The `.gitignore` of the folder is beyond what is read, so that nobody knows what it leaves out.
    RulesUnread { folder: String },
    /// It lies in a repository that is no submodule of this one.
    Nested { folder: String },
    /// It is a link, or lies behind one.
    Link { path: String },
    /// It is a pipe, a socket or a device.
    Special,
    /// It is a folder; files are mapped.
    Folder,
    /// There is nothing of that name.
    Missing,
    /// It lies too deep, or came after the last look.
    Unseen,
}

/// Tells why a path below the root is in the map, or is not.
pub fn explain(current: &Current, options: &RefreshOptions, path: &RelativePath) -> FileVerdict {
    let tracked = Tracked::read(&current.project.root, &options.git, &options.deadline);
    let path = path.as_str();
    let is_tracked = tracked.has(path);
    if let Some(row) = current.artifact.find(path) {
        return FileVerdict::Mapped { is_tracked, is_unread: row.marks.is_unread };
    }
    if let Some(rule) = options.sensitive.rule_above(path) {
        return FileVerdict::Denied { rule: rule.to_owned() };
    }
    way_to(current, &tracked, &options.excludes, path).unwrap_or(FileVerdict::Unseen)
}

/// Goes down to a path as the walk does, and says what stops it.
fn way_to(
    current: &Current,
    tracked: &Tracked,
    excludes: &Excludes,
    path: &str,
) -> Option<FileVerdict> {
    let folders = current.artifact.folders();
    let is_unread = |at: &str| folders.get(at).is_some_and(|row| row.skipped.unread_rules != 0);
    let unread = |at: &str| Some(FileVerdict::RulesUnread { folder: at.to_owned() });
    let budget = RuleBudget::default();
    let mut folder = open_root(&current.project.root).ok()?;
    if is_unread("") {
        return unread("");
    }
    let Ok(mut rules) = Rules::below(&budget, tracked.rules(excludes), &folder, "") else {
        return unread("");
    };
    let mut above = String::new();
    let mut names = path.split('/').peekable();
    while let Some(name) = names.next() {
        let at = join(&above, name);
        let Ok(stat) = platform::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else {
            return Some(FileVerdict::Missing);
        };
        let kind = FileType::from_raw_mode(stat.st_mode);
        if kind.is_symlink() {
            return Some(FileVerdict::Link { path: at });
        }
        if kind.is_dir() && (name == ".git" || is_noise(tracked, name, &at)) {
            return Some(FileVerdict::Noise { folder: at });
        }
        if let Some(by) = Rules::leaving_out(rules.as_ref(), &at, kind.is_dir()) {
            return Some(FileVerdict::Ignored { rule: by.rule, folder: by.place });
        }
        if !kind.is_dir() {
            let is_end = names.peek().is_none();
            return match (kind.is_file(), is_end) {
                (true, true) => None,
                (true, false) => Some(FileVerdict::Missing),
                (false, _) => Some(FileVerdict::Special),
            };
        }
        let mode = platform::fs::Mode::empty();
        folder = platform::fs::openat(&folder, name, READABLE_FOLDER, mode).ok()?;
        let is_border = platform::fs::statat(&folder, ".git", AtFlags::SYMLINK_NOFOLLOW).is_ok();
        if is_border && !tracked.is_submodule(&at) {
            return Some(FileVerdict::Nested { folder: at });
        }
        let outer = if is_border { excludes.rules() } else { rules };
        match Rules::below(&budget, outer, &folder, &at) {
            Ok(below) if !is_unread(&at) => rules = below,
            Ok(_) | Err(_) => return unread(&at),
        }
        above = at;
    }
    Some(FileVerdict::Folder)
}
