//! Seed phrases of wallets: 12, 15, 18, 21 or 24 short plain words behind a label.
//!
//! Only a label makes words a secret. What keeps sentences out is the exact number of words, their length, and that a
//! sentence has words that no list for seed phrases has.

use std::ops::Range;

use super::breaks;
use super::finding::{FoundSecret, Weight};
use super::text::Text;
use super::value;

/// The labels; the engine also looks for `Label` and `LABEL`.
pub(super) const LABELS: &str = "mnemonic|seed phrase|seed_phrase|seedphrase|seed words|recovery phrase|\
    recovery_phrase|backup phrase|wallet phrase";

/// How much may stand between a label and the first word: ` for the wallet is: "`.
const MAX_LINK: usize = 48;

/// How much may stand between two words: the number of the next, a comma, quotes.
const MAX_GAP: usize = 16;

/// The most words of a phrase.
const MAX_WORDS: usize = 24;

/// Words of sentences that are on no list.
const OTHER_WORDS: &str = " the and for with from are was were has had not you your our his her its but all may into \
    which their there here than been also each any how who why does did per via out now new see set use used uses ";

/// Appends the words of the phrase whose label ends at `end`.
pub(super) fn find(text: &mut Text<'_>, _start: usize, end: usize, found: &mut Vec<FoundSecret>) {
    let Some(first) = first_word(text, end) else { return };
    let words = read_words(text, first);
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return };
    let (start, end) = (first.start, last.end);
    let push = |range: Range<usize>, found: &mut Vec<FoundSecret>| {
        found.push(FoundSecret::new(range, "seed-phrase", Weight::Name));
    };
    let has_quote = text.slice(start, end).iter().any(|byte| b"\"'`".contains(byte));
    // Nothing that is taken out goes over a quote.
    if has_quote {
        words.into_iter().for_each(|word| push(word, found));
    } else {
        push(start..end, found);
    }
}

/// Returns where the first word begins: behind a sign or `is`, on this line or on the next ones.
fn first_word(text: &Text<'_>, end: usize) -> Option<usize> {
    let mut pos = end;
    let mut is_linked = false;
    while pos < end + MAX_LINK {
        let rest = text.rest(pos);
        if is_linked && rest.first()?.is_ascii_lowercase() {
            return Some(pos);
        }
        if let Some(next) = breaks::break_end(text, pos) {
            (pos, is_linked) = (next, true);
            continue;
        }
        // The rest of an escape is no word.
        if rest.first()? == &b'\\' {
            let blanks = breaks::skip_blanks(text, pos);
            let quote = value::quote_at(text, pos).map(|quote| quote.end);
            pos = quote.or_else(|| Some(blanks).filter(|end| *end > pos))?;
            continue;
        }
        is_linked |= matches!(rest.first()?, b':' | b'=' | b'(' | b'[' | b'|' | b'`')
            || rest.starts_with(b" is ")
            || rest.starts_with(b" are ");
        let n_verb = [&b" is "[..], b" are "].into_iter().find(|verb| rest.starts_with(verb));
        let is_plain =
            |byte: u8| byte.is_ascii_alphanumeric() || b" _:=-.*\"'`()[]|>\t".contains(&byte);
        if !is_plain(*rest.first()?) {
            return None;
        }
        pos += n_verb.map_or(1, <[u8]>::len);
    }
    None
}

/// Returns the words of the longest phrase that begins at `first`: none if it is a sentence.
fn read_words(text: &Text<'_>, first: usize) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut n_phrase = 0;
    let mut next = Some(first);
    while let Some(pos) = next.filter(|_| words.len() < MAX_WORDS) {
        let n_word = text.rest(pos).iter().take(12).take_while(|b| b.is_ascii_alphabetic()).count();
        if !is_listed(text.slice(pos, pos + n_word)) {
            break;
        }
        words.push(pos..pos + n_word);
        next = next_word(text, pos + n_word);
        // A phrase that goes on in its line is a sentence.
        let has_ended = next.is_none() || ends(text, pos + n_word);
        if has_ended && matches!(words.len(), 12 | 15 | 18 | 21 | 24) {
            n_phrase = words.len();
        }
    }
    words.truncate(n_phrase);
    words
}

fn is_listed(word: &[u8]) -> bool {
    let is_plain = (3..=8).contains(&word.len()) && word.iter().all(u8::is_ascii_lowercase);
    let mut others = OTHER_WORDS.split(' ');
    is_plain && !others.any(|other| other.as_bytes() == word)
}

/// Says whether a line, a string or a sentence ends at `pos`.
fn ends(text: &Text<'_>, pos: usize) -> bool {
    matches!(text.at(pos), None | Some(b'.' | b')' | b']' | b'<'))
        || value::quote_at(text, pos).is_some()
        || breaks::break_end(text, pos).is_some()
}

/// Returns where the next word begins: behind blanks, a line break, a comma, a number, or quotes of a list.
fn next_word(text: &Text<'_>, end: usize) -> Option<usize> {
    let mut pos = end;
    while pos < end + MAX_GAP {
        if pos > end && text.at(pos)?.is_ascii_alphabetic() {
            return Some(pos);
        }
        pos = match (value::quote_at(text, pos), breaks::break_end(text, pos)) {
            (Some(quote), _) => quote.end,
            (None, Some(next)) if text.at(next) == Some(b'\n') => return None,
            (None, Some(next)) => next,
            (None, None) if is_between(text, pos) => pos + 1,
            (None, None) => return None,
        };
    }
    None
}

/// Says whether the byte at `pos` may stand between two words; a stop only behind a number.
fn is_between(text: &Text<'_>, pos: usize) -> bool {
    match text.at(pos) {
        Some(b'.' | b')') => text.before(pos).is_some_and(|byte| byte.is_ascii_digit()),
        Some(byte) => byte.is_ascii_digit() || matches!(byte, b' ' | b',' | b'\t'),
        None => false,
    }
}
