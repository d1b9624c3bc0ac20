//! Reads a memory's history: from git if the store is in a git repository, otherwise from the
//! action lists in the directories of previous runs.

use std::cmp::Reverse;

use nacre_base::bounded::at_most;
use nacre_base::git::{Git, GitFolder, GitProgram, next_object};
use nacre_base::platform;
use nacre_types::MemoryVersion;
use serde::Deserialize;

use crate::prelude::*;

const MAX_ACTIONS_BYTES: u64 = 4 << 20;
const MAX_ACTIONS: usize = 50_000;

/// Combined size limit for all runs. The newest are read first.
const MAX_ALL_BYTES: u64 = 32 << 20;

const MAX_VERSIONS: usize = 200;

#[derive(Default, Deserialize)]
#[serde(default)]
struct RunActions {
    mode: String,
    finished_at: String,
    #[serde(deserialize_with = "at_most::<_, _, MAX_ACTIONS>")]
    actions: Vec<RunAction>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RunAction {
    action: String,
    target: Option<String>,
    reason: String,
}

impl Store {
    pub fn history(&self, program: &GitProgram, at: &Located) -> Result<Vec<MemoryVersion>> {
        let versions = self.commits_of(program, at).unwrap_or_default();
        if versions.is_empty() { self.runs_naming(&at.id, MAX_ALL_BYTES) } else { Ok(versions) }
    }

    fn commits_of(&self, program: &GitProgram, at: &Located) -> Option<Vec<MemoryVersion>> {
        // Use only a `.git` directory above the store, so that a store that looks like a bare
        // repository is not treated as one.
        let git = program.open(GitFolder::around(self.path().parent()?)?).ok()?;
        let file = self.below(&git, at)?;
        let most = format!("--max-count={MAX_VERSIONS}");
        let shape = "--format=%h%x1f%ad%x1f%an%x1f%s";
        let log = git.ask(&["log", "--follow", "--date=iso-strict", &most, shape, "--", &file]);
        let log = String::from_utf8_lossy(&log.ok()?).into_owned();
        Some(log.lines().filter_map(commit_of).collect())
    }

    fn runs_naming(&self, id: &MemoryId, mut n_left: u64) -> Result<Vec<MemoryVersion>> {
        let workspace = RelPath::new("workspace")?;
        let mut versions = Vec::new();
        let mut runs = self.scope().list(&workspace)?;
        // A run's name is `MODE-DATE-TIME-HASH`.
        runs.sort_by_cached_key(|run| {
            Reverse(run.name.split_once('-').map(|(_, at)| at.to_owned()))
        });
        for run in runs {
            let Ok(folder) = workspace.join(&run.name) else { continue };
            if run.kind != EntryKind::Folder {
                continue;
            }
            if versions.len() >= MAX_VERSIONS || n_left == 0 {
                break;
            }
            for file in ["memory_actions.json", "maintain_actions.json"] {
                let bytes = self.scope().read_optional(&folder.join(file)?, MAX_ACTIONS_BYTES)?;
                n_left =
                    n_left.saturating_sub(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64));
                let report =
                    bytes.and_then(|bytes| serde_json::from_slice::<RunActions>(&bytes).ok());
                versions.extend(report.iter().flat_map(|report| actions_on(report, &run.name, id)));
            }
        }
        Ok(versions)
    }
}

fn actions_on(report: &RunActions, run: &str, id: &MemoryId) -> Vec<MemoryVersion> {
    let targeted =
        report.actions.iter().filter(|action| action.target.as_deref() == Some(id.as_str()));
    let version = |action: &RunAction| MemoryVersion {
        commit: None,
        run: Some(run.to_owned()),
        when: report.finished_at.clone(),
        who: report.mode.clone(),
        what: format!("{}: {}", action.action, action.reason).trim_end_matches(": ").to_owned(),
    };
    targeted.map(version).collect()
}

fn commit_of(line: &str) -> Option<MemoryVersion> {
    let mut fields = line.splitn(4, '\u{1f}').map(str::to_owned);
    let hash = fields.next()?;
    let when = fields.next()?;
    let who = fields.next()?;
    Some(MemoryVersion { commit: Some(hash), run: None, when, who, what: fields.next()? })
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastCommit {
    pub who: String,
    pub when: String,
}

#[derive(Clone, Copy, Debug)]
pub struct Edit<'m> {
    pub memory: &'m Memory,
    /// Whether the user made the change. If so, the memory keeps its trust level.
    pub is_users: bool,
}

/// Revision prefixes for versions that an edit may be based on: the last commit, the index, and
/// both sides of a merge.
const PARENTS: &[&str] = &["HEAD:", ":0:", ":2:", ":3:"];

