//! A question's words, identifiers and adjacent words with their weights, and related words that
//! code may use instead.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use foldhash::fast::RandomState;
use nacre_memory::search::neighbors;

use super::WordHash;
use super::split::{each_part, identifier_end, stem};
use super::synonyms::{all_forms, forms, is_filler, is_frame, is_leading_verb, synonyms};

const MAX_WORDS: usize = 64;

const MAX_WIDENED: usize = 24;

/// Weight of words that occur in nearly every task.
const FILLER_WEIGHT: f64 = 0.1;

/// Weight of two or three adjacent words that code may write as one identifier.
const JOINED_WEIGHT: f64 = 0.6;

const MAX_JOINED: usize = 3;

/// A task's verb is expected to be among its first words, up to this many.
const MAX_LEADING: usize = 3;

/// Factor for the weight of a different form of a synonym.
const FORM_SHARE: f64 = 0.8;

/// How a search word is related to the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kin {
    Said,
    Form,
    Synonym,
    /// A word with a similar meaning.
    Near,
}

/// A word to search for.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub word: WordHash,
    pub weight: f64,
    /// Whether this is a whole identifier or several joined words.
    pub is_whole: bool,
    pub text: String,
    pub kin: Kin,
    /// Index of the task word that this word is related to. For a word from the task, this is its
    /// own index.
    pub said: usize,
}

impl Asked {
    pub fn is_filler(&self) -> bool {
        self.weight <= FILLER_WEIGHT
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskQuery {
    pub asked: Vec<Asked>,
    pub words: HashMap<WordHash, usize, RandomState>,
    pub is_about_tests: bool,
}

impl TaskQuery {
    /// Extracts a task's words and adds related words that code may use instead.
    pub fn new(text: &str) -> Self {
        let mut question = Self::as_said(text);
        question.widen();
        question
    }

    /// Extracts a task's words without adding related ones.
    pub fn as_said(text: &str) -> Self {
        let mut question = Self::default();
        let mut words: Vec<String> = Vec::new();
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() && words.len() < MAX_WORDS {
            let end = identifier_end(bytes, at);
            let first = words.len();
            each_part(&bytes[at..end], |part| words.push(lower(part)));
            if first + 1 < words.len() {
                let whole = words[first..].concat();
                question.ask(WordHash::whole(whole.as_bytes()), true, 1.0, &bytes[at..end]);
            }
            at = end.max(at + 1);
        }
        question.is_about_tests = words.iter().any(|word| word.starts_with("test"));
        for (idx, word) in words.iter().enumerate() {
            let stem = stem(word.as_bytes());
            let is_little = is_filler(word)
                || stem.len() < 2
                || idx < MAX_LEADING
                    && is_leading_verb(word)
                    && !words[..idx].iter().any(|before| is_frame(before));
            if !is_frame(word) {
                let weight = if is_little { FILLER_WEIGHT } else { 1.0 };
                question.ask(WordHash::part(stem), false, weight, word.as_bytes());
            }
        }
        for n_joined in 2..=MAX_JOINED {
            for joined in words.windows(n_joined) {
                let text = joined.concat();
                question.ask(
                    WordHash::whole(text.as_bytes()),
                    true,
                    JOINED_WEIGHT,
                    text.as_bytes(),
                );
                let word = WordHash::part(stem(text.as_bytes()));
                question.ask(word, true, JOINED_WEIGHT, text.as_bytes());
            }
        }
        question
    }

    /// Adds related words: first forms, then synonyms, then words with a similar meaning, so that
    /// each word is related to the closest task word.
    fn widen(&mut self) {
        let is_word = |(_, asked): &(usize, &Asked)| !asked.is_whole && !asked.is_filler();
        let said = self.asked.iter().enumerate().filter(is_word).take(MAX_WIDENED);
        let said: Vec<(usize, String)> =
            said.map(|(place, asked)| (place, asked.text.clone())).collect();
        for (place, word) in &said {
            all_forms(word).iter().for_each(|form| {
                self.widen_by(*place, Kin::Form, 1.0, form);
            });
        }
        // `sign out` also matches `signout`, which is a synonym of `logout`. Identifiers that occur
        // in the task itself have no synonyms.
        let lower = |asked: &Asked| asked.text.to_ascii_lowercase();
        let is_written = |asked: &&Asked| asked.is_whole && 1.0 <= asked.weight;
        let written: Vec<String> = self.asked.iter().filter(is_written).map(lower).collect();
        let is_joined = |(_, asked): &(usize, &Asked)| {
            asked.is_whole && asked.weight < 1.0 && !written.contains(&asked.text)
        };
        let joined = self.asked.iter().enumerate().filter(is_joined);
        let joined: Vec<(usize, String)> =
            joined.map(|(place, asked)| (place, asked.text.clone())).collect();
        for (place, word) in &joined {
            let stem = String::from_utf8_lossy(stem(word.as_bytes()));
            synonyms(&stem).for_each(|other| self.widen_by_synonym(*place, other));
        }
        for (place, word) in &said {
            let own = std::iter::once(word.clone()).chain(all_forms(word));
            for form in own {
                let form = String::from_utf8_lossy(stem(form.as_bytes()));
                synonyms(&form).for_each(|other| self.widen_by_synonym(*place, other));
            }
        }
        for (place, word) in &said {
            for (other, nearness) in neighbors(word) {
                self.widen_by(*place, Kin::Near, f64::from(nearness), other);
            }
        }
    }

    fn widen_by_synonym(&mut self, said: usize, word: &str) {
        if self.widen_by(said, Kin::Synonym, 1.0, word) {
            for form in forms(word) {
                self.widen_by(said, Kin::Synonym, FORM_SHARE, &form);
            }
        }
    }

    fn widen_by(&mut self, said: usize, kin: Kin, share: f64, text: &str) -> bool {
        let weight = share * self.asked[said].weight;
        let (word, text) = (WordHash::part(stem(text.as_bytes())), text.to_owned());
        self.add(Asked { word, weight, is_whole: false, text, kin, said })
    }

    pub fn find(&self, word: WordHash) -> Option<usize> {
        self.words.get(&word).copied()
    }

    fn ask(&mut self, word: WordHash, is_whole: bool, weight: f64, text: &[u8]) {
        let (text, said) = (String::from_utf8_lossy(text).into_owned(), self.asked.len());
        self.add(Asked { word, weight, is_whole, text, kin: Kin::Said, said });
    }

    fn add(&mut self, asked: Asked) -> bool {
        let Entry::Vacant(entry) = self.words.entry(asked.word) else { return false };
        entry.insert(self.asked.len());
        self.asked.push(asked);
        true
    }
}

fn lower(part: &[u8]) -> String {
    String::from_utf8_lossy(part).to_ascii_lowercase()
}
