//! Splits text into words, normalizes their keys, classifies them, and finds the words that each
//! negation covers.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use nacre_base::text::{is_stop_word, stem as word_stem};

/// Maps the stem of each synonym to the stem of its group's first word.
static GROUPS: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let mut groups = HashMap::new();
    for group in SYNONYMS {
        let name = group.first().map_or_else(String::new, |first| single_end(word_stem(first)));
        for word in *group {
            groups.entry(single_end(word_stem(word))).or_insert_with(|| name.clone());
        }
    }
    groups
});

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordKind {
    Content,
    Number,
    Negator,
    Filler,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProofWord {
    pub(super) text: String,
    pub(super) key: String,
    pub(super) kind: WordKind,
    pub(super) ends_piece: bool,
}

impl ProofWord {
    fn new(token: &str) -> Self {
        let lower = token.to_lowercase().replace('’', "'");
        let text = lower.strip_suffix("'s").unwrap_or(&lower).to_owned();
        let digits = NUMBERS.iter().find(|(name, _)| *name == text).map(|(_, digits)| *digits);
        if text.starts_with(char::is_numeric) || digits.is_some() {
            let key = digits.map_or_else(|| text.replace(',', ""), str::to_owned);
            return Self { text, key, kind: WordKind::Number, ends_piece: false };
        }
        let kind = if NEGATORS.contains(&text.as_str()) || text.ends_with("n't") {
            WordKind::Negator
        } else if is_stop_word(&text) || GENERIC.contains(text.as_str()) || text.len() < 2 {
            WordKind::Filler
        } else {
            WordKind::Content
        };
        Self { key: key_of(&text), text, kind, ends_piece: false }
    }

    pub(super) fn is_content(&self) -> bool {
        self.kind == WordKind::Content
    }
}

pub fn says_something(text: &str) -> bool {
    words(text).iter().any(|word| word.kind != WordKind::Filler)
}

pub(super) fn words(text: &str) -> Vec<ProofWord> {
    let is_mark = |c: char| matches!(c, ',' | ';' | ':' | '(' | ')' | '—' | '–' | '.' | '!' | '?');
    let tokens = tokens(text);
    let mut found = Vec::with_capacity(tokens.len());
    for (idx, token) in tokens.iter().enumerate() {
        let next = tokens.get(idx + 1).map_or(text.len(), |next| next.start);
        let gap = &text[token.end..next];
        // Punctuation inside a name does not end a piece.
        let ends_piece = gap.contains(is_mark) && (gap.len() > 1 || next == text.len());
        found.push(ProofWord { ends_piece, ..ProofWord::new(&text[token.clone()]) });
    }
    found
}

pub(super) fn key_of(word: &str) -> String {
    let base = IRREGULAR.iter().find(|(form, _)| *form == word).map_or(word, |(_, base)| *base);
    let stem = single_end(word_stem(base));
    GROUPS.get(&stem).cloned().unwrap_or(stem)
}

/// Reduces a double letter at the end of a stem to a single letter, so that "adding" matches "add".
fn single_end(mut stem: String) -> String {
    let mut ends = stem.chars().rev();
    if let (Some(last), Some(other), Some(_)) = (ends.next(), ends.next(), ends.next())
        && last == other
        && "bdfgmnprt".contains(last)
    {
        stem.pop();
    }
    stem
}

fn tokens(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = None;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let is_number = start.is_some_and(|from: usize| text[from..].starts_with(char::is_numeric));
        let is_inner = match c {
            '\'' | '’' => next.is_some_and(char::is_alphabetic),
            '.' | ',' | ':' => is_number && next.is_some_and(char::is_numeric),
            _ => false,
        };
        if c.is_alphanumeric() || (is_inner && start.is_some()) {
            start.get_or_insert(at);
        } else if let Some(from) = start.take() {
            found.push(from..at);
        }
    }
    found.extend(start.map(|from| from..text.len()));
    found
}

