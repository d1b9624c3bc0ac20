//! Compares two memories that are both in the store.
//!
//! A sync compares a claim with eight memories, but here tens of thousands of pairs are compared,
//! and nearly all of them are unrelated. Likelihood alone is not reliable enough for this, so the
//! differing words are checked individually. Two texts with the same pattern but different names
//! are about different things.

use std::collections::BTreeSet;

use super::lexicon::{DENIALS, ORDINALS, SYMMETRIC, is_general};
use super::measure::{Likeness, Measures, Relation, judge, measure};
use super::profile::{Profile, TitleWord, have_opposite_titles};

/// Minimum likelihood, in both directions, for two claims to agree.
const MIN_AGREEING: f32 = 0.60;

/// Like `MIN_AGREEING`, for claims whose titles have the same topics.
const MIN_AGREEING_ON_TOPIC: f32 = 0.2;

/// Minimum number of topics that two titles must share to count as having the same topics.
const MIN_TOPICS: usize = 3;

/// Minimum likelihood for the newer claim to contradict the older one.
const MIN_AGAINST: f32 = 0.75;

/// Minimum similarity for two claims to be considered contradictory.
const MIN_NEAR: f32 = 0.5;

/// Minimum share of words that must occur in the same order in two texts for them to have the same
/// pattern.
const MIN_PATTERN: f32 = 0.6;

/// Maximum share of the common terms that may be negated in only one of the claims. Applies
/// separately to the titles and to the complete texts.
const MAX_TURNED: f32 = 0.34;
const MAX_TURNED_IN_ALL: f32 = 0.6;

/// Minimum number of terms in a claim contained in another. A shorter claim would be contained in
/// many unrelated texts.
const MIN_TERMS: usize = 4;

/// Maximum number of words per claim to align.
const MAX_ALIGNED: usize = 80;

/// How two stored memories are related.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kinship {
    Exact,
    /// Both make the same claim, one of them in different or fewer words.
    Twins,
    /// The newer memory contradicts the older one.
    Against,
    Apart,
}

/// Returns words with nearly the same meaning.
pub type NearWords<'a> = &'a dyn Fn(&str) -> Vec<&'static str>;

/// Compares two memories of the same type. Also returns how likely the result is.
pub fn kinship(
    newer: &Profile,
    older: &Profile,
    likeness: Likeness,
    near: NearWords<'_>,
) -> (Kinship, f32) {
    if !newer.plain.trim().is_empty() && newer.plain == older.plain {
        return (Kinship::Exact, 1.0);
    }
    // Nearly all pairs are decided here, without computing the measures.
    let is_contained = is_contained(newer, older);
    let has_beyond = |one, other| has_topic_beyond(one, other, near);
    if !is_contained
        && has_beyond(newer, older)
        && has_beyond(older, newer)
        && !newer.announces_change()
    {
        return (Kinship::Apart, 1.0);
    }
    let measures = measure(newer, older, likeness);
    let parting = Parting::of(newer, older, &measures, near);
    let forth = judge(newer, older, likeness);
    let back = judge(older, newer, likeness);
    let agreeing = |scores: super::Scores| scores.about * (1.0 - scores.against);
    let agreed = agreeing(forth.scores).min(agreeing(back.scores));
    if is_contained && !parting.is_denied && !parting.is_distinct {
        return (Kinship::Twins, agreed.max(MIN_AGREEING));
    }
    let enough = if parting.is_one_topic { MIN_AGREEING_ON_TOPIC } else { MIN_AGREEING };
    let is_parted = parting.is_denied || parting.is_specific || parting.is_distinct;
    if agreed >= enough && !is_parted {
        return (Kinship::Twins, agreed);
    }
    let is_against = forth.relation == Relation::Contradicts
        && forth.likelihood >= MIN_AGAINST
        && likeness.whole >= MIN_NEAR;
    let is_one_topic = !has_other_topic(older, newer, near);
    if is_against
        && is_one_topic
        && !parting.is_renamed
        && says_otherwise(newer, &measures, &parting)
    {
        return (Kinship::Against, forth.likelihood);
    }
    (Kinship::Apart, 1.0 - forth.scores.about.max(back.scores.about))
}

