//! Explains why a file is or is not in the map.

use nacre_base::platform;
use nacre_base::platform::fs::{AtFlags, FileType};
use nacre_types::MapVerdict;

use super::excludes::Excludes;
use super::git::Tracked;
use super::look::{READABLE_FOLDER, open_root};
use super::options::RefreshOptions;
use super::refresh::Current;
use super::rules::{RuleBudget, Rules};
use super::walk::{is_noise, join};
use crate::artifact::RelativePath;

pub fn explain(current: &Current, options: &RefreshOptions, path: &RelativePath) -> MapVerdict {
    let tracked = Tracked::read(&current.project.root, &options.git, &options.deadline);
    let path = path.as_str();
    let is_tracked = tracked.has(path);
    if let Some(row) = current.artifact.find(path) {
        return MapVerdict::Mapped { is_tracked, is_unread: row.is_unread };
    }
    if let Some(rule) = options.sensitive.rule_above(path) {
        return MapVerdict::Denied { rule: rule.to_owned() };
    }
    obstacle_to(current, &tracked, &options.excludes, path).unwrap_or(MapVerdict::Unseen)
}

fn obstacle_to(
    current: &Current,
    tracked: &Tracked,
    excludes: &Excludes,
    path: &str,
) -> Option<MapVerdict> {
    let folders = current.artifact.folders();
    let is_unread = |at: &str| folders.get(at).is_some_and(|row| row.skipped.unread_rules != 0);
    let unread = |at: &str| Some(MapVerdict::RulesUnread { folder: at.to_owned() });
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
            return Some(MapVerdict::Missing);
        };
        let kind = FileType::from_raw_mode(stat.st_mode);
        if kind.is_symlink() {
            return Some(MapVerdict::Link { path: at });
        }
        if kind.is_dir() && (name == ".git" || is_noise(tracked, name, &at)) {
            return Some(MapVerdict::Noise { folder: at });
        }
        if let Some(by) = Rules::leaving_out(rules.as_ref(), &at, kind.is_dir()) {
            return Some(MapVerdict::Ignored { rule: by.rule, folder: by.place });
        }
        if !kind.is_dir() {
            let is_end = names.peek().is_none();
            return match (kind.is_file(), is_end) {
                (true, true) => None,
                (true, false) => Some(MapVerdict::Missing),
                (false, _) => Some(MapVerdict::Special),
            };
        }
        let mode = platform::fs::Mode::empty();
        folder = platform::fs::openat(&folder, name, READABLE_FOLDER, mode).ok()?;
        let is_border = platform::fs::statat(&folder, ".git", AtFlags::SYMLINK_NOFOLLOW).is_ok();
        if is_border && !tracked.is_submodule(&at) {
            return Some(MapVerdict::Nested { folder: at });
        }
        let outer = if is_border { excludes.rules.clone() } else { rules };
        match Rules::below(&budget, outer, &folder, &at) {
            Ok(below) if !is_unread(&at) => rules = below,
            Ok(_) | Err(_) => return unread(&at),
        }
        above = at;
    }
    Some(MapVerdict::Folder)
}