pub(super) fn parts_of_name(token: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut last = None;
    for c in token.chars() {
        if last.is_some_and(char::is_lowercase) && c.is_uppercase() {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut() {
            part.extend(c.to_lowercase());
        }
        last = Some(c);
    }
    if parts.len() > 1 { parts } else { Vec::new() }
}

/// Number of words that a negation covers.
const REACH: usize = 2;

pub(super) fn denials(words: &[ProofWord]) -> Vec<Vec<String>> {
    (0..words.len()).filter_map(|at| denial(words, at)).collect()
}

/// Returns whether one text negates what the other asserts.
pub fn contradicts(claim: &str, quote: &str) -> bool {
    let (claim, quote) = (words(claim), words(quote));
    denies(&claim, &quote) || denies(&quote, &claim)
}

fn denies(denying: &[ProofWord], saying: &[ProofWord]) -> bool {
    let denied = denials(saying).concat();
    let says = |key: &String| saying.iter().any(|word| word.key == *key) && !denied.contains(key);
    denials(denying).concat().iter().any(says)
}

/// Returns the words negated by the word at this position, or `None` if the word is not a negation.
fn denial(words: &[ProofWord], at: usize) -> Option<Vec<String>> {
    let word = &words[at];
    let next = words.get(at + 1).map(|word| word.text.as_str());
    let is_pair =
        matches!((word.text.as_str(), next), ("instead", Some("of")) | ("rather", Some("than")));
    let is_given_up =
        matches!((word.text.as_str(), next), ("turned", Some("down")) | ("given", Some("up")));
    let follows_be =
        words[..at].iter().rev().take(2).any(|before| BE.contains(&before.text.as_str()));
    if is_given_up || (follows_be && REFUSED.contains(&word.text.as_str())) {
        return Some(find_refused(words, at));
    }
    if word.kind != WordKind::Negator && !is_pair {
        return None;
    }
    let from = (at + 1 + usize::from(is_pair)).min(words.len());
    let behind: &[ProofWord] = if word.ends_piece { &[] } else { &words[from..] };
    let mut denied = find_reached(behind.iter(), REACH);
    if denied.is_empty() || DENY_BACKWARDS.contains(&word.text.as_str()) {
        denied.extend(find_reached(before(words, at), 1));
    }
    (!denied.is_empty()).then_some(denied)
}

fn before(words: &[ProofWord], at: usize) -> impl Iterator<Item = &ProofWord> {
    words[..at].iter().rev().take_while(|word| !word.ends_piece)
}

fn find_refused(words: &[ProofWord], at: usize) -> Vec<String> {
    let can_be = |word: &&ProofWord| !PASSED_OVER.contains(&word.text.as_str());
    let last: Vec<&ProofWord> = before(words, at).filter(can_be).take(REACH).collect();
    let is_meant = |(at, word): &(usize, &&ProofWord)| *at == 0 || word.kind == WordKind::Number;
    last.iter().enumerate().filter(is_meant).map(|(_, word)| word.key.clone()).collect()
}

fn find_reached<'a>(words: impl Iterator<Item = &'a ProofWord>, n: usize) -> Vec<String> {
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

pub(super) static GENERIC: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    word_set(
        "according actually currently decide decided decision do done due get gets got hence \
         i.e instead kept like mean means memory namely now one order rather reason run runs \
         saved say says since still stored therefore thus today use used uses using via whoever \
         yet",
    )
});

pub(super) static ABOUT_CODE: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    word_set(
        "argument arguments call called calls check checked checks class code comes constant \
         declared declares defined defines field file files first function handled handles \
         implemented implements line lines method module parameter pass passed passes return \
         returned returns set sets struct take taken takes type value variable",
    )
});

/// Groups of synonyms. Each group's first word is its key.
pub(super) const SYNONYMS: &[&[&str]] = &[
    &["store", "keep", "hold", "live", "lie", "save", "reside", "stand", "put"],
    &["refuse", "reject", "decline", "turned"],
    &["delete", "erase", "remove"],
    &["embed", "include", "contain", "part"],
    &["run", "execute"],
    &["show", "display"],
    &["choose", "pick", "select"],
    &["need", "require"],
    &["allow", "permit"],
    &["forbid", "prohibit", "ban"],
    &["find", "detect", "discover"],
    &["begin", "start"],
    &["end", "finish"],
    &["folder", "directory"],
    &["configuration", "config"],
    &["repository", "repo"],
    &["documentation", "docs"],
    &["large", "big"],
    &["quickly", "fast"],
    &["sign", "signature"],
    &["ship", "send"],
    &["ms", "millisecond"],
    &["sec", "second"],
    &["min", "minute"],
    &["gb", "gigabyte"],
    &["mb", "megabyte"],
    &["kb", "kilobyte"],
];

