//! Whether a change of a memory that Nacre did not make was made here, by the person's own editor, or came with git.
//!
//! A person may edit the files of their store; that must not cost a memory its place. What a pull, a merge or a checkout
//! brought is somebody else's. Git knows the difference: an edit that is not staged yet was made in this tree, and a commit
//! that `git commit` made here stands in the reflog, which no clone and no fetch brings. Where it is not clear, it is not here.

use super::layout::Located;
use super::store::Store;
use crate::base::git::{Git, GitFolder, GitProgram};

/// Who changed the file of a memory last, and when, as git tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastCommit {
    pub who: String,
    pub when: String,
}

/// What git leaves while it puts histories together: the tree then holds what others wrote.
const UNDER_WAY: &[&str] = &["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD"];

/// A longer reflog is not looked through.
const MAX_REFLOG_BYTES: u64 = 16 << 20;

/// How the lines of a reflog begin that `git commit` wrote.
const COMMITTED: &[&str] = &["commit:", "commit (initial):", AMENDED];

/// How one begins where a commit took the place of another, which somebody else may have made.
const AMENDED: &str = "commit (amend):";

impl Store {
    /// Whether the file of a memory, which something else than Nacre has changed, was changed on this machine.
    pub fn is_changed_here(&self, program: &GitProgram, at: &Located) -> bool {
        let Some(root) = self.path().parent() else { return false };
        let Some(folder) = GitFolder::around(root) else {
            // Without git there is nothing that could have brought it.
            return true;
        };
        let Ok(git) = program.open(folder) else { return false };
        let Some(file) = self.below(&git, at) else { return false };
        if UNDER_WAY.iter().any(|name| git.folder().read(name).is_some()) {
            return false;
        }
        let asked = ["--no-optional-locks", "status", "--porcelain", "--ignored", "--", &file];
        let Ok(status) = git.ask(&asked) else { return false };
        match status.get(..2) {
            // Never shown to git.
            Some(b"??" | b"!!") => true,
            // Changed in the tree and not staged.
            Some(b" M") => self.is_based_on_ours(&git, at, &file),
            // As it was committed.
            None => is_committed_here(&git, &file),
            Some(_) => false,
        }
    }

    /// Whether what a file was changed from is the person's. Attributes that a pull brings can make any file look changed, so
    /// what git says of the tree is worth no more than the version that git last put there.
    fn is_based_on_ours(&self, git: &Git, at: &Located, file: &str) -> bool {
        let Ok(base) = git.ask(&["cat-file", "blob", &format!("HEAD:{file}")]) else {
            return false;
        };
        let forms = [with_line_ends(&base, b"\n"), with_line_ends(&base, b"\r\n"), base];
        forms.iter().any(|form| self.is_known_version(&at.id, form)) || is_committed_here(git, file)
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

    /// The text of a memory as this machine last knew it, where git still has it.
    pub fn known_text(&self, program: &GitProgram, at: &Located) -> Option<String> {
        let git = program.open(GitFolder::around(self.path().parent()?)?).ok()?;
        let file = self.below(&git, at)?;
        let most = format!("--max-count={MAX_COMMITS}");
        let log = git.ask(&["log", &most, "--format=%H", "--", &file]).ok()?;
        let log = String::from_utf8_lossy(&log).into_owned();
        let text_of =
            |commit: &str| git.ask(&["cat-file", "blob", &format!("{commit}:{file}")]).ok();
        let is_known = |text: &Vec<u8>| self.is_known_version(&at.id, text);
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

/// Commits that are looked at for a text.
const MAX_COMMITS: usize = 20;

/// Whether `git commit` wrote the last change of a file in this repository.
fn is_committed_here(git: &Git, file: &str) -> bool {
    let Some(reflog) = git.folder().read_bytes("logs/HEAD", MAX_REFLOG_BYTES) else { return false };
    let reflog = String::from_utf8_lossy(&reflog);
    let mut head = "HEAD".to_owned();
    for _ in 0..MAX_COMMITS {
        match how_committed(git, &reflog, (&head, file)) {
            Committed::Here => return true,
            Committed::Elsewhere => return false,
            Committed::AmendOf(before) => head = before,
        }
    }
    false
}

/// Who wrote the last change of a file.
enum Committed {
    Here,
    Elsewhere,
    /// Only the commit around it was made anew here: it says what it said under this head.
    AmendOf(String),
}

fn how_committed(git: &Git, reflog: &str, (head, file): (&str, &str)) -> Committed {
    let Ok(log) = git.ask(&["log", "--max-count=1", "--format=%H", head, "--", file]) else {
        return Committed::Elsewhere;
    };
    let commit = String::from_utf8_lossy(&log).trim().to_owned();
    let made = reflog.lines().find_map(|line| {
        let (heads, what) = line.split_once('\t').unwrap_or((line, ""));
        let (old, new) = heads.split_once(' ')?;
        let new = new.split(' ').next()?;
        (new == commit && COMMITTED.iter().any(|how| what.starts_with(how))).then_some((old, what))
    });
    let Some((old, what)) = made.filter(|_| !commit.is_empty()) else {
        return Committed::Elsewhere;
    };
    let blob = |commit: &str| git.ask(&["rev-parse", "--verify", &format!("{commit}:{file}")]).ok();
    match what.starts_with(AMENDED) && blob(old) == blob(&commit) {
        true => Committed::AmendOf(old.to_owned()),
        false => Committed::Here,
    }
}
