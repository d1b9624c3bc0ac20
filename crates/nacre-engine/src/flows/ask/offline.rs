//! An answer without a model: the memories that fit best, in their own words.
//!
//! A search always finds something. An answer must be able to say that nothing is known, so what is found has to share
//! enough of the question's words, or enough of its meaning, to be one.

use nacre_core::search::snippet;

use crate::tools::Passage;

/// The share of the question's words that a memory holds and the nearness of its meaning must add up to this. Fitted on a
/// hundred questions with an answer and twenty without (`examples/ask_bench`): below it more is made up, above it
/// more is missed.
const MIN_FIT: f32 = 0.42;

/// A further memory that fits less than this share of the best is not worth reading.
const MIN_SHARE: f32 = 0.4;

/// Passages that answer, best first, each with the words of it that do.
#[derive(Clone, Debug)]
pub struct Told {
    pub passage: Passage,
    /// The line of its text that is nearest to the question; empty where the title says it all.
    pub line: String,
}

/// What is told of these passages; nothing when none of them is about the question.
pub fn tell(question: &str, passages: Vec<Passage>) -> Vec<Told> {
    let is_about = |passage: &Passage| passage.lexical + passage.similarity >= MIN_FIT;
    if !passages.iter().any(is_about) {
        return Vec::new();
    }
    let holding = passages.iter().filter(|passage| passage.holds());
    let best = holding.map(|passage| passage.score).fold(0.0, f32::max);
    let mut passages = passages;
    if !passages.first().is_some_and(is_about) {
        // The first one is the answer: a candidate is a better one than what is about something else.
        let is_answer = |passage: &Passage| is_about(passage) && !passage.trust.waits();
        if passages.iter().any(is_answer) {
            passages.sort_by_key(|passage| (passage.trust.waits(), !is_about(passage)));
        } else {
            // Only somebody from elsewhere says something about it. Nothing of the person's stands below that.
            passages.retain(is_about);
        }
    }
    let told = passages.into_iter().filter(|passage| passage.score >= best * MIN_SHARE);
    told.map(|passage| Told { line: line_of(question, &passage), passage }).collect()
}

fn line_of(question: &str, passage: &Passage) -> String {
    let line = snippet(&passage.body, question);
    if line.trim() == passage.title.trim() { String::new() } else { line }
}
