//! What a question asks for: its words, whole identifiers, and words that stand together, each with how much it counts; and the
//! words that the code may have instead of them.

use nacre_core::search::neighbors;

use super::alike::alike;
use super::forms::{all_forms, forms};
use super::frame::{is_filler, is_frame, is_leading_verb};
use super::split::{each_part, identifier_end};
use super::stem::stem;
use super::{Word, WordSet};

/// A longer task is read so far.
const MAX_WORDS: usize = 64;

/// So many different words of a task are asked for by other words, too.
const MAX_WIDENED: usize = 24;

/// How much words count that nearly every task has.
const FILLER_WEIGHT: f64 = 0.1;

/// How much two or three words of a task count that stand in the code as one identifier.
const JOINED_WEIGHT: f64 = 0.6;

/// So many neighbors are tried as one identifier.
const MAX_JOINED: usize = 3;

/// A task that begins with a verb says by it what is done: it stands among so many words.
const MAX_LEADING: usize = 3;

/// How much a form of a word counts that itself only stands for one.
const FORM_SHARE: f64 = 0.8;

/// How something that is asked for comes from the task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kin {
    /// The task says it.
    Said,
    /// Another form of a word that the task says.
    Form,
    /// A word that stands for one that the task says.
    Alike,
    /// A word that is near in meaning.
    Near,
}

/// One thing that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub word: Word,
    pub weight: f64,
    /// Whether it is a whole identifier, or several words as one.
    pub is_whole: bool,
    /// As a person reads it.
    pub text: String,
    pub kin: Kin,
    /// The place of what the task says instead of it; its own where the task says it.
    pub said: usize,
}

impl Asked {
    /// Whether nearly every task asks for it.
    pub fn is_filler(&self) -> bool {
        self.weight <= FILLER_WEIGHT
    }
}

/// What a question asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Question {
    pub asked: Vec<Asked>,
    /// The same by their words.
    pub words: WordSet,
    /// Whether tests are asked for.
    pub is_about_tests: bool,
}

impl Question {
    /// What a task asks for, in its own words and in others that the code may have instead.
    pub fn new(text: &str) -> Self {
        let mut question = Self::as_said(text);
        question.widen();
        question
    }

    /// What a text asks for in its own words.
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
                question.ask((Word::whole(whole.as_bytes()), true), 1.0, &bytes[at..end]);
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
                question.ask((Word::part(stem), false), weight, word.as_bytes());
            }
        }
        for n_joined in 2..=MAX_JOINED {
            for joined in words.windows(n_joined) {
                let text = joined.concat();
                question.ask((Word::whole(text.as_bytes()), true), JOINED_WEIGHT, text.as_bytes());
                let word = Word::part(stem(text.as_bytes()));
                question.ask((word, true), JOINED_WEIGHT, text.as_bytes());
            }
        }
        question
    }

    /// Asks for words that the code may have instead of those of the task: all other forms first, then words that stand for them,
    /// then neighbors, so that a word belongs to the nearest that is said.
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
        // `sign out` is `signout`, and that is `logout`. What the task writes as one identifier means itself.
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
            alike(&stem).for_each(|other| self.widen_by_alike(*place, other));
        }
        for (place, word) in &said {
            let own = std::iter::once(word.clone()).chain(all_forms(word));
            for form in own {
                let form = String::from_utf8_lossy(stem(form.as_bytes()));
                alike(&form).for_each(|other| self.widen_by_alike(*place, other));
            }
        }
        for (place, word) in &said {
            for (other, nearness) in neighbors(word) {
                self.widen_by(*place, Kin::Near, f64::from(nearness), other);
            }
        }
    }

    fn widen_by_alike(&mut self, said: usize, word: &str) {
        if self.widen_by(said, Kin::Alike, 1.0, word) {
            for form in forms(word) {
                self.widen_by(said, Kin::Alike, FORM_SHARE, &form);
            }
        }
    }

    /// Asks for a word in place of one that is said; returns whether nobody had asked for it.
    fn widen_by(&mut self, said: usize, kin: Kin, share: f64, text: &str) -> bool {
        let place = self.asked.len();
        let (word, weight) = (Word::part(stem(text.as_bytes())), share * self.asked[said].weight);
        let is_new = self.words.insert(word, place);
        if is_new {
            let text = text.to_owned();
            self.asked.push(Asked { word, weight, is_whole: false, text, kin, said });
        }
        is_new
    }

    /// Whether a word is asked for.
    pub fn find(&self, word: Word) -> Option<usize> {
        self.words.find(word)
    }

    fn ask(&mut self, (word, is_whole): (Word, bool), weight: f64, text: &[u8]) {
        let place = self.asked.len();
        if self.words.insert(word, place) {
            let text = String::from_utf8_lossy(text).into_owned();
            self.asked.push(Asked { word, weight, is_whole, text, kin: Kin::Said, said: place });
        }
    }
}

fn lower(part: &[u8]) -> String {
    String::from_utf8_lossy(part).to_ascii_lowercase()
}
