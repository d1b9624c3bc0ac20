//! The signal gate: is there a person in this session who said anything of substance?
//!
//! It costs one count an event. A session that does not pass gives a summary only, and no model is asked about it.

use nacre_core::transcript::{Event, EventKind, SessionFacts, SessionRole};

use super::super::candidate::Gate;
use super::said::{Said, Shape};

/// A sentence with fewer words is an order or an answer.
const MIN_WORDS: usize = 5;

/// What the gate counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counter {
    n_messages: u64,
    n_substantial: u64,
    n_acts: u64,
}

impl Counter {
    /// The agent said or did something.
    pub(super) fn agent(&mut self, event: &Event) {
        self.n_acts += u64::from(matches!(event.kind, EventKind::Assistant | EventKind::ToolCall));
    }

    /// The person spoke; a short word counts where it answers a question of the agent.
    pub(super) fn person(&mut self, said: &Said<'_>, is_answer: bool) {
        self.n_messages += 1;
        let has_words = |text: &str| {
            let n_wide = text.chars().filter(|c| u32::from(*c) >= 0x2e80).count();
            text.split_whitespace().count() + n_wide / 2 >= MIN_WORDS
        };
        let is_said = said.shape == Shape::Talk
            && said.sentences.iter().any(|sentence| has_words(sentence.text));
        let is_substantial = is_said || (is_answer && !said.sentences.is_empty());
        self.n_substantial += u64::from(is_substantial);
    }

    pub(super) fn verdict(&self, facts: &SessionFacts, n_signals: usize) -> Gate {
        match self {
            _ if facts.role != SessionRole::Main => Gate::NotAPersons,
            Self { n_messages: 0, .. } => Gate::NoWords,
            Self { n_acts: 0 | 1, n_messages: 1, .. } if n_signals == 0 => Gate::Abandoned,
            Self { n_substantial: 0, .. } if n_signals == 0 => Gate::Mechanical,
            _ => Gate::Open,
        }
    }
}
