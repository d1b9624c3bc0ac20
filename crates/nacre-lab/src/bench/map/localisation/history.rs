//! Selects commits as tasks. Each commit's subject is the task, and its changed files are the
//! expected answer.
//!
//! Only realistic tasks are selected: version bumps, reverts and typo fixes do not describe code,
//! the subject of a large change is too general, and files that the commit adds do not exist in the
//! older state.

use std::collections::BTreeSet;

use nacre_base::git::{Git, GitFault};
use nacre_map::languages::Language;
use nacre_map::slices::is_own_source;

/// Maximum number of commits to read. If git's output is too long, the next smaller number is
/// tried.
const MAX_COMMITS: [&str; 3] = ["--max-count=4000", "--max-count=400", "--max-count=40"];

const MAX_LOG_BYTES: u64 = 32 << 20;

const MAX_FILES: usize = 8;

const MIN_WORDS: usize = 3;

const MAX_SUBJECT_CHARS: usize = 300;

/// Marks the start of a commit in the log. File entries begin with their status, so a path cannot
/// be mistaken for this marker.
const MARK: char = '\u{1}';

/// Subjects that start with one of these words, after an optional `area:` prefix, do not describe
/// code.
const EMPTY_STARTS: &[&str] =
    &["backport", "bump", "fixup", "merge", "merged", "revert", "reverts", "squash", "wip"];

/// Subjects that contain one of these words do not describe code.
const EMPTY_WORDS: &[&str] = &[
    "changelog",
    "clippy",
    "fmt",
    "formatting",
    "gofmt",
    "lint",
    "prettier",
    "reformat",
    "rustfmt",
    "typo",
    "typos",
    "whitespace",
];

/// Words that indicate a release commit if the subject also contains a version number.
const VERSION_WORDS: &[&str] = &["prepare", "publish", "release", "upgrade", "version"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PastTask {
    pub(super) commit: String,
    pub(super) parent: String,
    pub(super) subject: String,
    /// The code files that the commit changed, except those that it added.
    pub(super) files: BTreeSet<String>,
}

/// Returns the most recent suitable commits, newest first. Children precede their parents, so the
/// parent of the last commit returned is older than all of them.
pub(super) fn recent_tasks(git: &Git, n_tasks: usize) -> Result<Vec<PastTask>, GitFault> {
    let mut log = Err(GitFault::TooLong { limit: MAX_LOG_BYTES });
    for most in MAX_COMMITS {
        log = git.ask_within(&log_args(most), MAX_LOG_BYTES);
        if !matches!(log, Err(GitFault::TooLong { .. })) {
            break;
        }
    }
    let mut tasks = tasks_of_log(&String::from_utf8_lossy(&log?));
    tasks.truncate(n_tasks);
    Ok(tasks)
}

fn log_args(most: &str) -> [&str; 11] {
    [
        "log",
        most,
        "--date-order",
        "--no-merges",
        "--min-parents=1",
        "--no-renames",
        "--encoding=UTF-8",
        "--format=%x01%H%x00%P%x00%s",
        "--name-status",
        "-z",
        "HEAD",
    ]
}

fn tasks_of_log(log: &str) -> Vec<PastTask> {
    let mut tasks = Vec::new();
    let mut words = log.split('\0').peekable();
    while let Some(word) = words.next() {
        let Some(commit) = word.strip_prefix(MARK) else { continue };
        let (parent, subject) =
            (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mut files = BTreeSet::new();
        while let Some(status) = words.next_if(|word| !word.starts_with(MARK)) {
            let path = words.next().unwrap_or_default();
            let is_change = matches!(status.trim_start(), "M" | "D");
            if is_change && files.len() <= MAX_FILES && is_code(path) {
                files.insert(path.to_owned());
            }
        }
        let subject = shorten_subject(subject);
        if (1..=MAX_FILES).contains(&files.len()) && says_something(&subject) {
            let (commit, parent) = (commit.to_owned(), parent.to_owned());
            tasks.push(PastTask { commit, parent, subject, files });
        }
    }
    tasks
}

fn is_code(path: &str) -> bool {
    Language::of_path(path).is_some() && is_own_source(path)
}

/// Removes the pull request number from the end of the subject.
fn shorten_subject(subject: &str) -> String {
    let subject: String = subject.chars().take(MAX_SUBJECT_CHARS).collect();
    let subject = subject.trim();
    let bare = subject.rsplit_once(" (#").filter(|(_, rest)| {
        rest.strip_suffix(')').is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()))
    });
    bare.map_or(subject, |(bare, _)| bare).to_owned()
}

fn says_something(subject: &str) -> bool {
    let lower = subject.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric() && c != '.').filter(|w| 1 < w.len()).collect();
    let said = lower.split_once(": ").map_or(lower.as_str(), |(_, said)| said);
    let first = said.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let has_any = |of: &[&str]| words.iter().any(|word| of.contains(word));
    let is_version = |word: &&str| {
        let number = word.strip_prefix('v').unwrap_or(word);
        number.contains('.') && number.starts_with(|c: char| c.is_ascii_digit())
    };
    let is_of_version = has_any(VERSION_WORDS) && words.iter().any(is_version);
    let is_empty = EMPTY_STARTS.contains(&first) || has_any(EMPTY_WORDS) || is_of_version;
    MIN_WORDS <= words.len() && !is_empty
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_that_say_nothing_about_the_code_are_no_tasks() {
        for (subject, expected) in [
            ("sync: wake every waiting receiver", true),
            ("Release the lock when the writer is dropped", true),
            ("fix(parser): accept a trailing comma", true),
            ("fix bug", false),
            ("Bump serde from one to another", false),
            ("deps: bump serde from 1 to 2", false),
            ("chore: prepare tokio v1.40.0", false),
            ("Release version 2.0.1 at last", false),
            ("Fix typo in the docs of open", false),
            ("Revert \"wake every waiting receiver\"", false),
            ("Run rustfmt over all files", false),
            ("...", false),
            ("", false),
        ] {
            assert_eq!(says_something(subject), expected, "{subject}");
        }
    }

    #[test]
    fn a_subject_loses_the_number_of_its_pull_request_and_what_is_too_much() {
        assert_eq!(shorten_subject("wake all receivers (#123)"), "wake all receivers");
        assert_eq!(shorten_subject("wake all receivers (again)"), "wake all receivers (again)");
        assert_eq!(shorten_subject(&"é".repeat(1_000)).chars().count(), MAX_SUBJECT_CHARS);
    }

    #[test]
    fn tasks_change_a_few_files_of_code_that_were_there() {
        let many: String = (0..9).map(|n| format!("M\0src/f{n}.rs\0")).collect();
        let log = format!(
            "\u{1}a\0p\0wake all the receivers\0\nM\0src/a.rs\0A\0src/new.rs\0D\0src/b.rs\0M\0tests/a.rs\0M\0README.md\0\
             \u{1}b\0p\0wake all the writers\0\n{many}\
             \u{1}c\0p\0wake nobody at all\0\nA\0src/c.rs\0\
             \u{1}d\0p\0wake the hidden ones\0\nM\0\u{1}x.rs\0\
             \u{1}e\0p\0nothing was changed here\0\
             \u{1}f\0p\0wake"
        );
        let tasks = tasks_of_log(&log);
        let told: Vec<(&str, Vec<&str>)> = tasks
            .iter()
            .map(|task| (task.commit.as_str(), task.files.iter().map(String::as_str).collect()))
            .collect();
        assert_eq!(told, [("a", vec!["src/a.rs", "src/b.rs"]), ("d", vec!["\u{1}x.rs"])]);
    }
}
