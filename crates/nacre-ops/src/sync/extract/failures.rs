//! Finds commands that failed and later succeeded with a different variable, version or directory.
//! Failures fixed by edits are ignored, because the fix is in the code.

use std::collections::{HashMap, VecDeque};
use std::sync::LazyLock;

use nacre_traces::transcript::TranscriptEvent;
use regex::Regex;

use super::cues::{content_words, fold, pattern};
use super::said::{Sentence, split_message};

const MAX_OPEN: usize = 64;
const MAX_DONE: usize = 256;
const MAX_FAILED: usize = 12;
const MAX_LINE: usize = 240;
const MIN_SHARED: usize = 2;

#[derive(Clone, Debug)]
struct Failed {
    run: Run,
    error: String,
    sequence: u64,
    n_edits: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    full: String,
    /// The command without its setup steps.
    core: String,
    /// The steps before the command: directory changes, variables and preparation.
    setup: String,
}

#[derive(Clone, Debug)]
pub(super) struct FixedFailure {
    pub(super) failed: String,
    pub(super) worked: String,
    pub(super) error: String,
    pub(super) failed_at: u64,
    pub(super) worked_at: u64,
    /// The agent's explanation and its position in the session.
    pub(super) why: Option<(String, u64)>,
    setup: String,
}

#[derive(Debug, Default)]
pub(super) struct Failures {
    open: HashMap<String, (Run, u64)>,
    failed: VecDeque<Failed>,
    pub(super) n_edits: u64,
    pending: Option<FixedFailure>,
    done: Vec<FixedFailure>,
    n_lost: usize,
}

impl Failures {
    pub(super) fn ran(&mut self, call: &str, command: &str, sequence: u64) {
        if self.open.len() == MAX_OPEN {
            self.open.clear();
        }
        if let Some(run) = Run::of(command) {
            self.open.insert(call.to_owned(), (run, sequence));
        }
    }

    pub(super) fn take_result(&mut self, event: &TranscriptEvent) {
        let call = event.call.as_ref().map(|call| call.id.as_str()).unwrap_or_default();
        let Some((run, sequence)) = self.open.remove(call) else { return };
        if event.is_error {
            if self.failed.len() == MAX_FAILED {
                self.failed.pop_front();
            }
            let (error, sequence, n_edits) = (error_line(event), event.sequence, self.n_edits);
            self.failed.push_back(Failed { run, error, sequence, n_edits });
            return;
        }
        let found = self.failed.iter().rposition(|failed| failed.run.core == run.core);
        let Some(failed) = found.and_then(|at| self.failed.remove(at)) else { return };
        // Ignore errors caused by a sandbox. If there was an edit in between, the fix is in the
        // code.
        let is_other_way = failed.run.setup != run.setup && failed.n_edits == self.n_edits;
        if !is_other_way || failed.error.is_empty() || failed.error.contains("sandbox") {
            return;
        }
        self.settle();
        self.pending = Some(FixedFailure {
            failed: failed.run.full,
            worked: run.full,
            error: failed.error,
            failed_at: failed.sequence,
            worked_at: sequence,
            why: None,
            setup: run.setup,
        });
    }

    pub(super) fn note_explanation(&mut self, text: &str, sequence: u64) {
        if let Some(pending) = &mut self.pending {
            pending.why = explanation(text, pending).map(|why| (why, sequence));
        }
        self.settle();
    }

    fn settle(&mut self) {
        let Some(pending) = self.pending.take() else { return };
        let is_found = pending.why.is_some() || pending.has_variable();
        if is_found && self.done.len() < MAX_DONE {
            self.done.push(pending);
        } else if is_found {
            self.n_lost += 1;
        }
    }

    pub(super) fn finish(mut self) -> (Vec<FixedFailure>, usize) {
        self.settle();
        (self.done, self.n_lost)
    }
}

impl FixedFailure {
    pub(super) fn has_variable(&self) -> bool {
        self.setup.split_whitespace().any(is_assignment)
            && self.worked.ends_with(self.failed.as_str())
    }
}

