//! Whether a statement denies what its source affirms, or affirms what it denies.

use std::sync::LazyLock;

use super::source::{Source, Unit};
use super::tables::{BE, DENY_BACKWARDS, OPPOSITES, PASSED_OVER, REFUSED};
use super::words::{Word, WordKind, key_of};

/// The keys of the words that are each other's opposites, both ways round.
static OPPOSITE_KEYS: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let both = |(one, other): &(&str, &str)| {
        let (one, other) = (key_of(one), key_of(other));
        [(one.clone(), other.clone()), (other, one)]
    };
    OPPOSITES.iter().flat_map(both).collect()
});

/// How many words a denial reaches.
const REACH: usize = 2;

/// The words that each denial of a text denies.
pub(super) fn denials(words: &[Word]) -> Vec<Vec<String>> {
    (0..words.len()).filter_map(|at| denial(words, at)).collect()
}

/// What the word at this place denies, if it denies.
fn denial(words: &[Word], at: usize) -> Option<Vec<String>> {
    let word = &words[at];
    let next = words.get(at + 1).map(|word| word.text.as_str());
    let is_pair =
        matches!((word.text.as_str(), next), ("instead", Some("of")) | ("rather", Some("than")));
    let is_given_up =
        matches!((word.text.as_str(), next), ("turned", Some("down")) | ("given", Some("up")));
    let follows_be =
        words[..at].iter().rev().take(2).any(|before| BE.contains(&before.text.as_str()));
    if is_given_up || (follows_be && REFUSED.contains(&word.text.as_str())) {
        return Some(refused(words, at));
    }
    if word.kind != WordKind::Negator && !is_pair {
        return None;
    }
    let from = (at + 1 + usize::from(is_pair)).min(words.len());
    let behind: &[Word] = if word.ends_piece { &[] } else { &words[from..] };
    let mut denied = reached(behind.iter(), REACH);
    if denied.is_empty() || DENY_BACKWARDS.contains(&word.text.as_str()) {
        denied.extend(reached(before(words, at), 1));
    }
    (!denied.is_empty()).then_some(denied)
}

/// The words of the same piece before a place, the last first.
fn before(words: &[Word], at: usize) -> impl Iterator<Item = &Word> {
    words[..at].iter().rev().take_while(|word| !word.ends_piece)
}

/// What stands last before a refusal, with the number before it.
fn refused(words: &[Word], at: usize) -> Vec<String> {
    let can_be = |word: &&Word| !PASSED_OVER.contains(&word.text.as_str());
    let last: Vec<&Word> = before(words, at).filter(can_be).take(REACH).collect();
    let is_meant = |(at, word): &(usize, &&Word)| *at == 0 || word.kind == WordKind::Number;
    last.iter().enumerate().filter(is_meant).map(|(_, word)| word.key.clone()).collect()
}

/// The next words of the same piece that can be denied.
fn reached<'a>(words: impl Iterator<Item = &'a Word>, n: usize) -> Vec<String> {
    let mut found = Vec::new();
    for word in words {
        let is_passed_over = PASSED_OVER.contains(&word.text.as_str());
        if word.kind != WordKind::Negator && !is_passed_over {
            found.push(word.key.clone());
        }
        if word.ends_piece || found.len() == n {
            break;
        }
    }
    found
}

/// Whether a part of a statement denies what none of the sentences that are near to it denies.
pub(super) fn denies_alone(part: &[Word], near: &[&Unit]) -> bool {
    let known: Vec<Vec<Vec<String>>> = near.iter().map(|unit| denials(&unit.words)).collect();
    let said = denials(part);
    said.iter().any(|denied| {
        !known.iter().any(|of_unit| {
            let shares = of_unit.iter().any(|other| denied.iter().any(|key| other.contains(key)));
            // Two denials cancel each other.
            shares && of_unit.len() % 2 == said.len() % 2
        })
    })
}

/// Whether a part affirms what the sentence denies.
pub(super) fn affirms_denied(part: &[Word], unit: &Unit) -> bool {
    let said: Vec<String> = denials(part).concat();
    let known = denials(&unit.words);
    let nearest = nearest_pieces(part, unit);
    // What the sentence denies here and affirms where it is nearest may be said.
    let is_affirmed = |key: &String| {
        nearest.iter().all(|piece| {
            let has = piece.iter().any(|word| word.key == *key);
            has && !denials(piece).concat().contains(key)
        })
    };
    known.iter().any(|denied| {
        let is_said = |key: &&String| part.iter().any(|word| word.key == **key);
        let is_meant = denied.iter().filter(is_said).any(|key| !is_affirmed(key));
        is_meant && !denied.iter().any(|key| said.contains(key))
    })
}

/// The pieces of a sentence, between commas and the like, that have most of the words of a part.
fn nearest_pieces<'a>(part: &[Word], unit: &'a Unit) -> Vec<&'a [Word]> {
    let is_shared = |word: &&Word| word.is_content() && part.iter().any(|own| own.key == word.key);
    let pieces = || unit.words.split_inclusive(|word| word.ends_piece);
    let best = pieces().map(|piece| piece.iter().filter(is_shared).count()).max().unwrap_or(0);
    pieces().filter(|piece| piece.iter().filter(is_shared).count() == best).collect()
}

/// Whether a part has a word where the sentence has its opposite.
pub(super) fn is_opposite(part: &[Word], unit: &Unit) -> bool {
    let in_part = |key: &str| part.iter().any(|word| word.key == key);
    OPPOSITE_KEYS
        .iter()
        .any(|(said, meant)| in_part(said) && !in_part(meant) && unit.has(meant) && !unit.has(said))
        || part.iter().any(|word| is_prefixed_opposite(word, unit))
}

/// Whether a word is one of the sentence with "un" before it.
fn is_prefixed_opposite(word: &Word, unit: &Unit) -> bool {
    let bare = word.text.strip_prefix("un").filter(|bare| bare.len() > 3);
    bare.is_some_and(|bare| unit.has(&key_of(bare)) && !unit.has(&word.key))
}

/// Whether words that are each other's opposites have changed places: "removing the new" for "removing the old".
pub(super) fn swaps_opposites(part: &[Word], source: &Source) -> bool {
    let behind = |words: &[Word], key: &str| -> Vec<String> {
        let at = words.iter().enumerate().filter(|(_, word)| word.key == key).map(|(at, _)| at);
        at.flat_map(|at| reached(words[at + 1..].iter(), 1)).collect()
    };
    let in_source = |key: &str| -> Vec<String> {
        source.units.iter().flat_map(|unit| behind(&unit.words, key)).collect()
    };
    OPPOSITE_KEYS.iter().any(|(one, other)| {
        let said = behind(part, one);
        if said.is_empty() {
            return false;
        }
        let (own, of_other) = (in_source(one), in_source(other));
        said.iter().any(|word| of_other.contains(word) && !own.contains(word))
    })
}

#[cfg(test)]
mod tests {
    use super::super::words::words;
    use super::*;

    #[test]
    fn a_denial_reaches_what_it_denies() {
        for (text, expected) in [
            ("It is not in the database", "databas"),
            ("Hooks say nothing", "say"),
            ("without a default, then", "default"),
            ("no, never npm: npm writes", "npm"),
            ("per key rather than per address", "address"),
            ("GraphQL was turned down", "graphql"),
            ("500 ms was refused", "ms,500"),
            ("You don't run it", "run"),
            ("The queue is a table", ""),
        ] {
            assert_eq!(denials(&words(text)).concat().join(","), expected, "{text}");
        }
    }
}
