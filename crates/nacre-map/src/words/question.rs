//! What a question asks for: its words, whole identifiers, and words that stand together, each with how much it counts.

use super::Word;
use super::split::{each_part, identifier_end};
use super::stem::stem;

/// A longer task is read so far.
const MAX_WORDS: usize = 64;

/// How much words count that nearly every task has.
const FILLER_WEIGHT: f64 = 0.1;

/// How much two or three words of a task count that stand in the code as one identifier.
const JOINED_WEIGHT: f64 = 0.6;

/// So many neighbors are tried as one identifier.
const MAX_JOINED: usize = 3;

/// One thing that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub word: Word,
    pub weight: f64,
    /// Whether it is a whole identifier, or several words as one.
    pub is_whole: bool,
    /// As a person reads it.
    pub text: String,
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
    /// Whether tests are asked for.
    pub is_about_tests: bool,
}

impl Question {
    pub fn new(text: &str) -> Self {
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
        for word in &words {
            let stem = stem(word.as_bytes());
            let is_filler = FILLERS.contains(&word.as_str()) || stem.len() < 2;
            let weight = if is_filler { FILLER_WEIGHT } else { 1.0 };
            question.ask((Word::part(stem), false), weight, word.as_bytes());
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

    /// Whether a word is asked for.
    pub fn find(&self, word: Word) -> Option<usize> {
        self.asked.iter().position(|asked| asked.word == word)
    }

    fn ask(&mut self, (word, is_whole): (Word, bool), weight: f64, text: &[u8]) {
        if self.find(word).is_none() {
            let text = String::from_utf8_lossy(text).into_owned();
            self.asked.push(Asked { word, weight, is_whole, text });
        }
    }
}

fn lower(part: &[u8]) -> String {
    String::from_utf8_lossy(part).to_ascii_lowercase()
}

/// Words that say what is done, not what it is done to.
const FILLERS: &[&str] = &[
    "a", "add", "added", "adding", "adds", "after", "all", "allow", "allows", "also", "an", "and",
    "any", "are", "as", "at", "avoid", "be", "before", "bug", "but", "by", "can", "change",
    "changed", "changes", "chore", "ci", "cleanup", "correct", "do", "doc", "docs", "does",
    "enhance", "ensure", "feat", "feature", "fix", "fixed", "fixes", "fixing", "for", "from",
    "has", "have", "how", "if", "improve", "improved", "improves", "in", "instead", "into", "is",
    "issue", "it", "its", "make", "makes", "made", "more", "must", "no", "not", "of", "on", "only",
    "or", "per", "perf", "refactor", "refs", "remove", "removed", "removes", "removing", "should",
    "so", "some", "style", "support", "supports", "test", "tests", "than", "that", "the", "then",
    "there", "this", "to", "update", "updated", "updates", "use", "used", "uses", "using", "via",
    "was", "were", "what", "when", "where", "which", "while", "who", "why", "will", "with",
    "without",
];
