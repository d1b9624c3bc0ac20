//! Word lists for comparing claims: words that say nothing about a claim's topic, and words that
//! show how a claim relates to another one.

use std::sync::LazyLock;

use nacre_base::text::{WordSet, word_set};

/// Function words, which occur in every text.
pub(super) static EMPTY: LazyLock<WordSet> = LazyLock::new(|| {
    word_set(
        "a an and are as at be been being but by can could did do does for from had has have he her \
     his i if in into is it its me my of on or our s she so such than that the their them then \
     there these they this those to too was we were what when where which who will with would \
     you your",
    )
});

/// Words that occur in many claims, whatever their topic.
pub(super) static WEAK: LazyLock<WordSet> = LazyLock::new(|| {
    word_set(
        "all also always any because before after each every everything get give go keep like make \
     may must need one only other otherwise over put run said say set should since take thing \
     time use used want work write person user new old same way here first",
    )
});

/// Words that can occur in a claim on any topic. Two titles that differ only in these words have
/// the same topic.
pub(super) static GENERAL: LazyLock<WordSet> =
    LazyLock::new(|| word_set(include_str!("general_words.txt")));

/// Words that negate the words after them.
pub(super) static DENIALS: LazyLock<WordSet> = LazyLock::new(|| {
    word_set(
        "not no never don't dont doesn't isn't without stop avoid nor cannot can't instead rather \
     except skip ignore nobody nothing forbid refuse",
    )
});

/// Phrases that announce a change, each with its strength.
#[rustfmt::skip]
pub(super) const CHANGES: &[(&str, f32)] = &[
    ("no longer", 1.0), ("any more", 1.0), ("anymore", 1.0), ("from now on", 1.0),
    ("changed my mind", 1.0), ("after all", 0.8), ("switched to", 1.0), ("switch to", 0.8),
    ("move to", 0.8), ("moves to", 0.8), ("moved to", 1.0), ("move into", 0.8),
    ("moved from", 1.0), ("moves from", 1.0), ("go back to", 1.0), ("goes back to", 1.0),
    ("back to", 0.5), ("in place of", 0.8), ("instead", 0.4), ("replaced", 0.7),
    ("replaces", 0.8), ("replace the", 0.8), ("is gone", 1.0), ("are gone", 1.0),
    ("goes away", 0.8), ("was removed", 0.8), ("is removed", 0.8), ("were removed", 0.8),
    ("is dropped", 0.8), ("was dropped", 0.4), ("drop it", 0.5), ("is given up", 0.9),
    ("gave up", 0.3), ("was a mistake", 0.9), ("was wrong", 0.9), ("is out", 0.5),
    ("was cancelled", 0.7), ("does not exist", 0.6), ("is switched off", 0.8),
    ("out of date", 0.4), ("again", 0.4), ("now", 0.3), ("since then", 0.4), ("becomes", 0.3),
    ("was too", 0.4), ("were too", 0.3), ("revert", 0.8), ("undo", 0.4), ("turns out", 0.6),
    ("not necessary", 0.7), ("not needed", 0.7), ("no need", 0.7), ("is enough", 0.3),
    ("did not", 0.1), ("does not help", 0.8), ("does nothing", 0.6), ("used to", 0.5),
    ("by itself", 0.5), ("by themselves", 0.5), ("upgraded", 0.5), ("rewritten", 0.5),
    ("migrated", 0.7), ("moved out", 0.8), ("deprecated", 0.7), ("obsolete", 0.8),
    ("outdated", 0.8), ("rolled back", 0.8), ("was fixed", 0.5), ("is fixed", 0.5),
    ("stable again", 0.8), ("made impossible", 0.4), ("give up", 0.7), ("is given up", 0.8),
    ("drop the", 0.5), ("we drop", 0.7), ("is to be deleted", 0.7), ("will be removed", 0.7),
    ("all along", 0.6), ("is off", 0.5), ("broke", 0.2),
];

/// Phrases that people use to replace an earlier rule.
#[rustfmt::skip]
pub(super) const AMENDMENTS: &[&str] = &[
    "amended rule", "amended decision", "superseding", "this supersedes", "replaces the earlier",
    "replaces the old", "replaces the previous", "changed our mind", "changed our minds",
    "changed my mind", "instead of the earlier rule", "the earlier rule no longer",
    "the old rule no longer", "forget the earlier rule", "forget the old rule",
];

/// Phrases that express an obligation. A claim that gives permission (`FREEDOMS`) can contradict
/// them.
#[rustfmt::skip]
pub(super) const DUTIES: &[&str] = &[
    "must", "need", "needs", "needed", "never", "always", "only", "required", "requires",
    "before", "shall", "not", "no", "wait", "ask",
];

#[rustfmt::skip]
pub(super) const FREEDOMS: &[&str] = &[
    "can", "may", "at once", "by itself", "by themselves", "works without", "without asking",
    "is fine", "are fine", "is allowed", "is enough", "needs no", "need no", "just do it",
    "leave", "ignore",
];

/// Words that introduce additional information.
#[rustfmt::skip]
pub(super) const ADDITIONS: &[&str] = &[
    "also", "too", "and", "but", "with", "except", "as well", "besides", "both", "only", "stays",
    "as before", "as always",
];

/// Pairs of opposite words.
#[rustfmt::skip]
pub(super) const OPPOSITES: &[(&str, &str)] = &[
    ("always", "never"), ("enable", "disable"), ("allow", "forbid"), ("tabs", "spaces"),
    ("squash", "rebase"), ("sync", "async"), ("lower", "upper"), ("lower", "capital"),
    ("small", "whole"), ("static", "server"), ("statically", "server"), ("hide", "show"),
    ("hiding", "show"), ("local", "remote"), ("serial", "parallel"), ("plain", "json"),
    ("informal", "formally"), ("informal", "formal"), ("hand", "generated"),
    ("before", "afterwards"), ("first", "afterwards"), ("keep", "split"), ("inside", "out"),
    ("without", "with"), ("flaky", "stable"), ("mock", "real"), ("short", "explain"),
];

/// Pairs of words that are opposites only if the titles are otherwise the same.
#[rustfmt::skip]
pub(super) const ANTONYMS: &[(&str, &str)] = &[
    ("above", "below"), ("accept", "reject"), ("after", "before"), ("close", "open"),
    ("fast", "slow"), ("first", "last"), ("less", "more"), ("start", "stop"),
    ("allow", "deny"), ("allowed", "forbidden"), ("disable", "enabled"), ("disabled", "enable"),
    ("disabled", "enabled"), ("disables", "enables"), ("exclude", "include"), ("false", "true"),
    ("maximum", "minimum"), ("optional", "required"), ("private", "public"),
];

/// English number words, starting from zero.
#[rustfmt::skip]
pub(super) const NUMBERS: &[&str] = &[
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
];

/// English ordinals. "second" may also be a unit of time.
#[rustfmt::skip]
pub(super) const ORDINALS: &[&str] = &[
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth",
];

/// Words around which two names can be swapped without changing the meaning.
pub(super) const SYMMETRIC: &[&str] = &["a", "an", "and", "are", "is", "or", "the", "with"];

pub(super) fn is_general(word: &str) -> bool {
    [&GENERAL, &EMPTY, &WEAK, &DENIALS].iter().any(|list| list.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn general_words_say_no_topic() {
        assert!(is_general("keeps") && is_general("never") && !is_general("invoice"));
    }
}
