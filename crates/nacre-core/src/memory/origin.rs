//! Whether a change that Nacre did not make is the user's edit, or came with git.
//!
//! Two rules decide, whatever git command ran before. Bytes that are in git's object database came with git: what a person types
//! is in no object until they stage it. And an edit is not trusted if a version that it can be based on is not: the last commit,
//! the index, and versions that git has outside the current branch.

use super::layout::Located;
use super::record::Memory;
use super::store::Store;
use super::trust::Trust;
use crate::base::git::{Git, GitFolder, GitProgram, next_object};

/// The author and the date of the last commit that changed a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastCommit {
    pub who: String,
    pub when: String,
}

/// A memory that was changed outside Nacre.
#[derive(Clone, Copy, Debug)]
pub struct Edit<'m> {
    pub memory: &'m Memory,
    /// Whether the user made the change, so that the memory keeps its level.
    pub is_users: bool,
}

impl Edit<'_> {
    /// The highest level that the memory can have after it.
    pub(super) fn limit(&self) -> Trust {
        if self.is_users { Trust::Human } else { Trust::Foreign }
    }
}

/// Where git has a version that the file may have been edited from: the last commit, the index, and both sides of a merge.
const PARENTS: &[&str] = &["HEAD:", ":0:", ":2:", ":3:"];

/// An answer of git's is not read beyond this. It holds a handful of versions of one memory.
const MAX_VERSIONS_BYTES: u64 = 16 << 20;

/// Commits that are searched for a trusted text.
const MAX_COMMITS: usize = 20;

impl Store {
    /// Whether the user made this change of a memory that was trusted.
    pub fn is_users_edit(&self, program: &GitProgram, memory: &Memory) -> bool {
        if self.last_trust(&memory.at.id).is_none_or(Trust::waits) {
            return false;
        }
        // Of two files with one id, the ledger knows neither which was trusted nor which was edited.
        if self.places(&memory.at.id).map_or(true, |places| places.len() != 1) {
            return false;
        }
        let file = self.path().join(memory.at.path.as_str());
        // Without git there is nothing that could have brought the bytes. The store can be a repository itself.
        if !GitFolder::is_around(&file) {
            return true;
        }
        let folder = GitFolder::around(&file);
        let Some(Ok(git)) = folder.map(|folder| program.open(folder)) else { return false };
        self.is_new_to(&git, memory).unwrap_or(false)
    }

    /// Whether git does not have the bytes of a memory, and all versions that it puts beside them are trusted. Nothing where
    /// git does not answer.
    fn is_new_to(&self, git: &Git, memory: &Memory) -> Option<bool> {
        let file = self.below(git, &memory.at).filter(|file| !file.contains('\n'))?;
        let bytes = memory.document.as_str().as_bytes();
        // Git stores a text in another form than the tree has, depending on attributes and settings.
        let path = format!("--path={file}");
        let mut asked = String::new();
        for (how, form) in [
            (path.as_str(), bytes.to_vec()),
            ("--no-filters", bytes.to_vec()),
            ("--no-filters", with_line_ends(bytes, b"\n")),
        ] {
            let hash = git.ask_with(&["hash-object", "--stdin", how], form, MAX_VERSIONS_BYTES);
            asked.push_str(std::str::from_utf8(&hash.ok()?).ok()?);
        }
        let n_hashes = asked.lines().count();
        asked.extend(PARENTS.iter().map(|parent| format!("{parent}{file}\n")));
        // A branch, a stash, or a commit that was reset may be where the words are from.
        let most = format!("--max-count={MAX_COMMITS}");
        let others =
            ["log", &most, "--all", "--reflog", "--format=%H", "--not", "HEAD", "--", &file];
        let others = git.ask(&others).unwrap_or_default();
        let others = std::str::from_utf8(&others).ok()?;
        asked.extend(others.lines().map(|commit| format!("{commit}:{file}\n")));
        let n_asked = asked.lines().count();
        let found = git.ask_with(&["cat-file", "--batch"], asked.into_bytes(), MAX_VERSIONS_BYTES);
        let found = found.ok()?;
        let mut rest = found.as_slice();
        for number in 0..n_asked {
            let (object, after) = next_object(rest)?;
            rest = after;
            let is_in_the_way =
                object.is_some_and(|text| number < n_hashes || !self.is_trusted_form(memory, text));
            if is_in_the_way {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Whether a version that git has is a trusted one, whatever its line ends in the tree are.
    fn is_trusted_form(&self, memory: &Memory, text: &[u8]) -> bool {
        let forms = [with_line_ends(text, b"\n"), with_line_ends(text, b"\r\n"), text.to_vec()];
        forms.iter().any(|form| self.is_trusted_version(&memory.at.id, form))
    }

    /// The last commit that changed the file of a memory.
    pub fn last_commit(&self, program: &GitProgram, at: &Located) -> Option<LastCommit> {
        let git = program.open(GitFolder::around(self.path().parent()?)?).ok()?;
        let file = self.below(&git, at)?;
        let shape = "--format=%an%x1f%ad";
        let log = git.ask(&["log", "--max-count=1", "--date=short", shape, "--", &file]).ok()?;
        let log = String::from_utf8_lossy(&log).into_owned();
        let (who, when) = log.trim().split_once('\u{1f}')?;
        Some(LastCommit { who: who.to_owned(), when: when.to_owned() })
    }

    /// The newest trusted text of a memory that git still has.
    pub fn known_text(&self, program: &GitProgram, at: &Located) -> Option<String> {
        let git = program.open(GitFolder::around(self.path().parent()?)?).ok()?;
        let file = self.below(&git, at)?;
        let most = format!("--max-count={MAX_COMMITS}");
        let log = git.ask(&["log", &most, "--format=%H", "--", &file]).ok()?;
        let log = String::from_utf8_lossy(&log).into_owned();
        let text_of =
            |commit: &str| git.ask(&["cat-file", "blob", &format!("{commit}:{file}")]).ok();
        let is_known = |text: &Vec<u8>| self.is_trusted_version(&at.id, text);
        let known = log.lines().filter_map(text_of).find(is_known)?;
        String::from_utf8(known).ok()
    }

    /// The file of a memory as git names it.
    fn below(&self, git: &Git, at: &Located) -> Option<String> {
        let file = self.path().join(at.path.as_str());
        Some(file.strip_prefix(git.folder().tree()).ok()?.to_str()?.to_owned())
    }
}

/// A text with these line ends; git writes others into the tree than it keeps.
fn with_line_ends(text: &[u8], end: &[u8]) -> Vec<u8> {
    let lines =
        text.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines.collect::<Vec<_>>().join(end)
}
