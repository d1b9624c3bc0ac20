//! Splits text into sentences and extracts their citations.
//!
//! A model may write an invented ID without brackets, with a character that looks like a dash, or
//! with an invisible character. Anything that looks like a citation after normalization is
//! therefore treated as one.

use nacre_base::is_hidden_char;

use crate::proof::words::says_something;

const DAY_DIGITS: usize = 8;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    pub named: Vec<String>,
    pub clauses: Vec<Clause>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clause {
    pub words: String,
    pub named: Vec<String>,
}

pub fn marks(sentence: &str) -> Marks {
    let plain = plain(sentence);
    let mut rest = plain.as_str();
    let mut is_code = false;
    let mut clauses = Clauses::default();
    while let Some(at) = rest.find(['[', '`']) {
        clauses.push(&rest[..at]);
        let is_tick = rest[at..].starts_with('`');
        let inside = &rest[at + 1..];
        if is_tick {
            is_code = !is_code;
            clauses.push("`");
            rest = inside;
            continue;
        }
        let end = inside.find(']').unwrap_or(inside.len());
        let group = &inside[..end];
        // Brackets inside code are part of the code unless they contain an ID.
        if is_code || group.starts_with("redacted:") {
            clauses.push(&format!("[{group}]"));
        } else {
            clauses.cite(parse_names(group));
        }
        rest = inside.get(end + 1..).unwrap_or_default();
    }
    clauses.push(rest);
    let mut found = Marks { clauses: clauses.finish(), named: Vec::new() };
    for name in found.clauses.iter().flat_map(|clause| &clause.named) {
        if !found.named.contains(name) {
            found.named.push(name.clone());
        }
    }
    found
}

fn parse_names(group: &str) -> Vec<String> {
    let bare = |part: &str| part.trim_matches(['`', '*', '"', '\'', '.']).to_owned();
    let parts = group.split([',', ';', '[', ' ']).map(bare).filter(|part| !part.is_empty());
    let named: Vec<String> = parts.collect();
    // An empty group is returned as an empty ID, which never resolves.
    if named.is_empty() { vec![String::new()] } else { named }
}

#[derive(Default)]
struct Clauses {
    whole: Vec<Clause>,
    open: Clause,
}

impl Clauses {
    /// Appends words. Content words after a citation begin a new clause.
    fn push(&mut self, words: &str) {
        if !self.open.named.is_empty() && says_something(words) {
            self.whole.push(std::mem::take(&mut self.open));
        }
        self.open.words.push_str(words);
    }

    fn cite(&mut self, named: Vec<String>) {
        let new = named.into_iter().filter(|name| !self.open.named.contains(name));
        let new: Vec<String> = new.collect();
        self.open.named.extend(new);
    }

    fn finish(mut self) -> Vec<Clause> {
        self.whole.push(self.open);
        for clause in &mut self.whole {
            for id in id_shapes(&clause.words) {
                clause.words = clause.words.replace(&id, " ");
                if !clause.named.contains(&id) {
                    clause.named.push(id);
                }
            }
        }
        self.whole
    }
}

/// Normalizes text: removes invisible characters and unifies dashes, digits and brackets.
fn plain(text: &str) -> String {
    let seen = text.chars().filter(|c| !is_hidden_char(*c));
    seen.map(|c| match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => '-',
        '\u{ff10}'..='\u{ff19}' => char::from_digit(u32::from(c) - 0xff10, 10).unwrap_or(c),
        '［' | '【' | '〔' | '⟦' => '[',
        '］' | '】' | '〕' | '⟧' => ']',
        c => c,
    })
    .collect()
}

fn id_shapes(text: &str) -> Vec<String> {
    let mut shapes = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let from = &rest[at..];
        let n_digits = from.bytes().take_while(u8::is_ascii_digit).count();
        let slug = &from[n_digits..];
        let is_shape = DAY_DIGITS <= n_digits
            && slug.starts_with('-')
            && slug[1..].starts_with(|c: char| c.is_ascii_alphanumeric());
        let is_inside = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_".contains(byte);
        let n_inside = if is_shape { from.bytes().take_while(is_inside).count() } else { n_digits };
        if is_shape {
            shapes.push(from[..n_inside].trim_end_matches(['-', '_']).to_owned());
        }
        rest = &from[n_inside..];
    }
    shapes
}

/// Maximum length of a sentence. Longer sentences are split, because a model might never finish
/// one.
const MAX_SENTENCE_BYTES: usize = 4_000;

