//! Cuts a text that is still coming into sentences, each held back until it is whole with its citations.
//!
//! A sentence is whole when the next one begins, or the line ends: `It is so. [id]` is one sentence, not two. However the
//! text is cut into pieces on its way, the sentences are the same.

/// A sentence that grows beyond this is cut: nobody waits for a model that never ends one.
const MAX_SENTENCE_BYTES: usize = 4_000;

/// What ends with a full stop and ends no sentence.
const ABBREVIATIONS: &[&str] = &[
    "approx", "bzw", "ca", "cf", "e.g", "eg", "etc", "i.e", "ie", "no", "nr", "resp", "vs", "z.b",
];

/// A whole sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    pub text: String,
    /// Whether a new line begins with it.
    pub starts_line: bool,
}

/// Takes pieces of a text and gives whole sentences.
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

impl Sentences {
    /// Takes the next piece; returns the sentences that are whole now.
    pub fn take(&mut self, piece: &str) -> Vec<Sentence> {
        let mut whole = Vec::new();
        // Character by character, so that where pieces are cut makes no difference.
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

    /// Ends the text.
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

/// Whether `c` begins a sentence after the one that is held.
fn begins_next(held: &str, c: char) -> bool {
    // These end a sentence without a blank behind them.
    let is_full = |c: char| matches!(c, '。' | '．' | '！' | '？');
    let n_ticks = held.matches('`').count();
    if held.trim_end().ends_with(is_full) && n_ticks.is_multiple_of(2) {
        return !is_full(c) && !c.is_whitespace() && c != '[';
    }
    let begins = c.is_uppercase() || c.is_numeric() || "`\"“(*_-".contains(c) || !c.is_ascii();
    begins && !c.is_whitespace() && held.ends_with(char::is_whitespace) && is_ended(held)
}

/// Whether a text ends with the end of a sentence, citations behind it included.
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

/// The text before a bracketed group at its end.
fn without_group(text: &str) -> Option<&str> {
    let inside = text.strip_suffix(']')?;
    inside.rfind('[').map(|at| &inside[..at])
}

/// Whether the full stop behind `text` belongs to its last word: `e.g`, the number of a list, an initial.
fn is_abbreviation(text: &str) -> bool {
    let word = text.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    let is_number_of_list = word.len() == text.trim().len() && word.parse::<u32>().is_ok();
    let is_initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase);
    let lower = word.to_lowercase();
    is_number_of_list || is_initial || ABBREVIATIONS.contains(&lower.as_str())
}

#[cfg(test)]
mod tests {
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
