//! A choice beside earlier answers to the same question: the last word counts, whichever session is read first.
//!
//! The title of a choice is "topic: chosen, not other". By their words two answers to one question look alike, so they are
//! compared by topic, and then by what was chosen.

use std::collections::BTreeSet;

use nacre_core::memory::{Action, Band, Decision, Proposal, Status};

use super::decided::Beside;
use crate::flows::candidate::{Candidate, Signal};

/// The share of words from which on two topics are the same.
const SAME_TOPIC: f64 = 0.7;

/// What becomes of a choice whose question was answered before; nothing where it was not.
pub(super) fn decide_answer(
    candidate: &Candidate,
    proposal: &Proposal,
    near: &[Beside],
) -> Option<Decision> {
    if candidate.signal != Signal::Choice {
        return None;
    }
    let answer = Answer::of(&candidate.title)?;
    let (beside, known) = near
        .iter()
        .filter(|beside| is_open(beside.neighbour.status))
        .filter_map(|beside| Some((beside, Answer::of(&beside.title)?)))
        .find(|(_, known)| answer.is_about_the_same(known))?;
    let is_older =
        proposal.said.zip(beside.neighbour.said).is_some_and(|(said, known)| said < known);
    let (action, status, reason) = match () {
        () if beside.neighbour.is_rejected => {
            (Action::NoOp, beside.neighbour.status, "a person said that this is wrong")
        }
        () if answer.chosen == known.chosen => {
            (Action::NoOp, beside.neighbour.status, "it is the same answer to the same question")
        }
        () if is_older => {
            (Action::NoOp, beside.neighbour.status, "a later session answered this question")
        }
        () => (Action::Supersede, Status::Active, "it is a later answer to the same question"),
    };
    let target = Some(beside.neighbour.id.clone());
    Some(Decision { action, band: Band::Clear, target, status, judgement: None, reason })
}

fn is_open(status: Status) -> bool {
    matches!(status, Status::Active | Status::Candidate | Status::Stale)
}

/// The two halves of a title.
struct Answer {
    topic: BTreeSet<String>,
    chosen: String,
}

impl Answer {
    fn of(title: &str) -> Option<Self> {
        let (topic, answer) = title.split_once(": ")?;
        let chosen = answer.split_once(", not ").map_or(answer, |(chosen, _)| chosen);
        let words = |text: &str| -> Vec<String> {
            let lower = text.to_lowercase();
            let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            words.map(str::to_owned).collect()
        };
        let topic: BTreeSet<String> = words(topic).into_iter().collect();
        (!topic.is_empty()).then(|| Self { topic, chosen: words(chosen).join(" ") })
    }

    fn is_about_the_same(&self, other: &Self) -> bool {
        let n_shared = self.topic.intersection(&other.topic).count();
        let n_all = self.topic.len() + other.topic.len() - n_shared;
        #[expect(clippy::cast_precision_loss, reason = "a handful of words")]
        let share = n_shared as f64 / n_all.max(1) as f64;
        SAME_TOPIC <= share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_answers_to_one_question_are_about_the_same() {
        let answer = |title: &str| Answer::of(title).unwrap();
        let one = answer("Queue store: SQLite, not Redis");
        let two = answer("Queue store: Redis, not SQLite");
        assert!(one.is_about_the_same(&two) && one.chosen != two.chosen);
        assert_eq!(one.chosen, answer("The queue: sqlite").chosen);
        assert!(!one.is_about_the_same(&answer("Log format: JSON, not text")));
        assert!(Answer::of("Use SQLite").is_none());
    }
}