const ABBREVIATIONS: &[&str] = &[
    "approx", "bzw", "ca", "cf", "e.g", "eg", "etc", "i.e", "ie", "no", "nr", "resp", "vs", "z.b",
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    pub text: String,
    pub starts_line: bool,
}

#[derive(Debug)]
pub struct Sentences {
    held: String,
    starts_line: bool,
}

impl Default for Sentences {
    fn default() -> Self {
        Self { held: String::new(), starts_line: true }
    }
}

/// Returns the whitespace to write before a sentence.
pub fn gap(is_first: bool, starts_line: bool) -> &'static str {
    match (is_first, starts_line) {
        (true, _) => "",
        (false, true) => "\n",
        (false, false) => " ",
    }
}

impl Sentences {
    pub fn of(text: &str) -> Vec<Sentence> {
        let mut sentences = Self::default();
        let mut whole = sentences.take(text);
        whole.extend(sentences.finish());
        whole
    }

    pub fn take(&mut self, piece: &str) -> Vec<Sentence> {
        let mut whole = Vec::new();
        // Processing one character at a time makes the result independent of chunk boundaries.
        for c in piece.chars() {
            if c == '\n' {
                whole.extend(self.release());
                self.starts_line = true;
                continue;
            }
            if begins_next(&self.held, c) || MAX_SENTENCE_BYTES <= self.held.len() {
                whole.extend(self.release());
            }
            self.held.push(c);
        }
        whole
    }

    pub fn finish(&mut self) -> Vec<Sentence> {
        let last = self.release();
        self.starts_line = true;
        last.into_iter().collect()
    }

    fn release(&mut self) -> Option<Sentence> {
        let held = std::mem::take(&mut self.held);
        let text = held.trim();
        if text.is_empty() {
            return None;
        }
        let starts_line = std::mem::replace(&mut self.starts_line, false);
        Some(Sentence { text: text.to_owned(), starts_line })
    }
}

fn begins_next(held: &str, c: char) -> bool {
    // These characters end a sentence without a following space.
    let is_full = |c: char| matches!(c, '。' | '．' | '！' | '？');
    let n_ticks = held.matches('`').count();
    if held.trim_end().ends_with(is_full) && n_ticks.is_multiple_of(2) {
        return !is_full(c) && !c.is_whitespace() && c != '[';
    }
    let begins = c.is_uppercase() || c.is_numeric() || "`\"“(*_-".contains(c) || !c.is_ascii();
    begins && !c.is_whitespace() && held.ends_with(char::is_whitespace) && is_ended(held)
}

fn is_ended(held: &str) -> bool {
    if held.matches('`').count() % 2 == 1 {
        return false;
    }
    let mut rest = held.trim_end();
    while let Some(before) = without_group(rest) {
        rest = before.trim_end();
    }
    let bare = rest.trim_end_matches(['"', '”', ')', '*', '_']);
    match bare.chars().next_back() {
        Some('!' | '?' | '。' | '！' | '？') => true,
        Some('.') => !is_abbreviation(bare.trim_end_matches('.')),
        Some(_) | None => false,
    }
}

fn without_group(text: &str) -> Option<&str> {
    let inside = text.strip_suffix(']')?;
    inside.rfind('[').map(|at| &inside[..at])
}