/// Returns whether one claim contains all words of the other, and the contained claim is specific
/// enough.
fn is_contained(a: &Profile, b: &Profile) -> bool {
    (a.holds(b) && b.n_terms >= MIN_TERMS) || (b.holds(a) && a.n_terms >= MIN_TERMS)
}

/// How two claims differ.
struct Parting {
    /// One claim negates a term that the other affirms.
    is_denied: bool,
    /// Each claim has names, flags or numbers that the other one lacks.
    is_specific: bool,
    /// The claims cannot be equal; see [`are_distinct`].
    is_distinct: bool,
    /// The claims have the same pattern, but differ at some position in words that are not numbers.
    is_renamed: bool,
    is_opposite: bool,
    /// Both titles have the same topics; see [`is_one_topic`].
    is_one_topic: bool,
}

impl Parting {
    fn of(a: &Profile, b: &Profile, measures: &Measures, near: NearWords<'_>) -> Self {
        let [turned, title_turned] = [measures[14], measures[15]];
        Self {
            // Which terms a negation applies to depends on the word order, so two titles that
            // negate the same term agree.
            is_denied: a.denied_title.is_disjoint(&b.denied_title)
                && (title_turned > MAX_TURNED || turned > MAX_TURNED_IN_ALL),
            is_specific: is_specific(a, b, near),
            is_distinct: are_distinct(a, b),
            is_renamed: is_swapped(a, b, |word| !word.bytes().any(|byte| byte.is_ascii_digit())),
            is_opposite: have_opposite_titles(a, b),
            is_one_topic: is_one_topic(a, b, near),
        }
    }
}

/// Returns whether each claim names something that the other one does not: a topic in the title, a
/// number, or at least two names.
fn is_specific(a: &Profile, b: &Profile, near: NearWords<'_>) -> bool {
    let alone = |x: &Profile, y: &Profile| -> Vec<String> {
        x.specifics.iter().filter(|name| !y.terms.contains_key(*name)).cloned().collect()
    };
    let (a_alone, b_alone) = (alone(a, b), alone(b, a));
    let has_digit =
        |names: &[String]| names.iter().any(|name| name.bytes().any(|byte| byte.is_ascii_digit()));
    (has_topic_beyond(a, b, near) && has_topic_beyond(b, a, near))
        || is_beside_another(a, b, near)
        || (has_digit(&a_alone) && has_digit(&b_alone))
        || (a_alone.len() > 1 && b_alone.len() > 1)
}

/// Returns whether two titles have the same topics, and share enough of them.
fn is_one_topic(a: &Profile, b: &Profile, near: NearWords<'_>) -> bool {
    let is_shared = |word: &&TitleWord| word.is_topic && b.title.contains_key(&word.term);
    a.line.iter().filter(is_shared).count() >= MIN_TOPICS
        && !has_topic_beyond(a, b, near)
        && !has_topic_beyond(b, a, near)
}

/// Returns whether `one`'s title has a topic that `other` does not mention, not even as a similar
/// word.
fn has_topic_beyond(one: &Profile, other: &Profile, near: NearWords<'_>) -> bool {
    one.line.iter().any(|word| is_beyond(word, other, near))
}

fn is_beyond(word: &TitleWord, other: &Profile, near: NearWords<'_>) -> bool {
    word.is_topic
        && !other.terms.contains_key(&word.term)
        && !near(&word.text).into_iter().any(|known| other.words.contains(known))
}

/// Returns whether two titles have different words next to a word that they share, such as "the
/// login page" and "the search page".
fn is_beside_another(a: &Profile, b: &Profile, near: NearWords<'_>) -> bool {
    let parts = |x: Option<&TitleWord>, y: Option<&TitleWord>| {
        let (Some(x), Some(y)) = (x, y) else { return false };
        let is_in =
            |word: &TitleWord, of: &Profile| of.line.iter().any(|own| own.term == word.term);
        let is_name = |word: &TitleWord| word.is_topic && !word.is_number();
        let is_near = || near(&x.text).contains(&y.text.as_str());
        is_name(x) && is_name(y) && !is_in(x, b) && !is_in(y, a) && !is_near()
    };
    let parts_around = |i: usize, j: usize| {
        let before = i.checked_sub(1).zip(j.checked_sub(1));
        before.is_some_and(|(i, j)| parts(a.line.get(i), b.line.get(j)))
            || parts(a.line.get(i + 1), b.line.get(j + 1))
    };
    a.line.iter().enumerate().filter(|(_, word)| word.is_topic).any(|(i, word)| {
        let mut others = b.line.iter().enumerate();
        others.any(|(j, other)| other.term == word.term && parts_around(i, j))
    })
}

