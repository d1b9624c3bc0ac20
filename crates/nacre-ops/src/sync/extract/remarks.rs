//! Collects the sentences that become a claim if another session repeats them: what the user asked
//! for, what the agent found out, and why commands failed.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use nacre_base::text::{is_stop_word, stem};
use nacre_memory::{Basis, Claim, LearningKind, Speaker};
use nacre_traces::transcript::{SessionFacts, TranscriptEvent};
use regex::Regex;

use super::checks::{Repeated, hash, plain};
use super::cues::{MOMENT, PASSING, QUESTION, fold, named};
use super::failures::is_build_step;
use super::proposal::Spoken;
use super::requests::{MOMENTARY, Request, bare_claim, is_fault, request};
use super::said::{Message, split_message};
use crate::sync::candidate::{Form, Remark};

const MAX_REMARKS: usize = 400;
const MAX_COMMANDS: usize = 64;
/// Maximum number of words of a command that name it, such as `npm run lint`.
const MAX_NAME_WORDS: usize = 3;
const MAX_BYTES: usize = 280;
/// Minimum number of terms. Shorter sentences are often equal by chance.
const MIN_TERMS: usize = 3;

/// The command of a report that the user pasted.
pub(crate) const A_CHECK: &str = "A check";

#[derive(Debug, Default)]
pub(super) struct RemarkList {
    remarks: Vec<(Remark, Spoken)>,
    /// The commands that are running, by the id of the call.
    commands: HashMap<String, String>,
}

static ASKED: LazyLock<Regex> = LazyLock::new(|| named("asked"));
static POINTING: LazyLock<Regex> = LazyLock::new(|| named("pointing"));
static FINDING: LazyLock<Regex> = LazyLock::new(|| named("finding"));
static NARRATION: LazyLock<Regex> = LazyLock::new(|| named("narration"));
static DIAGNOSTIC: LazyLock<Regex> = LazyLock::new(|| named("diagnostic"));
static TAG: LazyLock<Regex> = LazyLock::new(|| named("tag"));
static IDENTIFIER: LazyLock<Regex> = LazyLock::new(|| named("identifier"));

impl RemarkList {
    pub(super) fn take_person(
        &mut self,
        event: &TranscriptEvent,
        said: &Message<'_>,
        is_own: impl Fn(&str) -> bool,
    ) {
        self.take_reports(event, A_CHECK);
        let is_alone = said.sentences.len() < 2;
        let message = if is_alone { 0 } else { hash(&plain(event.text.head())) };
        let sentences = said.sentences.iter().filter(|_| !said.is_document);
        for sentence in sentences.filter(|sentence| is_own(sentence.text)) {
            if let Some(remark) = wish(sentence.text) {
                let spoken = Spoken::of(sentence.text, event);
                self.push(Remark { message, ..remark }, spoken);
            }
        }
    }

    pub(super) fn take_agent(&mut self, event: &TranscriptEvent) {
        for sentence in split_message(event.text.head()).sentences {
            let claim = without_markup(sentence.text);
            let folded = fold(&claim);
            let is_finding = FINDING.is_match(&folded) && !NARRATION.is_match(&folded);
            if !is_finding || sentence.is_question() || terms(&claim).len() <= MIN_TERMS {
                continue;
            }
            let spoken = Spoken::of(sentence.text, event);
            let is_open = POINTING.is_match(&folded) || claim.ends_with(':');
            let form = if is_open { Form::Fragment } else { Form::Statement };
            self.push(Remark::new(LearningKind::Pitfall, Basis::Found, form, &claim), spoken);
        }
    }

    pub(super) fn ran(&mut self, call: &str, command: &str) {
        if self.commands.len() == MAX_COMMANDS {
            self.commands.clear();
        }
        let last = command.rsplit("&&").next().unwrap_or_default().trim_start();
        // What other commands print is the text of files, for example.
        if !is_build_step(last) && !last.starts_with("gh ") {
            return;
        }
        let is_name =
            |word: &&str| word.starts_with(char::is_alphanumeric) && !word.contains(['/', '>']);
        let name = last.split_whitespace().take_while(is_name).take(MAX_NAME_WORDS);
        let name = name.collect::<Vec<&str>>().join(" ");
        self.commands.insert(call.to_owned(), name);
    }

    pub(super) fn take_result(&mut self, event: &TranscriptEvent) {
        let call = event.call.as_ref().map(|call| call.id.as_str()).unwrap_or_default();
        if let Some(command) = self.commands.remove(call) {
            self.take_reports(event, &format!("`{command}`"));
        }
    }