/// Returns whether a full stop after `text` belongs to its last word, as in `e.g`, list numbers and
/// initials.
fn is_abbreviation(text: &str) -> bool {
    let word = text.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    let is_number_of_list = word.len() == text.trim().len() && word.parse::<u32>().is_ok();
    let is_initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase);
    let lower = word.to_lowercase();
    is_number_of_list || is_initial || ABBREVIATIONS.contains(&lower.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_is_named_as_a_source_is_found() {
        for (sentence, expected) in [
            ("It is so [20260101-a].", vec!["20260101-a"]),
            ("So [20260101-a, 20260102-b] [k1:7].", vec!["20260101-a", "20260102-b", "k1:7"]),
            ("So [`20260101-a`].", vec!["20260101-a"]),
            ("See 20260101-a.", vec!["20260101-a"]),
            ("See `20260101-a` [20260102-b].", vec!["20260102-b", "20260101-a"]),
            ("See 20260101\u{2011}a\u{200b}b.", vec!["20260101-ab"]),
            ("See ２０２６０１０１-a.", vec!["20260101-a"]),
            ("So 【20260101-a】.", vec!["20260101-a"]),
            ("So [1].", vec!["1"]),
            ("So [].", vec![""]),
            ("So [20260101-a", vec!["20260101-a"]),
            ("Use `list[0]` and [redacted:token] here.", vec![]),
            ("See x20260101-a and -20260102-b-.", vec!["20260101-a", "20260102-b"]),
            ("See 1120260101-a.", vec!["1120260101-a"]),
            ("On 2026-01-01 and 20260101 it was 1234567-x, 20260101- or 20260101-é.", vec![]),
        ] {
            assert_eq!(marks(sentence).named, expected, "{sentence}");
        }
    }

    #[test]
    fn a_source_supports_what_stands_before_it() {
        for (sentence, expected) in [
            ("It is so [a].", vec![("It is so .", vec!["a"])]),
            (
                "Hooks run [a] [b], and files [c].",
                vec![("Hooks run  ", vec!["a", "b"]), (", and files .", vec!["c"])],
            ),
            (
                "Hooks run [a] and delete.",
                vec![("Hooks run ", vec!["a"]), (" and delete.", vec![])],
            ),
            ("Run `x[0]` [a].", vec![("Run `x[0]` .", vec!["a"])]),
            ("See 20260101-a, it runs.", vec![("See  , it runs.", vec!["20260101-a"])]),
        ] {
            let clauses = marks(sentence).clauses;
            let found: Vec<(&str, Vec<&str>)> = clauses
                .iter()
                .map(|one| (one.words.as_str(), one.named.iter().map(String::as_str).collect()))
                .collect();
            assert_eq!(found, expected, "{sentence}");
        }
    }
}

#[cfg(test)]
mod sentences_tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(text: &str) -> Vec<String> {
        let mut sentences = Sentences::default();
        let mut found = sentences.take(text);
        found.extend(sentences.finish());
        found.into_iter().map(|sentence| sentence.text).collect()
    }

    #[test]
    fn a_sentence_ends_where_the_next_begins() {
        for (text, expected) in [
            ("One [a]. Two [b].", vec!["One [a].", "Two [b]."]),
            ("One. [a] Two. [b][c]", vec!["One. [a]", "Two. [b][c]"]),
            ("One [a]\nTwo [b]\n\n- Three", vec!["One [a]", "Two [b]", "- Three"]),
            (
                "Use v1.2 of it, e.g. Redis [a]. Why? So [b]!",
                vec!["Use v1.2 of it, e.g. Redis [a].", "Why?", "So [b]!"],
            ),
            (
                "1. Run `a. B. c` first [a].\n2. Then stop [b].",
                vec!["1. Run `a. B. c` first [a].", "2. Then stop [b]."],
            ),
            (
                "One。two [a]．three [b]。 [c] Four",
                vec!["One。", "two [a]．", "three [b]。 [c]", "Four"],
            ),
            ("It is nacre. not a pearl [a].", vec!["It is nacre. not a pearl [a]."]),
            ("  \n ", vec![]),
        ] {
            assert_eq!(cut(text), expected, "{text}");
        }
    }

    #[test]
    fn a_sentence_is_held_back_until_its_citations_are_whole() {
        let mut sentences = Sentences::default();
        for piece in ["The queue", " is SQLite", ".", " ", "[2026", "0101-queue", "]"] {
            assert_eq!(sentences.take(piece), [], "{piece}");
        }
        let whole = sentences.take(" T");
        assert_eq!(whole[0].text, "The queue is SQLite. [20260101-queue]");
        assert!(whole[0].starts_line);
        assert!(!sentences.finish()[0].starts_line);
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(
            text in "([A-Za-z.!?\\[\\]` \n0-9]|é|“){0,200}",
            cuts in prop::collection::vec(0_usize..200, 0..8),
        ) {
            let chars: Vec<char> = text.chars().collect();
            let mut at: Vec<usize> = cuts.into_iter().map(|cut| cut.min(chars.len())).collect();
            at.extend([0, chars.len()]);
            at.sort_unstable();
            let mut sentences = Sentences::default();
            let mut found = Vec::new();
            for pair in at.windows(2) {
                found.extend(sentences.take(&chars[pair[0]..pair[1]].iter().collect::<String>()));
            }
            found.extend(sentences.finish());
            let found: Vec<String> = found.into_iter().map(|sentence| sentence.text).collect();
            prop_assert_eq!(&found, &cut(&text));
            let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(letters(&found.concat()), letters(&text), "nothing is lost");
        }
    }
}