/// Returns whether the older claim has a topic, other than a number, that the newer one does not
/// mention. One such topic is allowed if the claims have enough topics in common.
fn has_other_topic(older: &Profile, newer: &Profile, near: NearWords<'_>) -> bool {
    let names = || older.line.iter().filter(|word| word.is_topic && !word.is_number());
    let n_beyond = names().filter(|word| is_beyond(word, newer, near)).count();
    let n_allowed = usize::from(names().count() >= n_beyond + MIN_TOPICS);
    n_beyond > n_allowed || is_beside_another(older, newer, near)
}

/// Returns whether the newer claim is about the same topic and indicates that it supersedes the
/// older one.
fn says_otherwise(newer: &Profile, measures: &Measures, parting: &Parting) -> bool {
    let [title_kept, title_known] = [measures[4], measures[5]];
    let has_value = measures[12] > 0.0;
    let is_turned = parting.is_denied || parting.is_opposite;
    title_kept.max(title_known) >= 0.5 && (newer.announces_change() || has_value || is_turned)
}

/// Returns whether two claims cannot be equal, however similar they sound: they differ in a number
/// or a name, one denies what the other affirms, or names have changed places.
pub(crate) fn are_distinct(a: &Profile, b: &Profile) -> bool {
    let (a_values, b_values) = (values(a), values(b));
    let is_other_value = !a_values.is_subset(&b_values) && !b_values.is_subset(&a_values);
    is_other_value
        || have_opposite_titles(a, b)
        || is_denied_once(a, b)
        || is_reversed(a, b)
        || is_swapped(a, b, |_| true)
}

/// Returns whether two titles name the same things, but only one of them denies what it says, or
/// they give different numbers.
pub fn are_opposed(a: &Profile, b: &Profile) -> bool {
    let is_number = |word: &&TitleWord| word.text.starts_with(|c: char| c.is_ascii_digit());
    let terms = |profile: &Profile, wants_numbers: bool| -> BTreeSet<String> {
        let is_wanted = |word: &&TitleWord| word.is_topic && is_number(word) == wants_numbers;
        profile.line.iter().filter(is_wanted).map(|word| word.term.clone()).collect()
    };
    let (numbers, others) = (terms(a, true), terms(b, true));
    let has_other_number = !numbers.is_subset(&others) && !others.is_subset(&numbers);
    let topics = terms(a, false);
    1 < topics.len() && topics == terms(b, false) && (has_other_number || is_denied_once(a, b))
}

/// Returns a text's numbers and ordinals. Units are ignored: "30s" and "30 seconds" have the same
/// value.
fn values(profile: &Profile) -> BTreeSet<&str> {
    let words = profile.words.iter().map(String::as_str);
    let values = words.map(|word| match word {
        "zero" => "0",
        "one" => "1",
        word if ORDINALS.contains(&word) => word,
        word => word.trim_matches(|c: char| !c.is_ascii_digit()),
    });
    values.filter(|value| !value.is_empty()).collect()
}

/// Returns whether only one title negates a term that both mention. Two negations, as in "do not
/// push without asking", cancel each other out.
fn is_denied_once(a: &Profile, b: &Profile) -> bool {
    let n_denials = |profile: &Profile| {
        profile.line.iter().filter(|word| DENIALS.contains(word.text.as_str())).count()
    };
    let denies = |x: &Profile, y: &Profile| {
        let mut denied = x.denied_title.iter();
        denied.any(|term| y.title.contains_key(term) && !y.denied_title.contains(term))
    };
    n_denials(a) % 2 != n_denials(b) % 2 && (denies(a, b) || denies(b, a))
}

