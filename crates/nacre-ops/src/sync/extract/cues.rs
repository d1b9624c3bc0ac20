//! Patterns for explicit requests to remember something, for rules, and for changes of mind. Each
//! pattern covers all languages, because users mix languages.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use nacre_base::text::{WordSet, word_set};
use regex::Regex;

/// A pattern that matches whole words in case-folded text.
pub(super) struct Cue(LazyLock<Regex>);

pub(super) static REMEMBER: Cue = Cue(LazyLock::new(|| {
    pattern(
        "remember (?:that|to)|remember[:,]|please remember|(?:keep|bear|have) in mind|make a note that|\
         for the record|don't forget that|from (?:now|here) on|merk dir|ab jetzt|ab sofort|\
         in zukunft|denk daran|à partir de maintenant|désormais|a partir de ahora|recuerda que|\
         de agora em diante|以后|记住|今后|下次",
    )
}));

pub(super) static NOT_REMEMBER: Cue =
    Cue(LazyLock::new(|| pattern("(?:can't|don't|i|you) remember|remember (?:me|my|when)")));

pub(super) static OURS: Cue = Cue(LazyLock::new(|| {
    pattern(
        "we|our|us|in this (?:repo|project|codebase)|here|this (?:repo|project)|the team|wir|\
         unsere?|bei uns|nous|notre|我们|项目",
    )
}));

/// Phrases that refer only to the current task or moment.
pub(super) static PASSING: Cue = Cue(LazyLock::new(|| {
    pattern(
        "for now|this time|right now|just this once|temporarily|(?:for|at) the moment|not yet|\
         this (?:pr|branch|commit)|the current run|today|tomorrow|vorerst|erstmal|暂时|先不",
    )
}));

/// Phrases that limit a rule to a particular moment. A model's claims may contain them.
pub(super) static MOMENT: Cue = Cue(LazyLock::new(|| {
    pattern(
        "yet|until (?:i|we|it|that)|while (?:i|we)|lines? \\d+|(?:for|in|to|with|of) (?:that|it|\
         this$)|in the (?:class|component|file|function|method|test)|this (?:block|box|branch|\
         button|call|case|change|class|column|component|error|feature|field|file|form|function|\
         issue|list|loop|method|module|one|page|part|query|round|screen|section|session|step|\
         struct|table|task|test|ticket|type|value|view|way)",
    )
}));

/// The start of a question. People often leave out the question mark.
pub(super) static QUESTION: Cue = Cue(LazyLock::new(|| {
    pattern(
        "(?:can|could|would|will|should|do|does|did|shall|may|is|are) (?:you|we|i|it|there|the|\
         this)|why|what|how|where|which|who|whether",
    )
}));

pub(super) static REVOKE: Cue = Cue(LazyLock::new(|| {
    pattern(
        "scrap that|never ?mind|forget (?:that|it|what i said)|on second thought|actually no|\
         changed my mind|change (?:of|in) plan|undo that|vergiss es|doch nicht|算了",
    )
}));

pub(super) static SWITCH: Cue = Cue(LazyLock::new(|| {
    pattern(
        "instead|after all|rather|switch (?:to|back)|back to|actually|let's go with|lieber|doch",
    )
}));

pub(crate) fn pattern(text: &str) -> Regex {
    #[expect(clippy::expect_used, reason = "the patterns are constants, and each is tested")]
    Regex::new(text).expect("a valid pattern")
}

impl Cue {
    pub(super) fn is_in(&self, folded: &str) -> bool {
        self.starts_in(folded).next().is_some()
    }

    pub(super) fn opens(&self, folded: &str) -> bool {
        self.starts_in(folded).next() == Some(0)
    }

    pub(super) fn starts_in(&self, folded: &str) -> impl Iterator<Item = usize> {
        let found = self.0.find_iter(folded);
        found.filter(|at| is_whole(folded, at.start(), at.end())).map(|at| at.start())
    }
}

/// Returns whether a match consists of whole words. Ignores neighbouring non-ASCII characters,
/// because scripts without spaces have no word boundaries.
fn is_whole(text: &str, start: usize, end: usize) -> bool {
    let is_wordy = |c: char| c.is_ascii_alphanumeric() || c == '\'' || c == '_' || c == '-';
    let before = text[..start].chars().next_back();
    let after = text[end..].chars().next();
    let phrase = &text[start..end];
    let starts_wordy = phrase.starts_with(is_wordy);
    let ends_wordy = phrase.ends_with(is_wordy);
    !(starts_wordy && before.is_some_and(is_wordy) || ends_wordy && after.is_some_and(is_wordy))
}

/// Converts text to lower case with straight apostrophes and quotation marks.
pub(super) fn fold(text: &str) -> String {
    text.chars()
        .flat_map(char::to_lowercase)
        .map(|c| match c {
            '’' | '‘' | '`' => '\'',
            '“' | '”' => '"',
            c => c,
        })
        .collect()
}

static EMPTY: LazyLock<WordSet> = LazyLock::new(|| word_set(include_str!("empty_words.txt")));

pub(super) fn content_words(folded: &str) -> impl Iterator<Item = &str> {
    words(folded).filter(|word| word.len() > 2 && !EMPTY.contains(*word))
}

pub(super) fn n_shared(text: &str, other: &str) -> usize {
    let known: HashSet<&str> = content_words(other).collect();
    content_words(text).filter(|word| known.contains(word)).count()
}

pub(super) fn words(folded: &str) -> impl Iterator<Item = &str> {
    let is_edge = |c: char| !c.is_alphanumeric() && !matches!(c, '/' | '.' | '~' | '-' | '$');
    let bare = folded.split_whitespace().map(move |raw| raw.trim_matches(is_edge));
    bare.map(|word| word.trim_end_matches('.')).filter(|word| !word.is_empty())
}

/// Returns the number of words in both sets, divided by the number of words in either set.
pub(crate) fn overlap(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    let n_shared = one.intersection(other).count();
    share(n_shared, one.len() + other.len() - n_shared)
}

/// Returns the runs of letters and digits in a text.
pub(crate) fn plain_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn share(part: usize, whole: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a handful of words")]
    let share = part as f64 / whole.max(1) as f64;
    share
}

/// Returns the number of content words. In scripts without spaces, counts characters instead of
/// words.
pub(super) fn n_content(folded: &str) -> usize {
    let n_wide = folded.chars().filter(|c| is_wide(*c)).count();
    content_words(folded).filter(|word| !word.starts_with(is_wide)).count() + n_wide / 4
}

fn is_wide(c: char) -> bool {
    u32::from(c) >= 0x2e80
}

/// The forms of statements that outlive the task.
pub(super) const FORMS: &str = include_str!("statement_forms.txt");

/// Compiles the pattern with this name.
pub(super) fn named(name: &str) -> Regex {
    let text = |line: &'static str| line.strip_prefix(name)?.strip_prefix(": ");
    pattern(FORMS.lines().find_map(text).unwrap_or("$^"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cue_is_whole_words() {
        assert_eq!(fold("Don’t"), "don't");
        assert!(!REMEMBER.is_in("https://a.b/remember-me"));
        assert!(OURS.is_in("unsere Kunden") && !OURS.is_in("uses"));
    }

    #[test]
    fn every_pattern_compiles() {
        for cue in [&REMEMBER, &NOT_REMEMBER, &OURS, &PASSING, &MOMENT, &REVOKE] {
            assert!(!cue.is_in(""));
        }
        assert!(MOMENT.is_in("not until we ship") && QUESTION.opens("why not"));
        assert!(SWITCH.is_in("actually, let's use tabs"));
    }
}