const MAX_VERSIONS_BYTES: u64 = 16 << 20;

/// Maximum number of commits to search for a memory's versions. If there are more, no edit is
/// attributed to the user, because an untrusted history could hide a version among many others.
const MAX_COMMITS: usize = 200;

/// References to commits that may not be on any branch.
const OTHER_HEADS: &[&str] = &["ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"];

const OTHER_SYSTEMS: &[&str] =
    &[".bzr", ".fslckout", ".hg", ".jj", ".pijul", ".sl", ".svn", "CVS", "_darcs"];

/// Git attributes that make the working tree differ from the stored objects.
const CONVERSIONS: &[&str] = &["filter", "working-tree-encoding"];

impl Store {
    pub fn is_users_edit(&self, program: &GitProgram, memory: &Memory) -> bool {
        if self.last_trust(&memory.at.id).is_none_or(Trust::waits) {
            return false;
        }
        let hash = ContentHash::of(memory.document.as_str().as_bytes());
        if self.could_be_programs(&memory.at, hash) {
            return false;
        }
        // If two files have the same ID, the ledger does not show which file was trusted and which
        // was edited.
        if self.places(&memory.at.id).map_or(true, |places| places.len() != 1) {
            return false;
        }
        let file = self.path().join(memory.at.path.as_str());
        // Without version control, only the user can have changed the file. Start the check at the
        // file, because the store itself may be a repository. Only git is supported; under any
        // other version control system, the edit is not attributed to the user.
        if !GitFolder::is_around(&file) {
            let has = |dir: &Path, name: &str| platform::fs::lstat(dir.join(name)).is_ok();
            let mut folders = file.ancestors();
            return !folders.any(|dir| OTHER_SYSTEMS.iter().any(|name| has(dir, name)));
        }
        let folder = GitFolder::around(&file);
        let Some(Ok(git)) = folder.map(|folder| program.open(folder)) else { return false };
        self.is_new_to(&git, memory).unwrap_or(false)
    }

    /// Returns whether this version is unknown to git and based on a trusted version. Returns
    /// `None` if git fails.
    fn is_new_to(&self, git: &Git, memory: &Memory) -> Option<bool> {
        let file = self.below(git, &memory.at).filter(|file| !file.contains('\n'))?;
        if is_converted(git, &file)? {
            return Some(false);
        }
        let bytes = memory.document.as_str().as_bytes();
        // Because of attributes and settings, the text that git stores can differ from the working
        // tree.
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
        let n_parents = asked.lines().count();
        let commits = commits_of(git, &file)?;
        if commits.len() >= MAX_COMMITS {
            return Some(false);
        }
        asked.extend(commits.iter().map(|commit| format!("{commit}:{file}\n")));
        let n_asked = asked.lines().count();
        let found = git.ask_with(&["cat-file", "--batch"], asked.into_bytes(), MAX_VERSIONS_BYTES);
        let found = found.ok()?;
        let mut rest = found.as_slice();
        let lines = count_lines(bytes);
        let (mut trusted, mut untrusted) = (usize::MAX, usize::MAX);
        for number in 0..n_asked {
            let (object, after) = next_object(rest)?;
            rest = after;
            let Some(text) = object else { continue };
            if number < n_hashes {
                return Some(false);
            }
            let nearest = match self.is_trusted_version(&memory.at.id, text) {
                true => &mut trusted,
                false if number < n_parents => return Some(false),
                false => &mut untrusted,
            };
            *nearest = (*nearest).min(distance(&lines, &count_lines(text)));
        }
        Some(untrusted == usize::MAX || trusted < untrusted)
    }

    pub fn last_commit(&self, program: &GitProgram, at: &Located) -> Option<LastCommit> {
        let git = program.open(GitFolder::around(self.path().parent()?)?).ok()?;
        let file = self.below(&git, at)?;
        let shape = "--format=%an%x1f%ad";
        let log = git.ask(&["log", "--max-count=1", "--date=short", shape, "--", &file]).ok()?;
        let log = String::from_utf8_lossy(&log).into_owned();
        let (who, when) = log.trim().split_once('\u{1f}')?;
        Some(LastCommit { who: who.to_owned(), when: when.to_owned() })
    }