/// Returns whether two names have switched places around a shared word, as in "the API calls the
/// worker" and "the worker calls the API". Some words, as in "Cargo with `--locked`", mean the same
/// in either order.
fn is_reversed(a: &Profile, b: &Profile) -> bool {
    let is_name = |word: &TitleWord| {
        word.is_topic || [a, b].iter().any(|profile| profile.specifics.contains(&word.term))
    };
    let place = |word: &TitleWord| {
        let place = b.line.iter().take(MAX_ALIGNED).position(|other| other.term == word.term)?;
        Some((place, is_name(word)))
    };
    let places: Vec<(usize, bool)> = a.line.iter().take(MAX_ALIGNED).filter_map(place).collect();
    let is_before = |later: &[(usize, bool)], from: usize| {
        later.iter().any(|(place, is_name)| *is_name && *place < from)
    };
    places.iter().enumerate().filter(|(_, (_, is_name))| *is_name).any(|(i, (from, _))| {
        let mut between = places.iter().enumerate().skip(i + 1);
        between.any(|(j, (middle, _))| {
            middle < from
                && !SYMMETRIC.contains(&b.line[*middle].text.as_str())
                && is_before(&places[j + 1..], *middle)
        })
    })
}

/// Returns whether two texts, or their titles, have the same pattern but different specific words
/// at some position. Only words that satisfy `counts` are compared.
fn is_swapped(a: &Profile, b: &Profile, counts: impl Fn(&str) -> bool) -> bool {
    let words = |profile: &'_ Profile| -> Vec<String> {
        profile.plain.split_whitespace().take(MAX_ALIGNED).map(str::to_owned).collect()
    };
    let title = |profile: &'_ Profile| -> Vec<String> {
        profile.line.iter().take(MAX_ALIGNED).map(|word| word.text.clone()).collect()
    };
    is_pattern_with_slot(&words(a), &words(b), &counts)
        || is_pattern_with_slot(&title(a), &title(b), &counts)
}

fn is_pattern_with_slot(a: &[String], b: &[String], counts: &impl Fn(&str) -> bool) -> bool {
    let (shared, slots) = align(a, b);
    let is_pattern = shared as f32 / a.len().max(b.len()).max(1) as f32 >= MIN_PATTERN;
    let names = |words: &[String], other: &[String]| {
        // An ordinal distinguishes two things, although ordinals can occur in claims about
        // anything. So does the name of the branch `main`.
        let is_telling =
            |word: &str| !is_general(word) || ORDINALS.contains(&word) || word == "main";
        words.iter().any(|word| counts(word) && is_telling(word) && !other.contains(word))
    };
    is_pattern && slots.iter().any(|(own, other)| names(own, b) && names(other, a))
}

/// The words at one position where two texts differ.
type Slot<'a> = (&'a [String], &'a [String]);

/// Returns how many words two texts share in the same order, and where they differ.
fn align<'a>(a: &'a [String], b: &'a [String]) -> (usize, Vec<Slot<'a>>) {
    let width = b.len() + 1;
    let mut table = vec![0_u16; (a.len() + 1) * width];
    for (i, x) in a.iter().enumerate().rev() {
        for (j, y) in b.iter().enumerate().rev() {
            table[i * width + j] = if x == y {
                table[(i + 1) * width + j + 1] + 1
            } else {
                table[(i + 1) * width + j].max(table[i * width + j + 1])
            };
        }
    }
    let mut slots = Vec::new();
    let (mut i, mut j, mut from) = (0, 0, (0, 0));
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            slots.push((&a[from.0..i], &b[from.1..j]));
            (i, j) = (i + 1, j + 1);
            from = (i, j);
        } else if table[(i + 1) * width + j] >= table[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    slots.push((&a[from.0..], &b[from.1..]));
    slots.retain(|(own, other)| !own.is_empty() && !other.is_empty());
    (usize::from(table[0]), slots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_laid_side_by_side() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (a, b, expected) in [
            ("a b c", "a b c", (3, 0)),
            ("a b c", "a x c", (2, 1)),
            ("a b c", "a c", (2, 0)),
            ("a b c d", "a x c y", (2, 2)),
        ] {
            let (a, b) = (words(a), words(b));
            let (n_shared, slots) = align(&a, &b);
            assert_eq!((n_shared, slots.len()), expected, "{a:?} / {b:?}");
        }
    }
}
