//! What a statement is held against: the texts that it cites, sentence by sentence.

use std::collections::BTreeSet;

use super::tables::CHANGE;
use super::words::{Word, WordKind, key_of, parts_of_name, words};

/// More sentences than this are not looked at, whatever a file holds.
const MAX_UNITS: usize = 2_000;

/// A sentence of a source, or a line of code.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    pub(super) text: String,
    pub(super) words: Vec<Word>,
    keys: BTreeSet<String>,
}

impl Unit {
    fn new(text: &str) -> Self {
        let words = words(text);
        let mut keys: BTreeSet<String> = words.iter().map(|word| word.key.clone()).collect();
        let names = text.split(|c: char| !c.is_alphanumeric());
        keys.extend(names.flat_map(parts_of_name).map(|part| key_of(&part)));
        Self { text: text.trim().to_owned(), words, keys }
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.contains(key)
    }

    /// How many of these words it has.
    pub(super) fn n_of(&self, words: &[&Word]) -> usize {
        words.iter().filter(|word| self.has(&word.key)).count()
    }
}

/// All that a statement cites.
#[derive(Clone, Debug, Default)]
pub struct Source {
    pub(super) units: Vec<Unit>,
    /// Keys that prove a word and stand in no sentence: titles, paths, tags.
    pub(super) topic: BTreeSet<String>,
    /// The texts as they are.
    pub(super) text: String,
    /// Numbers that may stand anywhere, such as those of a day.
    pub(super) free_numbers: BTreeSet<String>,
}

impl Source {
    /// Takes a text in prose: a sentence is a unit.
    pub fn add_prose(&mut self, title: &str, text: &str) {
        self.add_topic(title);
        for line in title.lines().chain(text.lines()) {
            self.add_sentences(line);
        }
        self.add_text(&format!("{title}\n{text}"));
    }

    /// Takes lines of a file: each line is a unit, and the path names what they are about.
    pub fn add_lines(&mut self, path: &str, lines: &str) {
        self.add_topic(path);
        for line in lines.lines() {
            self.add_unit(line);
        }
        self.add_text(&format!("{path}\n{lines}"));
    }

    /// Takes words that may be said of it, such as its tags and days.
    pub fn add_topic(&mut self, text: &str) {
        for word in words(text) {
            if word.kind == WordKind::Number {
                self.free_numbers.insert(word.key.clone());
            }
            self.topic.insert(word.key);
        }
    }

    /// Lets a statement tell of a change: it cites what was overturned beside what overturned it.
    pub fn allow_change(&mut self) {
        self.topic.extend(CHANGE.iter().map(|word| key_of(word)));
    }

    /// The words of the source that are nearest to a statement.
    pub fn quote(&self, statement: &str) -> Option<&str> {
        let said = words(statement);
        let said: Vec<&Word> = said.iter().filter(|word| word.kind != WordKind::Filler).collect();
        let best = self.units.iter().rev().max_by_key(|unit| unit.n_of(&said))?;
        (best.n_of(&said) > 0).then_some(best.text.as_str())
    }

    /// Whether a word in lower case, or one that may stand for it, occurs.
    pub fn mentions(&self, word: &str) -> bool {
        self.has(&key_of(word))
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.topic.contains(key) || self.units.iter().any(|unit| unit.has(key))
    }

    fn add_text(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn add_unit(&mut self, text: &str) {
        if self.units.len() < MAX_UNITS && text.chars().any(char::is_alphanumeric) {
            self.units.push(Unit::new(text));
        }
    }

    /// Cuts a line at what ends a sentence, outside of code.
    fn add_sentences(&mut self, line: &str) {
        let mut start = 0;
        let mut is_code = false;
        let mut chars = line.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            is_code ^= c == '`';
            let is_last = chars.peek().is_none_or(|(_, next)| next.is_whitespace());
            let ends = matches!(c, '。' | '．') || (matches!(c, '.' | '!' | '?' | ';') && is_last);
            if ends && !is_code {
                let end = at + c.len_utf8();
                self.add_unit(&line[start..end]);
                start = end;
            }
        }
        self.add_unit(&line[start..]);
    }
}