    pub fn find_known_text(&self, program: &GitProgram, at: &Located) -> Option<String> {
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

    fn below(&self, git: &Git, at: &Located) -> Option<String> {
        let file = self.path().join(at.path.as_str());
        Some(file.strip_prefix(git.folder().tree()).ok()?.to_str()?.to_owned())
    }
}

fn is_converted(git: &Git, file: &str) -> Option<bool> {
    let mut asked = vec!["check-attr", "-z"];
    asked.extend(CONVERSIONS);
    asked.extend(["--", file]);
    let answer = git.ask(&asked).ok()?;
    let fields: Vec<&[u8]> = answer.split(|byte| *byte == 0).collect();
    let is_set = |field: &[&[u8]]| !matches!(field[2], b"unspecified" | b"unset");
    Some(fields.chunks_exact(3).any(is_set))
}

/// Returns every commit that contains a version of the file, including those in stashes and
/// reflogs.
fn commits_of(git: &Git, file: &str) -> Option<Vec<String>> {
    let most = format!("--max-count={MAX_COMMITS}");
    let mut asked = vec!["log", "--full-history", "--ignore-missing", "--format=%H", &most];
    asked.extend(["--all", "--reflog"]);
    asked.extend(OTHER_HEADS);
    let fetched = git.folder().read("FETCH_HEAD").unwrap_or_default();
    let is_hash = |word: &&str| word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let fetched = fetched.lines().filter_map(|line| line.split_whitespace().next());
    asked.extend(fetched.filter(is_hash));
    asked.extend(["--", file]);
    let log = git.ask(&asked).ok()?;
    Some(std::str::from_utf8(&log).ok()?.lines().map(str::to_owned).collect())
}

/// Counts each distinct line. Line endings and `$Id$` keywords are ignored, because git may change
/// them in the working tree.
fn count_lines(text: &[u8]) -> BTreeMap<Vec<u8>, usize> {
    let mut counts = BTreeMap::new();
    for line in text.split(|byte| *byte == b'\n') {
        let mut line: Vec<u8> = line.iter().copied().filter(|byte| *byte != b'\r').collect();
        if let Some(start) = line.windows(3).position(|part| part == b"$Id") {
            let end = line[start + 3..].iter().position(|byte| *byte == b'$');
            line.drain(start..end.map_or(line.len(), |end| start + 3 + end + 1));
        }
        *counts.entry(line).or_default() += 1;
    }
    counts
}

fn distance(one: &BTreeMap<Vec<u8>, usize>, other: &BTreeMap<Vec<u8>, usize>) -> usize {
    let missing = |from: &BTreeMap<Vec<u8>, usize>, line: &[u8], n: usize| {
        n.saturating_sub(from.get(line).copied().unwrap_or_default())
    };
    let only = |these: &BTreeMap<Vec<u8>, usize>, those: &BTreeMap<Vec<u8>, usize>| -> usize {
        these.iter().map(|(line, n)| missing(those, line, *n)).sum()
    };
    only(one, other) + only(other, one)
}

pub(super) fn with_line_ends(text: &[u8], end: &[u8]) -> Vec<u8> {
    let lines =
        text.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines.collect::<Vec<_>>().join(end)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests create their own runs")]

    use std::fs;

    use super::*;
    use crate::Rules;
    use nacre_base::fs::{Access, WriteScope};

    #[test]
    fn the_runs_that_are_read_are_bounded_in_sum_newest_first() {
        let folder = tempfile::tempdir().unwrap();
        let id: MemoryId = "20260101-a".parse().unwrap();
        let report = format!(r#"{{"mode":"sync","actions":[{{"action":"add","target":"{id}"}}]}}"#);
        let run = |n: usize| {
            let mode = if n.is_multiple_of(2) { "sync" } else { "maintain" };
            format!("{mode}-20260101-00000{n}-aaaaaaaa")
        };
        for n in 0..5 {
            let run = folder.path().join("workspace").join(run(n));
            fs::create_dir_all(&run).unwrap();
            fs::write(run.join("memory_actions.json"), &report).unwrap();
        }
        let scope = WriteScope::open(folder.path(), Access::Private).unwrap();
        let store = Store::new(scope, Rules::default());
        let runs = |n_left: usize| {
            let versions = store.runs_naming(&id, n_left as u64).unwrap();
            versions.into_iter().map(|version| version.run.unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(runs(2 * report.len()), [run(4), run(3)]);
        assert_eq!(runs(1 << 20).len(), 5);
    }

    #[test]
    fn a_report_of_more_actions_than_a_run_has_is_not_read() {
        let report = |n: usize| format!(r#"{{"actions":[{}]}}"#, vec!["{}"; n].join(","));
        let read = |n: usize| serde_json::from_str::<RunActions>(&report(n)).is_ok();
        assert_eq!((read(MAX_ACTIONS), read(MAX_ACTIONS + 1)), (true, false));
    }
}
