//! How well files say what a question asks, by words alone, and how much a path says against a file: what a search ranks by.

use super::asides;
use super::matching::matches;
use super::relevance::shares;
use super::sketch::Sketch;
use super::weights::WEIGHTS;
use crate::words::Question;

/// How well every file says what a question asks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WordScores {
    /// By the places of the files; the best has 1, and what has none of the words 0.
    pub files: Vec<f64>,
    /// How much each thing that is asked for is worth, by its place: what few files have is worth more.
    pub worth: Vec<f64>,
}

pub fn word_scores(sketch: &Sketch<'_>, question: &Question, n_threads: usize) -> WordScores {
    let matched = matches(sketch, question, &WEIGHTS, n_threads);
    let files = shares(&matched.files);
    WordScores { files, worth: matched.worth }
}

/// How much a file is worth by its path, from 0 to 1: tests, a stranger's code and what a program made are worth less.
pub fn path_worth(path: &str, wants_tests: bool) -> f64 {
    asides::worth(path, wants_tests, &WEIGHTS)
}
