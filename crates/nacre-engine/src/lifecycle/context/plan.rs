//! Fitting a conversation into a window.

use super::conversation::{Conversation, KeptResult};

/// A conversation that fits, and what that took.
#[derive(Clone, Debug, PartialEq)]
pub struct ContextPlan {
    pub conversation: Conversation,
    /// How many results were replaced by a line each.
    pub shortened: usize,
    /// How many turns and steps were left out.
    pub dropped: usize,
    pub tokens: usize,
}

/// Not even the last question and its last step fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the conversation needs {tokens} tokens, and there is room for {room}")]
pub struct TooLong {
    pub tokens: usize,
    pub room: usize,
}

/// Returns the conversation as it is if it fits, and else what is left of it.
///
/// First goes what is least missed: the reasoning of old turns, their results, then those turns themselves; then the
/// older results and steps of the turn in progress. What the last step returned goes last, as lines.
pub fn plan(conversation: Conversation, room: usize) -> Result<ContextPlan, TooLong> {
    let tokens = conversation.tokens();
    if tokens <= room {
        return Ok(ContextPlan { conversation, shortened: 0, dropped: 0, tokens });
    }
    let target = room - room / 4;
    let mut cut = Cut { conversation, tokens, target, shortened: 0, dropped: 0 };
    cut.old_reasoning();
    cut.old_results();
    cut.old_turns();
    cut.results_of_this_turn(AndTheLast::Kept);
    cut.steps_of_this_turn();
    cut.results_of_this_turn(AndTheLast::Shortened);
    let Cut { conversation, tokens, shortened, dropped, .. } = cut;
    if room < tokens {
        return Err(TooLong { tokens, room });
    }
    Ok(ContextPlan { conversation, shortened, dropped, tokens })
}

struct Cut {
    conversation: Conversation,
    tokens: usize,
    target: usize,
    shortened: usize,
    dropped: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AndTheLast {
    Kept,
    Shortened,
}

impl Cut {
    fn fits(&self) -> bool {
        self.tokens <= self.target
    }

    fn old_reasoning(&mut self) {
        let n_old = self.conversation.turns.len().saturating_sub(1);
        for turn in 0..n_old {
            for step in 0..self.conversation.turns[turn].steps.len() {
                if self.fits() {
                    return;
                }
                let exchange = &mut self.conversation.turns[turn].steps[step];
                if !exchange.has_reasoning() {
                    continue;
                }
                let before = exchange.tokens();
                exchange.forget_reasoning();
                self.tokens -= before - exchange.tokens();
            }
        }
    }

    fn old_results(&mut self) {
        let n_old = self.conversation.turns.len().saturating_sub(1);
        for turn in 0..n_old {
            let n_steps = self.conversation.turns[turn].steps.len();
            self.shorten(turn, n_steps);
        }
    }

    fn old_turns(&mut self) {
        while 1 < self.conversation.turns.len() && !self.fits() {
            self.conversation.turns.remove(0);
            self.conversation.turns_left_out += 1;
            self.dropped += 1;
            self.tokens = self.conversation.tokens();
        }
    }

    fn results_of_this_turn(&mut self, last: AndTheLast) {
        let Some(turn) = self.conversation.turns.len().checked_sub(1) else { return };
        let n_steps = self.conversation.turns[turn].steps.len();
        match last {
            AndTheLast::Kept => self.shorten(turn, n_steps.saturating_sub(1)),
            AndTheLast::Shortened => self.shorten(turn, n_steps),
        }
    }

    fn steps_of_this_turn(&mut self) {
        let Some(turn) = self.conversation.turns.len().checked_sub(1) else { return };
        while 1 < self.conversation.turns[turn].steps.len() && !self.fits() {
            let current = &mut self.conversation.turns[turn];
            current.steps.remove(0);
            current.steps_left_out += 1;
            self.dropped += 1;
            self.tokens = self.conversation.tokens();
        }
    }

    /// Replaces the results of a turn's first steps by stubs, oldest first, until it fits.
    fn shorten(&mut self, turn: usize, n_steps: usize) {
        for step in 0..n_steps {
            for result in 0..self.conversation.turns[turn].steps[step].results.len() {
                if self.fits() {
                    return;
                }
                let kept = &mut self.conversation.turns[turn].steps[step].results[result];
                if let Some(stub) = stub_of(kept) {
                    self.tokens -= kept.tokens() - stub.tokens();
                    self.shortened += 1;
                    *kept = stub;
                }
            }
        }
    }
}

fn stub_of(kept: &KeptResult) -> Option<KeptResult> {
    if kept.is_stub { None } else { kept.stub() }
}