pub(super) static IRREGULAR: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    pairs(
        "began/begin begun/begin broke/break broken/break built/build came/come chose/choose \
         chosen/choose fell/fall found/find gave/give given/give held/hold kept/keep knew/know \
         known/know lain/lie lay/lie left/leave lost/lose made/make meant/mean ran/run said/say \
         saw/see seen/see sent/send shown/show shrank/shrink shrunk/shrink spoke/speak \
         stood/stand taken/take told/tell took/take went/go written/write wrote/write",
    )
});

pub(super) const NEGATORS: &[&str] = &[
    "cannot", "hardly", "neither", "never", "no", "nobody", "none", "nor", "not", "nothing",
    "nowhere", "without",
];

/// Negations that also cover the word before them.
pub(super) const DENY_BACKWARDS: &[&str] = &["nobody", "none", "nothing", "nowhere"];

#[rustfmt::skip]
pub(super) const REFUSED: &[&str] = &[
    "abandoned", "avoided", "banned", "declined", "discarded", "dropped", "forbidden",
    "prohibited", "refused", "rejected",
];

pub(super) const BE: &[&str] = &["are", "be", "been", "being", "is", "was", "were"];

pub(super) const PASSED_OVER: &[&str] = &[
    "a", "an", "any", "are", "at", "be", "been", "being", "by", "can", "could", "did", "do",
    "does", "for", "from", "had", "has", "have", "in", "is", "it", "its", "may", "might", "must",
    "of", "on", "per", "shall", "should", "that", "the", "their", "them", "they", "this", "to",
    "was", "we", "were", "will", "with", "would", "you",
];

pub(super) const JOINTS: &[&str] = &[
    "although", "and", "because", "but", "if", "or", "since", "so", "that", "then", "though",
    "unless", "when", "where", "whereas", "which", "while", "who",
];

/// Number words and their digits. "One" is omitted because it rarely denotes a count.
pub(super) static NUMBERS: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    pairs(
        "zero/0 two/2 three/3 four/4 five/5 six/6 seven/7 eight/8 nine/9 ten/10 eleven/11 \
         twelve/12 thirteen/13 fourteen/14 fifteen/15 sixteen/16 seventeen/17 eighteen/18 \
         nineteen/19 twenty/20 thirty/30 forty/40 fifty/50 sixty/60 seventy/70 eighty/80 \
         ninety/90 dozen/12 hundred/100 thousand/1000 million/1000000 billion/1000000000",
    )
});

fn word_set(list: &'static str) -> HashSet<&'static str> {
    list.split(' ').collect()
}

fn pairs(list: &'static str) -> Vec<(&'static str, &'static str)> {
    list.split(' ').filter_map(|pair| pair.split_once('/')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_one_key() {
        for (one, other) in [
            ("kept", "stored"),
            ("ran", "running"),
            ("refused", "turned"),
            ("ms", "milliseconds"),
            ("Deleted", "erases"),
            ("two", "2"),
            ("5,000", "5000"),
            ("depot's", "depots"),
        ] {
            assert_eq!(words(one)[0].key, words(other)[0].key, "{one} {other}");
        }
    }

    #[test]
    fn a_text_falls_into_words() {
        let texts: Vec<String> = words("At 23:00, `hooks.deadline_ms` isn't 5,000; v1.2 of ²00.")
            .into_iter()
            .map(|word| word.text)
            .collect();
        assert_eq!(
            texts,
            ["at", "23:00", "hooks", "deadline", "ms", "isn't", "5,000", "v1", "2", "of", "²00"]
        );
        assert_eq!(parts_of_name("readConfig"), ["read", "config"]);
        assert!(says_something("the queue") && !says_something("and it is so."));
    }
}

#[cfg(test)]
mod polarity_tests {
    use super::*;
    use crate::proof::words::words;

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