    /// Takes the lines that name a violated rule or refuse an argument. Even if the user pasted
    /// them, they are a tool's words.
    fn take_reports(&mut self, event: &TranscriptEvent, command: &str) {
        for line in event.text.head().lines().chain(event.text.tail().lines()) {
            let line = line.trim();
            let Some(found) = DIAGNOSTIC.captures(line) else { continue };
            let part = |name: &str| found.name(name).map_or("", |part| part.as_str());
            let what = format!("{}{} {}", part("what"), part("refused"), part("rule"));
            let claim = IDENTIFIER.replace_all(what.trim(), "…");
            let claim = claim.trim_start_matches("…: ");
            let remark = Remark::new(LearningKind::Pitfall, Basis::Found, Form::Report, claim);
            let spoken = Spoken::at(Speaker::Tool, line, event.sequence, event.timestamp);
            self.push(Remark { command: Some(command.to_owned()), ..remark }, spoken);
        }
    }

    fn push(&mut self, remark: Remark, spoken: Spoken) {
        let is_known = self.remarks.iter().any(|(known, _)| known.claim == remark.claim);
        let is_long = spoken.text.len() > MAX_BYTES;
        let is_full = self.remarks.len() == MAX_REMARKS;
        if !is_known && !is_long && !is_full && terms(&remark.claim).len() >= MIN_TERMS {
            self.remarks.push((remark, spoken));
        }
    }

    /// Returns the remarks, except those that were undone and what the agent read in tool output.
    pub(super) fn finish(self, facts: &SessionFacts, repeated: &Repeated) -> Vec<Remark> {
        let is_undone = |spoken: &Spoken| {
            facts.undone.iter().any(|gone| (gone.from..=gone.to).contains(&spoken.sequence))
        };
        let kept = self.remarks.into_iter().filter(|(_, spoken)| !is_undone(spoken));
        let quoted =
            kept.map(|(remark, spoken)| Remark { quotes: vec![spoken.quote(&facts.id)], ..remark });
        quoted.filter(|remark| !repeated.is_echo(&remark.quotes[0])).collect()
    }
}

impl Remark {
    fn new(kind: LearningKind, basis: Basis, form: Form, claim: &str) -> Self {
        let (claim, command, quotes) = (claim.to_owned(), None, Vec::new());
        Self { kind, basis, form, claim, command, message: 0, quotes }
    }
}

/// Returns what the user wants or states, or `None` if the sentence is about the current task.
fn wish(sentence: &str) -> Option<Remark> {
    let sentence = sentence.trim_start_matches(['-', '*', '•', ' ']);
    if let Some(Ok(Request { claim: Claim::Learning(kind), .. })) = request(sentence, true) {
        return Some(Remark::new(kind, Basis::Stated, Form::Rule, bare_claim(sentence)));
    }
    let sentence = TAG.find(sentence).map_or(sentence, |tag| &sentence[..tag.start()]);
    let bare = bare_claim(sentence);
    let folded = fold(bare);
    let asked = ASKED.find(&folded).map(|asked| asked.end());
    let asked = asked.filter(|asked| bare.is_char_boundary(*asked));
    let claim = bare[asked.unwrap_or(0)..].trim_end_matches(['?', ' ', '.', '!']);
    let folded = fold(claim);
    let is_question = asked.is_none() && (sentence.ends_with('?') || QUESTION.opens(&folded));
    let is_passing = PASSING.is_in(&folded) || MOMENT.is_in(&folded) || is_fault(&folded);
    if is_question || is_passing || MOMENTARY.is_match(&folded) {
        return None;
    }
    let form = match asked {
        Some(_) => Form::Request,
        None if POINTING.is_match(&folded) => Form::Fragment,
        None => Form::Statement,
    };
    Some(Remark::new(LearningKind::Preference, Basis::Stated, form, claim))
}

/// Returns the terms of a claim. The parts of an identifier are not terms, because two remarks
/// about one function need not be the same.
pub(crate) fn terms(claim: &str) -> BTreeSet<String> {
    let lower = claim.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '_');
    let is_term = |word: &&str| {
        word.len() > 1 && !is_stop_word(word) && !word.bytes().all(|byte| byte.is_ascii_digit())
    };
    words.filter(is_term).map(stem).collect()
}

fn without_markup(sentence: &str) -> String {
    let is_mark = |c: char| !c.is_alphabetic() && !matches!(c, '`' | '"' | '.');
    sentence.trim_start_matches(is_mark).trim_start_matches(['.', ' ']).replace("**", "")
}
