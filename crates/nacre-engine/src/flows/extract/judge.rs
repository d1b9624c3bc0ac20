//! Judges one sentence of a person: does it correct, refuse, limit, decide or generalise beyond this moment?
//!
//! Rules stand in one table, the strongest first; the first that fits decides. Each asks not only for a cue but for
//! its place, because "never" in "the callback never fires" is a bug report.

use nacre_core::memory::{Claim, LearningKind};

use super::super::candidate::{DropReason, Signal};
use super::cues::{Cue, Cues, fold};

/// What is known around a sentence.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stance<'a> {
    /// The agent had said or done something before.
    pub(super) is_reply: bool,
    /// The person stopped the agent to say this.
    pub(super) is_refusal: bool,
    /// What the agent offered to choose from, folded.
    pub(super) offer: Option<&'a str>,
    /// The sentence that follows in the same paragraph, folded.
    pub(super) next: Option<&'a str>,
}

/// What a sentence is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    /// No signal.
    Nothing,
    /// A signal that is not enough.
    Turned(Signal, DropReason),
    Kept(Finding),
}

/// A signal found in a sentence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Finding {
    pub(super) signal: Signal,
    pub(super) claim: Claim,
    pub(super) confidence: f64,
}

/// A word, and whether a clause begins with it.
#[derive(Clone, Copy, Debug)]
struct Word<'a> {
    text: &'a str,
    start: usize,
    opens: bool,
}

/// A sentence with all that the rules ask about.
struct Reading<'a> {
    folded: &'a str,
    words: Vec<Word<'a>>,
    /// Where the sentence begins after its "ok, so please".
    lead: usize,
    opens_with_no: bool,
    cues: Cues,
    stance: Stance<'a>,
}

/// Words before the sentence proper.
const FILLERS: &[&str] = &[
    "ok", "okay", "no", "nope", "nein", "yes", "yeah", "yep", "well", "so", "and", "but", "also",
    "please", "pls", "hmm", "hm", "ah", "oh", "right", "actually", "sorry", "hey", "again", "wait",
    "bitte", "just", "then", "i", "think", "guess", "man", "uh", "way", "too", "much", "thanks",
];

/// Words that say nothing by themselves.
const EMPTY: &[&str] = &[
    "the", "a", "an", "it", "that", "this", "these", "those", "them", "they", "there", "is", "are",
    "was", "be", "been", "to", "of", "in", "on", "at", "for", "with", "and", "or", "but", "so",
    "not", "no", "do", "does", "did", "don't", "dont", "doesn't", "can", "could", "will", "would",
    "should", "must", "have", "has", "had", "just", "please", "now", "then", "here", "i", "i'd",
    "i'm", "we", "you", "he", "she", "my", "me", "our", "us", "your", "its", "it's", "all", "any",
    "some", "what", "which", "when", "if", "as", "by", "from", "up", "out", "about", "too", "very",
    "also", "ok", "yes", "like", "want", "need", "make", "get", "go", "let's", "lets", "thing",
    "things", "one", "always", "never", "stop", "use", "more", "again", "only", "because", "since",
    "instead", "rather", "than", "prefer", "keep",
];

/// Verbs with which people tell an agent what to do.
const IMPERATIVES: &[&str] = &[
    "use", "run", "ask", "start", "put", "keep", "write", "make", "ensure", "be", "do", "stop",
    "avoid", "prefer", "commit", "update", "add", "test", "check", "install", "build", "push",
    "pull", "call", "name", "document", "always", "never", "only", "don't", "verify", "review",
    "read", "tell", "show", "include", "leave", "follow", "go", "rebase", "format", "lint",
    "squash", "remember", "wait", "bump", "sign", "tag",
];

