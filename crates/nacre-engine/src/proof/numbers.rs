//! Whether the numbers of a statement belong to the same words as in its source.

use super::source::{Source, Unit};
use super::words::{Word, WordKind};

/// A sentence with the number must have this share of what the best sentence has of the statement's words.
const MIN_SHARE: f32 = 0.6;

/// Whether a number of a part is missing in the source, or counts something else there.
pub(super) fn has_strange_number(part: &[Word], source: &Source) -> bool {
    let mut numbers = part.iter().enumerate().filter(|(_, word)| word.kind == WordKind::Number);
    numbers.any(|(at, number)| is_strange(part, at, number, source))
}

fn is_strange(part: &[Word], at: usize, number: &Word, source: &Source) -> bool {
    let with_it: Vec<&Unit> = source.units.iter().filter(|unit| holds(unit, &number.key)).collect();
    if with_it.is_empty() {
        return !source.free_numbers.contains(&number.key);
    }
    !is_near(part, &with_it, source) || counts_another(part, at, number, source)
}

fn holds(unit: &Unit, number: &str) -> bool {
    unit.words.iter().any(|word| word.kind == WordKind::Number && word.key == number)
}

/// Whether one of these sentences is about the same as the part: nearly as much as the best sentence of all.
pub(super) fn is_near(part: &[Word], units: &[&Unit], source: &Source) -> bool {
    let said: Vec<&Word> = part.iter().filter(|word| word.is_content()).collect();
    let best = source.units.iter().map(|unit| unit.n_of(&said)).max().unwrap_or(0);
    let own = units.iter().map(|unit| unit.n_of(&said)).max().unwrap_or(0);
    own as f32 >= best as f32 * MIN_SHARE
}

/// Whether what stands behind the number stands behind other numbers in the source, and not behind this one.
fn counts_another(part: &[Word], at: usize, number: &Word, source: &Source) -> bool {
    let Some(counted) = behind(part, at) else { return false };
    let mut is_of_another = false;
    for unit in &source.units {
        for (at, word) in unit.words.iter().enumerate() {
            if word.kind != WordKind::Number || behind(&unit.words, at) != Some(counted) {
                continue;
            }
            if word.key == number.key {
                return false;
            }
            is_of_another = true;
        }
    }
    is_of_another
}

/// The first word behind a number that says something.
fn behind(words: &[Word], at: usize) -> Option<&str> {
    let mut rest = words.get(at + 1..)?.iter();
    rest.find(|word| word.kind != WordKind::Filler).map(|word| word.key.as_str())
}
