//! How two memories stand to each other that are both in the store already.
//!
//! A sync asks what one new claim adds to eight memories. Here tens of thousands of pairs are asked, nearly all of which
//! are two claims in their own right, so the answer must be surer than a likelihood: the words that differ are looked at
//! one by one. Where two texts run alike and part at a word that names something else, they speak of two things.

use super::measure::{Likeness, Measures, measure};
use super::profile::{Profile, opposites};
use super::weights::{Relation, judge};

/// How sure both directions must be that two claims agree.
const MIN_AGREEING: f32 = 0.50;

/// How sure it must be that the newer claim contradicts the older one.
const MIN_AGAINST: f32 = 0.75;

/// And how near both must be in meaning.
const MIN_NEAR: f32 = 0.5;

/// Texts that share this much of their order were made after one pattern.
const MIN_PATTERN: f32 = 0.6;

/// The most of what both say that only one may deny.
const MAX_TURNED: f32 = 0.34;

/// A claim with fewer words than this is held by many texts that mean something else.
const MIN_TERMS: usize = 4;

/// The most words of a claim that are laid side by side.
const MAX_ALIGNED: usize = 80;

/// How two memories stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kinship {
    /// The same words.
    Exact,
    /// The same claim in other words, or in fewer.
    Twins,
    /// The newer says otherwise.
    Against,
    Apart,
}

impl Kinship {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Twins => "twins",
            Self::Against => "against",
            Self::Apart => "apart",
        }
    }
}

/// Compares two memories of one type; the newer one comes first. Also says how sure it is, from 0 to 1.
pub fn kinship(newer: &Profile, older: &Profile, likeness: Likeness) -> (Kinship, f32) {
    if !newer.plain.trim().is_empty() && newer.plain == older.plain {
        return (Kinship::Exact, 1.0);
    }
    let measures = measure(newer, older, likeness);
    let parting = Parting::of(newer, older, &measures);
    let forth = judge(newer, older, likeness);
    let back = judge(older, newer, likeness);
    let agreeing = |scores: super::Scores| scores.about * (1.0 - scores.against);
    let agreed = agreeing(forth.scores).min(agreeing(back.scores));
    if is_contained(newer, older) && !parting.is_denied {
        return (Kinship::Twins, agreed.max(MIN_AGREEING));
    }
    if agreed >= MIN_AGREEING && parting.is_none() {
        return (Kinship::Twins, agreed);
    }
    let is_against = forth.relation == Relation::Contradicts
        && forth.likelihood >= MIN_AGAINST
        && likeness.whole >= MIN_NEAR;
    if is_against && says_otherwise(newer, &measures, &parting) {
        return (Kinship::Against, forth.likelihood);
    }
    (Kinship::Apart, 1.0 - forth.scores.about.max(back.scores.about))
}

/// Whether one holds all words of the other, which are enough to mean one thing.
fn is_contained(a: &Profile, b: &Profile) -> bool {
    (a.holds(b) && b.n_terms >= MIN_TERMS) || (b.holds(a) && a.n_terms >= MIN_TERMS)
}

/// Where two claims part.
struct Parting {
    /// A word is denied in one and stated in the other.
    is_denied: bool,
    /// Names, flags or numbers stand in each that the other lacks.
    is_specific: bool,
    /// They run alike and differ in words of the same place.
    is_swapped: bool,
    is_opposite: bool,
}

impl Parting {
    fn of(a: &Profile, b: &Profile, measures: &Measures) -> Self {
        let [turned, title_turned] = [measures[14], measures[15]];
        Self {
            is_denied: turned.max(title_turned) > MAX_TURNED,
            is_specific: is_specific(a, b),
            is_swapped: is_swapped(a, b),
            is_opposite: opposites(a, b) > 0.0,
        }
    }

    fn is_none(&self) -> bool {
        !(self.is_denied || self.is_specific || self.is_swapped || self.is_opposite)
    }
}

/// Whether each names what the other does not: in the title, by a number, or twice.
fn is_specific(a: &Profile, b: &Profile) -> bool {
    let alone = |x: &Profile, y: &Profile| -> Vec<String> {
        x.specifics.iter().filter(|name| !y.terms.contains_key(*name)).cloned().collect()
    };
    let (a_alone, b_alone) = (alone(a, b), alone(b, a));
    let in_title =
        |names: &[String], of: &Profile| names.iter().any(|name| of.title.contains_key(name));
    let has_digit =
        |names: &[String]| names.iter().any(|name| name.bytes().any(|byte| byte.is_ascii_digit()));
    (in_title(&a_alone, a) && in_title(&b_alone, b))
        || (has_digit(&a_alone) && has_digit(&b_alone))
        || (a_alone.len() > 1 && b_alone.len() > 1)
}

/// Whether the newer claim gives a sign that it overturns the older, and speaks of the same thing.
fn says_otherwise(newer: &Profile, measures: &Measures, parting: &Parting) -> bool {
    let [title_kept, title_known] = [measures[4], measures[5]];
    let has_change = newer.change >= 0.7;
    let has_value = measures[12] > 0.0;
    let is_turned = parting.is_denied || parting.is_opposite;
    title_kept.max(title_known) >= 0.5 && (has_change || has_value || is_turned)
}

/// Whether two texts have one order of words and part where both name something.
fn is_swapped(a: &Profile, b: &Profile) -> bool {
    let words = |profile: &'_ Profile| -> Vec<String> {
        profile.plain.split_whitespace().take(MAX_ALIGNED).map(str::to_owned).collect()
    };
    let (a_words, b_words) = (words(a), words(b));
    let (shared, slots) = aligned(&a_words, &b_words);
    let n_longer = a_words.len().max(b_words.len()).max(1);
    let is_pattern = shared as f32 / n_longer as f32 >= MIN_PATTERN;
    is_pattern && slots > 0
}

/// How many words two texts share in their order, and in how many places both have words of their own.
fn aligned(a: &[String], b: &[String]) -> (usize, usize) {
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
    let (mut i, mut j, mut n_slots) = (0, 0, 0);
    let (mut own_a, mut own_b) = (false, false);
    while i < a.len() || j < b.len() {
        let is_same = i < a.len() && j < b.len() && a[i] == b[j];
        if is_same {
            n_slots += usize::from(own_a && own_b);
            (own_a, own_b) = (false, false);
            (i, j) = (i + 1, j + 1);
        } else if j == b.len()
            || (i < a.len() && table[(i + 1) * width + j] >= table[i * width + j + 1])
        {
            own_a = true;
            i += 1;
        } else {
            own_b = true;
            j += 1;
        }
    }
    n_slots += usize::from(own_a && own_b);
    (usize::from(table[0]), n_slots)
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
            assert_eq!(aligned(&words(a), &words(b)), expected, "{a} / {b}");
        }
    }
}