impl Run {
    /// Parses a command. Returns `None` for commands that only inspect files, because they do not
    /// show how to work on the project.
    fn of(command: &str) -> Option<Self> {
        const LOOKS: &[&str] = &[
            "cat", "ls", "grep", "rg", "sed", "find", "cd", "echo", "head", "tail", "which", "awk",
            "wc", "git", "pwd", "curl", "test", "rm", "mkdir", "cp", "mv", "sleep", "kill", "ps",
            "tree", "stat", "file", "diff", "jq", "gh", "for", "if", "while", "nl", "sort",
            "touch", "chmod", "export", "source",
        ];
        let full = command.trim();
        if full.contains('\n') || full.len() > MAX_LINE {
            return None;
        }
        let last = full.rsplit("&&").next().unwrap_or(full).trim_start();
        let prepared = full[..full.len() - last.len()].trim();
        let end = [" | ", " 2>", " > "].iter().filter_map(|mark| last.find(mark)).min();
        let words: Vec<&str> = last[..end.unwrap_or(last.len())].split_whitespace().collect();
        let n_assigned = words.iter().take_while(|word| is_assignment(word)).count();
        let (assigned, run) = words.split_at(n_assigned);
        if LOOKS.contains(run.first()?) {
            return None;
        }
        let core = run.join(" ");
        let setup = format!("{prepared} {}", assigned.join(" ")).trim().to_owned();
        Some(Self { full: full.to_owned(), core, setup })
    }
}

/// Returns whether a command does work on the project, rather than only inspecting it.
pub(crate) fn is_build_step(command: &str) -> bool {
    Run::of(command).is_some()
}

/// Returns whether the word has the form `NAME=value`.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    })
}

static SIGN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        "error|fail|cannot|not found|no module|refused|denied|forbidden|incompatible|no matching|\
         expected|unsupported|missing",
    )
});

fn error_line(event: &TranscriptEvent) -> String {
    let parts = [event.text.head(), event.text.tail()];
    let lines = || {
        parts.iter().flat_map(|part| part.lines()).map(str::trim).filter(|line| !line.is_empty())
    };
    let says = |line: &&str| {
        let folded = fold(line);
        SIGN.is_match(&folded) && !folded.starts_with("exit code")
    };
    let line = lines().find(says).or_else(|| lines().next()).unwrap_or_default();
    line[..line.floor_char_boundary(MAX_LINE)].to_owned()
}

fn explanation(text: &str, mended: &FixedFailure) -> Option<String> {
    let seen = fold(&format!("{} {} {}", mended.setup, mended.failed, mended.error));
    let seen: Vec<&str> = pieces(&seen).collect();
    let n_shared = |sentence: &Sentence<'_>| {
        let folded = fold(sentence.text);
        content_words(&folded).flat_map(pieces).filter(|word| seen.contains(word)).count()
    };
    let message = split_message(text);
    let sentences = message.sentences.iter();
    let best = sentences
        .filter(|sentence| !sentence.is_question() && sentence.text.len() <= MAX_LINE)
        .max_by_key(|sentence| n_shared(sentence))?;
    (n_shared(best) >= MIN_SHARED).then(|| best.text.to_owned())
}

fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|piece| piece.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_told_from_what_prepares_it() {
        let parts = |command: &str| Run::of(command).map(|run| (run.core, run.setup));
        let some = |core: &str, setup: &str| Some((core.to_owned(), setup.to_owned()));
        assert_eq!(parts("pytest -q"), some("pytest -q", ""));
        assert_eq!(parts("TZ=UTC A_B=1 pytest -q"), some("pytest -q", "TZ=UTC A_B=1"));
        assert_eq!(parts("cd web && yarn install"), some("yarn install", "cd web &&"));
        assert_eq!(
            parts("nvm use 22 && npm run dev 2>&1 | tail"),
            some("npm run dev", "nvm use 22 &&")
        );
        assert_eq!(parts("cat a.txt"), None);
        assert_eq!(parts("a\nb"), None);
    }
}