type Rule = fn(&Reading<'_>) -> Option<Verdict>;

const RULES: &[Rule] = &[
    passes_over,
    remembers,
    worked,
    told,
    makes_a_rule,
    refuses,
    speaks_for_the_project,
    prefers,
    replaces,
    decides,
    limits,
    chooses_with_reason,
    tells_of_the_world,
];

/// Judges a sentence.
pub(super) fn judge(sentence: &str, stance: Stance<'_>) -> Verdict {
    let folded = fold(sentence);
    let reading = Reading::new(&folded, stance);
    let verdict = RULES.iter().find_map(|rule| rule(&reading)).unwrap_or(Verdict::Nothing);
    match verdict {
        Verdict::Kept(finding) if reading.is_passing(finding.signal) => {
            Verdict::Turned(finding.signal, DropReason::NotDurable)
        }
        Verdict::Kept(finding) if reading.n_content() < 2 => {
            Verdict::Turned(finding.signal, DropReason::TooShort)
        }
        verdict => verdict,
    }
}

/// The words that carry a text's meaning, folded.
pub(super) fn content_words(folded: &str) -> impl Iterator<Item = &str> {
    words(folded).map(|word| word.text).filter(|word| word.len() > 2 && !EMPTY.contains(word))
}

fn words(folded: &str) -> impl Iterator<Item = Word<'_>> {
    let mut opens = true;
    folded.split_whitespace().filter_map(move |raw| {
        let is_edge = |c: char| {
            !c.is_alphanumeric() && c != '/' && c != '.' && c != '~' && c != '-' && c != '$'
        };
        let text = raw.trim_matches(is_edge).trim_end_matches('.');
        let start = text.as_ptr() as usize - folded.as_ptr() as usize;
        let word = Word { text, start, opens };
        opens = raw.ends_with([',', ';', ':', '.', '-', '—', '(', '…'])
            || (text.is_empty() && !raw.is_empty());
        (!text.is_empty()).then_some(word)
    })
}

impl<'a> Reading<'a> {
    fn new(folded: &'a str, stance: Stance<'a>) -> Self {
        let words: Vec<Word<'a>> = words(folded).collect();
        let no_noun = opens_with_no_noun(&words);
        let lead = words.iter().take_while(|word| FILLERS.contains(&word.text)).count();
        let opens_with_no = !no_noun
            && words
                .first()
                .is_some_and(|word| matches!(word.text, "no" | "nope" | "nein" | "wrong"));
        let lead = if no_noun { 0 } else { lead.min(words.len().saturating_sub(1)) };
        Self { folded, words, lead, opens_with_no, cues: Cues::of(folded), stance }
    }

    fn has(&self, cue: Cue) -> bool {
        self.cues.has(cue)
    }

    fn lead_word(&self) -> &'a str {
        self.words.get(self.lead).map_or("", |word| word.text)
    }

    /// How many words carry meaning; scripts without spaces count by their characters.
    fn n_content(&self) -> usize {
        let n_wide = self.folded.chars().filter(|c| u32::from(*c) >= 0x2e80).count();
        self.words.iter().filter(|word| word.text.len() > 2 && !EMPTY.contains(&word.text)).count()
            + n_wide / 4
    }

    fn n_content_after(&self, at: usize) -> usize {
        let after = self.words.iter().filter(|word| word.start >= at);
        let n_wide = self.folded[at..].chars().filter(|c| u32::from(*c) >= 0x2e80).count();
        after.filter(|word| word.text.len() > 2 && !EMPTY.contains(&word.text)).count() + n_wide / 4
    }

    /// Whether what stands at `at` is said to someone, or of us: it opens a clause, or follows "we", "you", "please".
    fn is_directive(&self, at: usize) -> bool {
        let Some(idx) = self.words.iter().position(|word| word.start >= at) else {
            return is_wide(self.folded, at);
        };
        let word = self.words[idx];
        if word.start > at {
            return is_wide(self.folded, at);
        }
        if word.opens || idx <= self.lead {
            return true;
        }
        let before = self.words[idx - 1].text;
        match before {
            "we" | "you" | "please" | "bitte" | "and" | "so" | "but" | "just" | "wir" | "to"
            | "kindly" | "still" => true,
            "should" | "must" => idx >= 2 && matches!(self.words[idx - 2].text, "we" | "you"),
            _ => false,
        }
    }

    /// A reason in the sentence itself: a word for it, or a clause that goes on after the first.
    fn has_reason(&self) -> bool {
        const SUBJECTS: &[&str] = &[
            "i", "i'd", "i'm", "we", "we're", "we've", "it", "it's", "they", "they're", "the",
            "there", "there's", "that's", "our", "ci",
        ];
        let goes_on = |word: &Word<'_>| word.opens && SUBJECTS.contains(&word.text);
        let so = self
            .words
            .windows(2)
            .any(|pair| pair[0].text == "so" && pair[0].opens && pair[1].text != "please");
        self.has(Cue::Reason)
            || so
            || self.words.iter().skip(self.lead + 3).any(goes_on)
            || (self.words.iter().filter(|word| word.text == "for").count() > 0
                && self.has(Cue::World))
    }

    /// A reason here or in the sentence that follows.
    fn is_explained(&self) -> bool {
        const SUBJECTS: &[&str] = &[
            "it",
            "it's",
            "the",
            "we",
            "our",
            "they",
            "this",
            "that",
            "that's",
            "because",
            "otherwise",
            "there",
            "a",
        ];
        let follows = self.stance.next.and_then(|next| words(next).next());
        self.has_reason() || follows.is_some_and(|word| SUBJECTS.contains(&word.text))
    }

    fn is_passing(&self, signal: Signal) -> bool {
        self.has(Cue::Passing) && !matches!(signal, Signal::Remember | Signal::Choice)
    }

    /// Preference where it is about how the agent works, convention where it is about the project.
    fn rule_claim(&self) -> Claim {
        let runs = ["run", "install", "start", "build"].contains(&self.lead_word())
            || self.folded.contains("--");
        Claim::Learning(match () {
            () if runs => LearningKind::Procedure,
            () if self.has(Cue::Ours) || self.has(Cue::Always) => LearningKind::Convention,
            () => LearningKind::Preference,
        })
    }

    fn kept(&self, signal: Signal, claim: Claim, confidence: f64) -> Verdict {
        let more = if self.has_reason() { 0.05 } else { 0.0 };
        Verdict::Kept(Finding { signal, claim, confidence: confidence + more })
    }
}

