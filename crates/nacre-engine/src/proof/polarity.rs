//! What a statement denies.

use super::tables::{BE, DENY_BACKWARDS, PASSED_OVER, REFUSED};
use super::words::{Word, WordKind, words};

/// How many words a denial reaches.
const REACH: usize = 2;

/// The words that each denial of a text denies.
pub(super) fn denials(words: &[Word]) -> Vec<Vec<String>> {
    (0..words.len()).filter_map(|at| denial(words, at)).collect()
}

/// Whether one of two texts denies what the other says without a denial.
pub fn contradicts(claim: &str, quote: &str) -> bool {
    let (claim, quote) = (words(claim), words(quote));
    denies(&claim, &quote) || denies(&quote, &claim)
}

fn denies(denying: &[Word], saying: &[Word]) -> bool {
    let denied = denials(saying).concat();
    let says = |key: &String| saying.iter().any(|word| word.key == *key) && !denied.contains(key);
    denials(denying).concat().iter().any(says)
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
