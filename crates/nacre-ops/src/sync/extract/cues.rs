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
        "remember (?:that|to)|remember[:,]|please remember|(?:keep|bear) in mind|make a note that|\
         for the record|don't forget that|from (?:now|here) on|merk dir|ab jetzt|ab sofort|\
         in zukunft|denk daran|à partir de maintenant|désormais|a partir de ahora|recuerda que|\
         de agora em diante|以后|记住|今后|下次",
    )
}));

/// Phrases in requests that are followed by a whole statement.
pub(super) static STATED: Cue = Cue(LazyLock::new(|| {
    pattern(
        "remember that|keep in mind that|from (?:now|here) on|ab jetzt|ab sofort|\
         à partir de maintenant|désormais|a partir de ahora|recuerda que|以后|今后",
    )
}));

pub(super) static NOT_REMEMBER: Cue =
    Cue(LazyLock::new(|| pattern("(?:can't|don't|i|you) remember|remember (?:me|when)")));

/// Words that turn a sentence into a rule if it is addressed to someone.
pub(super) static ALWAYS: Cue = Cue(LazyLock::new(|| {
    pattern(
        "always|never|under no circumstances|as a rule|going forward|next time|künftig|immer|\
         niemals|nie|grundsätzlich|toujours|jamais|siempre|nunca|sempre|总是|永远|一律|统一|必须",
    )
}));

/// Obligations and prohibitions, which distinguish rules from facts.
pub(super) static LIMIT: Cue = Cue(LazyLock::new(|| {
    pattern("don't|do not|avoid|stop|must|ha(?:ve|s) to|not|no|without|muss|keine?|nicht|不|应该")
}));

pub(super) static REASON: Cue = Cue(LazyLock::new(|| {
    pattern(
        "because|since|so that|otherwise|due to|as (?:it|we)|the reason|that's why|weil|damit|\
         denn|sonst|parce que|porque|因为|否则",
    )
}));

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

pub(super) fn pattern(text: &str) -> Regex {
    #[expect(clippy::expect_used, reason = "the patterns are constants, and each is tested")]
    Regex::new(text).expect("a valid pattern")
}

impl Cue {
    pub(super) fn is_in(&self, folded: &str) -> bool {
        self.starts_in(folded).next().is_some()
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

/// Converts text to lower case with straight apostrophes.
pub(super) fn fold(text: &str) -> String {
    text.chars()
        .flat_map(char::to_lowercase)
        .map(|c| match c {
            '’' | '‘' | '`' => '\'',
            c => c,
        })
        .collect()
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ClauseWord<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
    pub(super) opens: bool,
}

static EMPTY: LazyLock<WordSet> = LazyLock::new(|| word_set(include_str!("empty_words.txt")));

pub(super) fn content_words(folded: &str) -> impl Iterator<Item = &str> {
    words(folded).map(|word| word.text).filter(|word| carries(word))
}

fn carries(word: &str) -> bool {
    word.len() > 2 && !EMPTY.contains(word)
}

pub(super) fn n_shared(text: &str, other: &str) -> usize {
    let known: HashSet<&str> = content_words(other).collect();
    content_words(text).filter(|word| known.contains(word)).count()
}

pub(super) fn words(folded: &str) -> impl Iterator<Item = ClauseWord<'_>> {
    let is_edge = |c: char| !c.is_alphanumeric() && !matches!(c, '/' | '.' | '~' | '-' | '$');
    let mut opens = true;
    let mut from = 0;
    folded.split_whitespace().filter_map(move |raw| {
        let at = from + folded[from..].find(raw).unwrap_or_default();
        from = at + raw.len();
        let lead = raw.len() - raw.trim_start_matches(is_edge).len();
        let text = raw.trim_matches(is_edge).trim_end_matches('.');
        let word = ClauseWord { text, start: at + lead, opens: opens || raw.starts_with('(') };
        opens = raw.ends_with([',', ';', ':', '.', '-', '—', '…', ')', '!', '，']);
        (!text.is_empty()).then_some(word)
    })
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
pub(super) fn n_content(folded: &str, words: &[ClauseWord<'_>]) -> usize {
    let n_wide = folded.chars().filter(|c| is_wide(*c)).count();
    let narrow = words.iter().filter(|word| !word.text.starts_with(is_wide) && carries(word.text));
    narrow.count() + n_wide / 4
}

pub(super) fn is_wide(c: char) -> bool {
    u32::from(c) >= 0x2e80
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cue_is_whole_words() {
        assert!(ALWAYS.is_in(&fold("We ALWAYS do")));
        assert!(LIMIT.is_in(&fold("don’t do it")));
        assert!(ALWAYS.is_in("我们总是用 pnpm"));
        assert!(!ALWAYS.is_in("nevertheless"));
        assert!(!LIMIT.is_in("stopwatch"));
        assert!(!REMEMBER.is_in("https://a.b/remember-me"));
        assert!(OURS.is_in("unsere Kunden") && !OURS.is_in("uses"));
    }

    #[test]
    fn every_pattern_compiles() {
        for cue in
            [&REMEMBER, &STATED, &NOT_REMEMBER, &ALWAYS, &LIMIT, &REASON, &OURS, &PASSING, &REVOKE]
        {
            assert!(!cue.is_in(""));
        }
        assert!(SWITCH.is_in("actually, let's use tabs"));
    }
}