/// "No emojis in release notes" is a rule, "no, it is" an answer.
fn opens_with_no_noun(words: &[Word<'_>]) -> bool {
    const ANSWERS: &[&str] = &[
        "it", "it's", "that", "that's", "this", "wait", "i", "i'm", "we", "you", "the", "problem",
        "need", "worries", "idea", "just", "still", "longer", "there", "they", "don't", "not",
        "but", "one", "way", "please", "let's", "use", "change", "changes", "rush", "more", "im",
        "do", "its", "luck",
    ];
    match words {
        [first, second, _, ..] => {
            first.text == "no" && !second.opens && !ANSWERS.contains(&second.text)
        }
        _ => false,
    }
}

fn is_wide(text: &str, at: usize) -> bool {
    text[at..].chars().next().is_some_and(|c| u32::from(c) >= 0x2e80)
}

/// Questions ask; they do not tell.
fn passes_over(reading: &Reading<'_>) -> Option<Verdict> {
    let is_question = reading.folded.trim_end_matches(['"', ')', '\'', ' ']).ends_with(['?', '？']);
    let asks = matches!(
        reading.lead_word(),
        "can"
            | "could"
            | "would"
            | "why"
            | "how"
            | "what"
            | "does"
            | "is"
            | "are"
            | "should"
            | "where"
            | "when"
            | "which"
            | "who"
    );
    let is_remembered = reading.has(Cue::Remember) && !reading.has(Cue::NotRemember);
    (is_question || (asks && !is_remembered && !reading.has(Cue::Always)))
        .then_some(Verdict::Nothing)
}

fn remembers(reading: &Reading<'_>) -> Option<Verdict> {
    let cue = reading.cues.first(Cue::Remember)?;
    if reading.has(Cue::NotRemember) {
        return None;
    }
    // "Put it into a file so that we find it next time" asks for a file.
    let is_late = reading.n_content_after(cue.end) == 0 && reading.n_content() < 4;
    if is_late {
        return Some(Verdict::Turned(Signal::Remember, DropReason::TooShort));
    }
    let is_rule = reading.has(Cue::Always)
        || reading.has(Cue::Dont)
        || reading.has(Cue::Must)
        || reading.has(Cue::Negation);
    let claim = if is_rule { reading.rule_claim() } else { Claim::Learning(LearningKind::Context) };
    Some(reading.kept(Signal::Remember, claim, 0.9))
}

fn worked(reading: &Reading<'_>) -> Option<Verdict> {
    let cue = reading.cues.first(Cue::Worked)?;
    let rest = reading.folded[cue.end..].trim();
    let is_command = rest.contains(['/', '=', '-', '.']) && rest.split_whitespace().count() > 1;
    (reading.stance.is_reply && is_command)
        .then(|| reading.kept(Signal::Procedure, Claim::Learning(LearningKind::Procedure), 0.65))
}

fn told(reading: &Reading<'_>) -> Option<Verdict> {
    (reading.has(Cue::Told) && reading.stance.is_reply && reading.n_content() > 2)
        .then(|| reading.kept(Signal::Correction, Claim::Learning(LearningKind::Preference), 0.85))
}

fn makes_a_rule(reading: &Reading<'_>) -> Option<Verdict> {
    let is_told = reading.cues.each(Cue::Always).any(|cue| reading.is_directive(cue.start));
    if is_told {
        let is_ours = reading.has(Cue::Ours) || reading.is_explained();
        if !reading.stance.is_reply && !is_ours {
            return Some(Verdict::Turned(Signal::Convention, DropReason::Weak));
        }
        let signal = if reading.stance.is_reply { Signal::Correction } else { Signal::Convention };
        return Some(reading.kept(signal, reading.rule_claim(), 0.8));
    }
    let is_ordered = IMPERATIVES.contains(&reading.lead_word()) && reading.stance.is_reply;
    (reading.has(Cue::EveryTime) && is_ordered)
        .then(|| reading.kept(Signal::Preference, reading.rule_claim(), 0.75))
}

fn refuses(reading: &Reading<'_>) -> Option<Verdict> {
    if !reading.stance.is_reply {
        return None;
    }
    let is_idiom = |start: usize| reading.cues.each(Cue::Idiom).any(|idiom| idiom.start == start);
    let is_wanted = |start: usize| {
        let before = reading.folded[..start].trim_end();
        (before.ends_with(" i") || before == "i" || before.ends_with(" we") || before == "we")
            && reading.has(Cue::Want)
    };
    let refusal = reading.cues.each(Cue::Dont).find(|cue| {
        !is_idiom(cue.start)
            && (reading.is_directive(cue.start) || is_wanted(cue.start))
            && reading.n_content_after(cue.end) > 1
    });
    let is_no_noun = reading.lead == 0 && opens_with_no_noun(&reading.words);
    (refusal.is_some() || is_no_noun)
        .then(|| reading.kept(Signal::Correction, reading.rule_claim(), 0.75))
}

/// "We use pnpm here", "in library crates we return …": said to correct, or as a rule with its opposite.
fn speaks_for_the_project(reading: &Reading<'_>) -> Option<Verdict> {
    const VERBS: &[&str] = &[
        "use", "keep", "put", "write", "return", "follow", "deploy", "host", "ship", "run",
        "avoid", "only", "call", "store", "test", "release", "support",
    ];
    let idx = reading.words.windows(2).position(|pair| {
        matches!(pair[0].text, "we" | "wir")
            && (VERBS.contains(&pair[1].text)
                || matches!(pair[1].text, "don't" | "dont" | "do" | "explicitly"))
    })?;
    let negated = matches!(reading.words[idx + 1].text, "don't" | "dont");
    let start = reading.words[idx + 1].start;
    let is_idiom = reading.cues.each(Cue::Idiom).any(|idiom| idiom.start == start);
    let is_firm = negated
        || reading.opens_with_no
        || reading.stance.is_refusal
        || reading.has(Cue::Instead)
        || reading.has(Cue::Only)
        || reading.has(Cue::Negation)
        || reading.folded.contains("on purpose");
    let is_of_all = reading.folded.contains("all our")
        || reading.folded.contains("in this repo")
        || reading.folded.contains("in this project");
    if is_idiom || !(is_firm || (is_of_all && reading.stance.is_reply)) {
        return None;
    }
    let is_enough = reading.stance.is_reply || reading.has(Cue::Instead) || reading.is_explained();
    let signal = if reading.stance.is_reply { Signal::Correction } else { Signal::Convention };
    is_enough.then(|| reading.kept(signal, Claim::Learning(LearningKind::Convention), 0.75))
}

fn prefers(reading: &Reading<'_>) -> Option<Verdict> {
    let is_said = reading.has(Cue::Prefer);
    (is_said && reading.n_content() > 2)
        .then(|| reading.kept(Signal::Preference, Claim::Learning(LearningKind::Preference), 0.75))
}

/// "Use A instead of B", "no, the tests run the installed one".
fn replaces(reading: &Reading<'_>) -> Option<Verdict> {
    if !reading.stance.is_reply {
        return None;
    }
    let names_both = reading.cues.first(Cue::Instead).is_some_and(|cue| {
        reading.n_content_after(cue.end) > 0
            && content_words(&reading.folded[..cue.start]).next().is_some()
    });
    let is_order = IMPERATIVES.contains(&reading.lead_word()) || reading.has(Cue::Decide);
    let is_of_all = reading.folded.contains("all our ");
    if names_both && is_order {
        let signal = if reading.has(Cue::Decide) { Signal::Decision } else { Signal::Correction };
        let claim = if signal == Signal::Decision { Claim::Decision } else { reading.rule_claim() };
        return Some(match reading.is_explained() {
            true => reading.kept(signal, claim, 0.7),
            false => Verdict::Turned(signal, DropReason::Weak),
        });
    }
    is_of_all
        .then(|| reading.kept(Signal::Correction, Claim::Learning(LearningKind::Convention), 0.7))
}

fn decides(reading: &Reading<'_>) -> Option<Verdict> {
    let is_wish = reading.has(Cue::Want)
        && reading.has(Cue::Negation)
        && reading.stance.is_reply
        && reading.n_content() > 3;
    if !reading.has(Cue::Decide) && !is_wish {
        return None;
    }
    let is_over_another = reading.has(Cue::Instead)
        || reading.stance.offer.is_some_and(|offer| n_shared(reading.folded, offer) > 0);
    Some(match (reading.is_explained(), is_over_another || is_wish) {
        (true, _) => reading.kept(Signal::Decision, Claim::Decision, 0.7),
        (false, _) => Verdict::Turned(Signal::Decision, DropReason::Weak),
    })
}

fn limits(reading: &Reading<'_>) -> Option<Verdict> {
    if !reading.stance.is_reply {
        return None;
    }
    let is_you = reading.has(Cue::You) && reading.n_content() > 2 && reading.is_explained();
    let is_must = reading.has(Cue::Must)
        && reading.has_reason()
        && (reading.has(Cue::Negation) || reading.has(Cue::Ours));
    let is_bounded = ["when", "unless", "if", "for", "before", "after"]
        .iter()
        .any(|word| reading.words.iter().any(|other| other.text == *word));
    let leads = matches!(reading.lead_word(), "only" | "for");
    let is_only = reading.has(Cue::Only) && leads && is_bounded && reading.n_content() > 2;
    (is_you || is_must || is_only)
        .then(|| reading.kept(Signal::Correction, reading.rule_claim(), 0.65))
}

/// The agent offered alternatives, and the person took one and said why.
fn chooses_with_reason(reading: &Reading<'_>) -> Option<Verdict> {
    let offer = reading.stance.offer?;
    let starts_own = !matches!(reading.lead_word(), "let's" | "see" | "try" | "what" | "do");
    (starts_own
        && reading.is_explained()
        && n_shared(reading.folded, offer) > 0
        && reading.words.len() < 40
        && reading.words.len() > 3)
        .then(|| reading.kept(Signal::Decision, Claim::Decision, 0.6))
}

fn n_shared(text: &str, other: &str) -> usize {
    content_words(text).filter(|word| content_words(other).any(|known| known == *word)).count()
}

fn tells_of_the_world(reading: &Reading<'_>) -> Option<Verdict> {
    if !reading.stance.is_reply {
        return None;
    }
    let is_fact = !IMPERATIVES.contains(&reading.lead_word()) && reading.lead_word() != "let's";
    let is_world =
        reading.has(Cue::World) && reading.is_explained() && is_fact && reading.n_content() > 3;
    let is_place = reading.has(Cue::Place) && reading.folded.contains(['/', '~', '.']) && is_fact;
    (is_world || is_place || reading.has(Cue::Machine))
        .then(|| reading.kept(Signal::Context, Claim::Learning(LearningKind::Context), 0.6))
}

#[cfg(test)]
mod tests;
