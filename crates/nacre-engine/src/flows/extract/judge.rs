//! Judges one sentence of a person: does it correct, refuse, limit, decide or generalise beyond this moment?
//!
//! Rules stand in one table, the strongest first; the first that fits decides. Each asks not only for a cue but for
//! its place, because "never" in "the callback never fires" is a bug report.

use nacre_core::memory::{Claim, LearningKind};

use super::super::candidate::{DropReason, Signal};
use super::cues::{Cue, fold};
use super::reading::{Reading, Stance, Word, n_shared};

/// What a sentence is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ExtractVerdict {
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

type Rule = fn(&Reading<'_>) -> Option<ExtractVerdict>;

const RULES: &[Rule] = &[
    passes_over,
    remembers,
    worked,
    told,
    makes_a_rule,
    decides,
    refuses,
    speaks_for_the_project,
    prefers,
    replaces,
    wishes,
    limits,
    names_an_option,
    tells_of_the_world,
    only_names,
];

const CONVENTION: Claim = Claim::Learning(LearningKind::Convention);
const PREFERENCE: Claim = Claim::Learning(LearningKind::Preference);
const CONTEXT: Claim = Claim::Learning(LearningKind::Context);

/// Judges a sentence.
pub(super) fn judge(sentence: &str, stance: Stance<'_>) -> ExtractVerdict {
    let folded = fold(sentence).replace("dont ", "don't ");
    let reading = Reading::new(&folded, stance);
    let verdict = RULES.iter().find_map(|rule| rule(&reading)).unwrap_or(ExtractVerdict::Nothing);
    let ExtractVerdict::Kept(Finding { signal, .. }) = verdict else { return verdict };
    match () {
        () if is_passing(&reading, signal) => {
            ExtractVerdict::Turned(signal, DropReason::NotDurable)
        }
        () if reading.n_content() < 2 => ExtractVerdict::Turned(signal, DropReason::TooShort),
        () => verdict,
    }
}

fn is_passing(reading: &Reading<'_>, signal: Signal) -> bool {
    reading.has(Cue::Passing) && signal != Signal::Remember
}

fn kept(reading: &Reading<'_>, signal: Signal, claim: Claim, confidence: f64) -> ExtractVerdict {
    let more = if reading.has_reason() { 0.05 } else { 0.0 };
    ExtractVerdict::Kept(Finding { signal, claim, confidence: confidence + more })
}

/// Preference where it is about how the agent works, convention where it is about the project.
fn rule_claim(reading: &Reading<'_>) -> Claim {
    let runs = ["run", "install", "start", "build"].contains(&reading.lead_word());
    match () {
        () if runs || reading.folded.contains(" --") => Claim::Learning(LearningKind::Procedure),
        () if reading.has(Cue::Ours) || reading.has(Cue::Always) => CONVENTION,
        () => PREFERENCE,
    }
}

/// Questions ask; they do not tell. A clause that hangs on one that is elsewhere tells half.
fn passes_over(reading: &Reading<'_>) -> Option<ExtractVerdict> {
    const ASKING: &[&str] = &[
        "can", "could", "would", "why", "how", "what", "does", "is", "are", "should", "where",
        "which", "who", "did", "because", "since", "if",
    ];
    let end = reading.folded.trim_end_matches(['"', ')', '\'', ' ']);
    let is_question = end.ends_with(['?', '？']);
    let asks = ASKING.contains(&reading.lead_word()) || reading.folded.starts_with(['(', '&']);
    let is_request = reading.has(Cue::Remember) || reading.has(Cue::Always);
    (is_question || (asks && !is_request)).then_some(ExtractVerdict::Nothing)
}

fn remembers(reading: &Reading<'_>) -> Option<ExtractVerdict> {
    if !reading.has(Cue::Remember) || reading.has(Cue::NotRemember) {
        return None;
    }
    // "Please remember my build command" names a thing and says nothing of it.
    if reading.n_content() < 3 {
        return Some(ExtractVerdict::Turned(Signal::Remember, DropReason::TooShort));
    }
    let cues = [Cue::Always, Cue::Dont, Cue::Must, Cue::Negation];
    let is_rule = cues.into_iter().any(|cue| reading.has(cue));
    let claim = if is_rule { rule_claim(reading) } else { CONTEXT };
    Some(kept(reading, Signal::Remember, claim, 0.9))
}

fn worked(reading: &Reading<'_>) -> Option<ExtractVerdict> {
    let cue = reading.cues().first(Cue::Worked)?;
    let rest = reading.folded[cue.end..].trim();
    let is_command = rest.contains(['/', '=', '-', '.']) && rest.split_whitespace().count() > 1;
    let claim = Claim::Learning(LearningKind::Procedure);
    (reading.stance.is_reply && is_command).then(|| kept(reading, Signal::Procedure, claim, 0.65))
}

/// A complaint about how the agent works. "I told you that …" only repeats a fact.
fn told(reading: &Reading<'_>) -> Option<ExtractVerdict> {
    let is_complaint = reading.has(Cue::Told) && !reading.folded.contains("told you that");
    (is_complaint && reading.stance.is_reply && reading.n_content() > 1)
        .then(|| kept(reading, Signal::Correction, PREFERENCE, 0.8))
}

fn makes_a_rule(reading: &Reading<'_>) -> Option<ExtractVerdict> {
    let is_told = reading.cues().each(Cue::Always).any(|cue| reading.is_directive(cue.start));
    if is_told {
        let is_ours = reading.has(Cue::Ours) || reading.has_reason();
        if !reading.stance.is_reply && !is_ours {
            return Some(ExtractVerdict::Turned(Signal::Convention, DropReason::Weak));
        }
        let is_reply = reading.stance.is_reply;
        let signal = if is_reply { Signal::Correction } else { Signal::Convention };
        return Some(kept(reading, signal, rule_claim(reading), 0.8));
    }
    let leads = reading.leads_with_order() || matches!(reading.lead_word(), "after" | "before");
    (reading.has(Cue::EveryTime) && leads && reading.stance.is_reply)
        .then(|| kept(reading, Signal::Preference, rule_claim(reading), 0.75))
}

fn refuses(reading: &Reading<'_>) -> Option<ExtractVerdict> {
    if !reading.stance.is_reply {
        return None;
    }
    let is_idiom = |at: usize| reading.cues().each(Cue::Idiom).any(|idiom| idiom.start == at);
    let is_unwanted = |at: usize| {
        let before = reading.folded[..at].trim_end();
        // "…, so I don't want a conflict": what follows from the moment goes with it.
        let follows = before.ends_with("so i") || before.ends_with("so we");
        reading.has(Cue::Unwanted) && before.ends_with(['i', 'e']) && !follows
    };
    let refusal = reading.cues().each(Cue::Dont).find(|cue| {
        let is_said = reading.is_directive(cue.start) || is_unwanted(cue.start);
        !is_idiom(cue.start) && is_said && reading.n_content_after(cue.end) > 1
    });
    (refusal.is_some() || reading.forbids)
        .then(|| kept(reading, Signal::Correction, rule_claim(reading), 0.75))
}

/// "We don't use an ORM", "no, we use pnpm here", "in library crates we return …, not …".
fn speaks_for_the_project(reading: &Reading<'_>) -> Option<ExtractVerdict> {
    const VERBS: &[&str] = &[
        "use", "keep", "put", "write", "return", "follow", "deploy", "host", "ship", "avoid",
        "only", "call", "store", "test", "release",
    ];
    let idx = reading.words.windows(2).position(|pair| {
        let is_verb = VERBS.contains(&pair[1].text);
        matches!(pair[0].text, "we" | "wir") && (is_verb || pair[1].text == "don't")
    })?;
    let start = reading.words[idx + 1].start;
    let is_idiom = reading.cues().each(Cue::Idiom).any(|idiom| idiom.start == start);
    if is_idiom || reading.is_subordinate(idx) {
        return None;
    }
    let is_firm = reading.words[idx + 1].text == "don't"
        || reading.opens_with_no
        || reading.stance.is_refusal
        || reading.has(Cue::Instead)
        || reading.cues().each(Cue::Only).any(|cue| cue.start > start)
        || reading.cues().each(Cue::Negation).any(|cue| cue.start > start)
        || ["on purpose", "in this repo", "in this project"]
            .iter()
            .any(|at| reading.folded.contains(at));
    let is_enough = reading.stance.is_reply || reading.has(Cue::Instead) || reading.gives_cause();
    let signal = if reading.stance.is_reply { Signal::Correction } else { Signal::Convention };
    (is_firm && is_enough).then(|| kept(reading, signal, CONVENTION, 0.75))
}

fn prefers(reading: &Reading<'_>) -> Option<ExtractVerdict> {
    (reading.has(Cue::Prefer) && reading.n_content() > 1)
        .then(|| kept(reading, Signal::Preference, PREFERENCE, 0.75))
}

/// "Use A instead of B, because …", "all our scripts use tabs".
fn replaces(reading: &Reading<'_>) -> Option<ExtractVerdict> {
    if !reading.stance.is_reply {
        return None;
    }
    if reading.folded[reading.words.get(reading.lead)?.start..].starts_with("all our ") {
        return Some(kept(reading, Signal::Correction, CONVENTION, 0.7));
    }
    let cue = reading.cues().first(Cue::Instead)?;
    let n_before = reading.n_content() - reading.n_content_after(cue.start);
    let names_both = n_before > 0 && reading.n_content_after(cue.end) > 0;
    if !names_both || !(reading.leads_with_order() || reading.has(Cue::Decide)) {
        return None;
    }
    let is_decision = reading.has(Cue::Decide);
    let signal = if is_decision { Signal::Decision } else { Signal::Correction };
    let claim = if is_decision { Claim::Decision } else { rule_claim(reading) };
    Some(if reading.is_explained() {
        kept(reading, signal, claim, 0.7)
    } else {
        ExtractVerdict::Turned(signal, DropReason::Weak)
    })
}

/// A choice, with its reason.
fn decides(reading: &Reading<'_>) -> Option<ExtractVerdict> {
    (reading.has(Cue::Decide) && reading.is_explained())
        .then(|| kept(reading, Signal::Decision, Claim::Decision, 0.7))
}

/// A choice without a reason is a name.
fn only_names(reading: &Reading<'_>) -> Option<ExtractVerdict> {
    reading.has(Cue::Decide).then_some(ExtractVerdict::Turned(Signal::Decision, DropReason::Weak))
}

/// A wish that says what not: "I want replicate to not use materialize at all".
fn wishes(reading: &Reading<'_>) -> Option<ExtractVerdict> {
    let want = reading.cues().first(Cue::Want)?;
    let is_limit = reading.cues().each(Cue::Negation).any(|cue| cue.start > want.end);
    (is_limit && reading.stance.is_reply && reading.n_content_after(want.end) > 1)
        .then(|| kept(reading, Signal::Decision, Claim::Decision, 0.65))
}

fn limits(reading: &Reading<'_>) -> Option<ExtractVerdict> {
    if !reading.stance.is_reply {
        return None;
    }
    let is_bounded = reading
        .words
        .iter()
        .any(|word| matches!(word.text, "when" | "unless" | "if" | "for" | "before" | "after"));
    let is_you = reading.has(Cue::You) && reading.n_content() > 2 && reading.has_reason();
    let is_must = reading.has(Cue::Must)
        && reading.gives_cause()
        && (reading.has(Cue::Negation) || reading.has(Cue::Ours));
    let is_only = reading.has(Cue::Only)
        && matches!(reading.lead_word(), "only" | "for")
        && is_bounded
        && reading.n_content() > 2;
    (is_you || is_must || is_only)
        .then(|| kept(reading, Signal::Correction, rule_claim(reading), 0.65))
}

/// The agent offered alternatives, and the answer begins with the name of one and says why.
fn names_an_option(reading: &Reading<'_>) -> Option<ExtractVerdict> {
    let offer = reading.stance.offer.filter(|_| reading.stance.is_first)?;
    let is_named = n_shared(reading.lead_word(), offer) > 0 && !reading.leads_with_order();
    let is_short = (3..40).contains(&reading.words.len());
    (is_named && is_short && reading.is_explained())
        .then(|| kept(reading, Signal::Decision, Claim::Decision, 0.6))
}

fn tells_of_the_world(reading: &Reading<'_>) -> Option<ExtractVerdict> {
    if !reading.stance.is_reply || reading.leads_with_order() || reading.lead_word() == "let's" {
        return None;
    }
    let is_wish = reading.has(Cue::Want) || reading.has(Cue::Prefer);
    let is_world =
        reading.has(Cue::World) && reading.gives_cause() && !is_wish && reading.n_content() > 3;
    let is_path = |word: &Word<'_>| word.text.contains('/') || word.text.starts_with(['.', '~']);
    let is_place = reading.has(Cue::Place) && reading.words.iter().any(is_path);
    (is_world || is_place || reading.has(Cue::Machine))
        .then(|| kept(reading, Signal::Context, CONTEXT, 0.6))
}

#[cfg(test)]
mod tests;
