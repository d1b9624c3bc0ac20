//! What a statement is held against: the lines that it cites.

use std::collections::BTreeSet;

use super::words::{Word, key_of, parts_of_name, words};

/// More lines than this are not looked at, whatever a file holds.
const MAX_UNITS: usize = 2_000;

/// A line of code.
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
}

/// All that a statement cites.
#[derive(Clone, Debug, Default)]
pub struct Source {
    pub(super) units: Vec<Unit>,
    /// Keys that prove a word and stand in no sentence: titles, paths, tags.
    pub(super) topic: BTreeSet<String>,
    /// The texts as they are.
    pub(super) text: String,
}

impl Source {
    /// Takes lines of a file: each line is a unit, and the path names what they are about.
    pub fn add_lines(&mut self, path: &str, lines: &str) {
        self.add_topic(path);
        for line in lines.lines() {
            self.add_unit(line);
        }
        self.add_text(&format!("{path}\n{lines}"));
    }

    fn add_topic(&mut self, text: &str) {
        self.topic.extend(words(text).into_iter().map(|word| word.key));
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
}
