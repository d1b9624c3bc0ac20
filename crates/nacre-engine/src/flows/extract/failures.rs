//! Links what failed to what worked: the same command, first refused by the machine, then run another way.
//!
//! A failure whose fix went into the code is the code's story. What stays is a command that works here only with a
//! variable, a version or from another folder, and the agent's own sentence that says why.

use std::collections::{HashMap, VecDeque};

use nacre_core::transcript::Event;

use super::cues::fold;
use super::reading::content_words;
use super::said::{Sentence, said};

/// Calls that wait for their result.
const MAX_OPEN: usize = 64;
/// What is found in one session; what follows is not held.
const MAX_DONE: usize = 256;
/// Failures that wait for what works.
const MAX_FAILED: usize = 12;
/// How many of the agent's messages may pass before it explains itself.
const PATIENCE: u8 = 2;
const MAX_LINE: usize = 240;

/// A command that did not work.
#[derive(Clone, Debug)]
struct Failed {
    run: Run,
    error: String,
    sequence: u64,
    /// Edits seen before it.
    n_edits: u64,
}

/// A command, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    full: String,
    /// What is run, without folders, variables and preparations.
    core: String,
    /// Folders, variables and preparations.
    setup: String,
}

/// A way that failed and a way that works.
#[derive(Clone, Debug)]
pub(super) struct Mended {
    pub(super) failed: String,
    pub(super) worked: String,
    /// The line of output that says what was wrong.
    pub(super) error: String,
    pub(super) failed_at: u64,
    pub(super) worked_at: u64,
    /// Why, in the agent's words, and where it said so.
    pub(super) why: Option<(String, u64)>,
    setup: String,
    /// The same was run in another way, and nothing was edited in between.
    is_other_way: bool,
    patience: u8,
}

/// Follows the commands of a session.
#[derive(Debug, Default)]
pub(super) struct Failures {
    open: HashMap<String, (Run, u64)>,
    failed: VecDeque<Failed>,
    n_edits: u64,
    pending: Option<Mended>,
    done: Vec<Mended>,
    /// How many more there were.
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

    pub(super) fn edited(&mut self) {
        self.n_edits += 1;
    }

    pub(super) fn ended(&mut self, event: &Event) {
        let call = event.call.as_ref().map(|call| call.id.as_str()).unwrap_or_default();
        let Some((run, sequence)) = self.open.remove(call) else { return };
        if event.is_error {
            if self.failed.len() == MAX_FAILED {
                self.failed.pop_front();
            }
            let error = error_line(event);
            self.failed.push_back(Failed {
                run,
                error,
                sequence: event.sequence,
                n_edits: self.n_edits,
            });
            return;
        }
        self.worked(&run, sequence);
    }

    fn worked(&mut self, run: &Run, sequence: u64) {
        let found = self.failed.iter().rposition(|failed| failed.run.core == run.core);
        let Some(failed) = found.and_then(|at| self.failed.remove(at)) else { return };
        // What a sandbox refused says nothing of the command.
        if failed.error.is_empty() || failed.error.contains("sandbox") {
            return;
        }
        let is_other_way = failed.run.setup != run.setup && failed.n_edits == self.n_edits;
        self.settle();
        self.pending = Some(Mended {
            failed: failed.run.full,
            worked: run.full.clone(),
            error: failed.error,
            failed_at: failed.sequence,
            worked_at: sequence,
            why: None,
            setup: run.setup.clone(),
            is_other_way,
            patience: PATIENCE,
        });
    }

    /// The agent spoke: does it say why the other way works?
    pub(super) fn explained(&mut self, text: &str, sequence: u64) {
        let Some(pending) = &mut self.pending else { return };
        if let Some(why) = explanation(text, pending) {
            pending.why = Some((why, sequence));
            self.settle();
        } else if pending.patience == 0 {
            self.settle();
        } else {
            pending.patience -= 1;
        }
    }

    fn settle(&mut self) {
        let Some(pending) = self.pending.take() else { return };
        let is_found = pending.why.is_some() || (pending.is_other_way && pending.has_variable());
        if is_found && self.done.len() < MAX_DONE {
            self.done.push(pending);
        } else if is_found {
            self.n_lost += 1;
        }
    }

    /// All that was found, and how much more there was.
    pub(super) fn finish(mut self) -> (Vec<Mended>, usize) {
        self.settle();
        (self.done, self.n_lost)
    }
}

impl Mended {
    /// Whether it is clear what made the difference. Where files were edited in between, it may have been a bug of the
    /// moment.
    pub(super) fn is_sure(&self) -> bool {
        self.is_other_way
    }

    /// Whether it is a variable that makes the difference.
    fn has_variable(&self) -> bool {
        self.setup.split_whitespace().any(is_assignment)
            && self.worked.ends_with(self.failed.as_str())
    }
}

impl Run {
    /// Commands that look around are not how a project is run.
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

/// `NAME=value` before a command.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    })
}

/// The line that says what went wrong, as it stands in the output.
fn error_line(event: &Event) -> String {
    const SIGNS: &[&str] = &[
        "error",
        "fail",
        "cannot",
        "not found",
        "no module",
        "refused",
        "denied",
        "forbidden",
        "incompatible",
        "no matching",
        "expected",
        "unsupported",
        "missing",
    ];
    let parts = [event.text.head(), event.text.tail()];
    let lines = || {
        parts.iter().flat_map(|part| part.lines()).map(str::trim).filter(|line| !line.is_empty())
    };
    let says = |line: &&str| {
        let folded = fold(line);
        SIGNS.iter().any(|sign| folded.contains(sign)) && !folded.starts_with("exit code")
    };
    let line = lines().find(says).or_else(|| lines().next()).unwrap_or_default();
    line[..line.floor_char_boundary(MAX_LINE)].to_owned()
}

/// The sentence that says why the other way works.
fn explanation(text: &str, mended: &Mended) -> Option<String> {
    const CAUSES: &[&str] = &[
        "because",
        "needs",
        "need",
        "requires",
        "require",
        "must",
        "without",
        "only works",
        "assume",
        "so run",
        "refuse",
        "has no",
        "have no",
        "unless",
    ];
    /// What is said where files were edited in between must say outright why.
    const CLEAR: &[&str] = &["because", "requires", "needs ", "must ", "only works"];
    let told = format!("{} {} {}", fold(&mended.setup), fold(&mended.failed), fold(&mended.error));
    let told: Vec<&str> =
        told.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 1).collect();
    let weight = |sentence: &Sentence<'_>| {
        let folded = fold(sentence.text);
        let is_clear = mended.is_other_way || CLEAR.iter().any(|cause| folded.contains(*cause));
        let n_causes = CAUSES.iter().filter(|cause| is_clear && folded.contains(**cause)).count();
        let n_shared = content_words(&folded)
            .flat_map(|word| word.split(|c: char| !c.is_alphanumeric()))
            .filter(|word| word.len() > 1 && told.contains(word))
            .count();
        if n_causes > 0 && n_shared > 0 && sentence.text.len() <= MAX_LINE + 60 {
            n_causes * 2 + n_shared
        } else {
            0
        }
    };
    let message = said(text);
    let best = message
        .sentences
        .iter()
        .filter(|sentence| !sentence.is_question())
        .max_by_key(|sentence| weight(sentence))?;
    (weight(best) > 0).then(|| best.text.to_owned())
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
