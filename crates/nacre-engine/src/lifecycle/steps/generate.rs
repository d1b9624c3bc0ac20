//! Steps: one model call and its batch of tool calls, until there is an end.
//!
//! The number of model calls is bounded here and nowhere else, whatever the tools say about them: a call that is
//! refused costs a step like any other.

use tokio::time::Instant;

use super::outcome::{Ending, RunError};
use super::prepare::{Prepared, offered};
use super::progress::{Asking, Progress};
use super::resolve::Resolved;
use super::{Engine, Job};
use crate::lifecycle::{Completion, Item, RunControl, Stopped};
use crate::model::MAX_REPAIRS;
use crate::record::Event;
use crate::record::Signal;
use crate::tools::Pipeline;

/// A run under way.
pub(super) struct Run<'a> {
    pub(super) engine: Engine<'a>,
    pub(super) job: &'a Job<'a>,
    pub(super) tools: &'a mut Pipeline,
    pub(super) control: &'a RunControl,
    pub(super) resolved: Resolved,
    pub(super) prepared: Prepared,
    pub(super) progress: &'a mut Progress,
}

impl Run<'_> {
    pub(super) async fn generate(mut self) -> Ending {
        loop {
            if let Some(ending) = self.between_steps() {
                return ending;
            }
            match self.step().await {
                Some(ending) if !self.goes_on_after(&ending) => return ending,
                Some(_) | None => {}
            }
        }
    }

    /// Whether a person said something just before the agent was done, which deserves one more step.
    fn goes_on_after(&self, ending: &Ending) -> bool {
        let is_by_itself = matches!(ending, Ending::Completed { .. })
            && matches!(self.job.spec.completion, Completion::EndTurn { .. });
        let may_go_on = self.progress.steps < self.job.spec.budgets.steps
            && self.control.stopped().is_none()
            && !self.control.should_yield();
        is_by_itself && may_go_on && self.control.has_steering()
    }

    /// Puts what a person said meanwhile behind the results of the last step. Before the first one it waits.
    fn take_steering(&mut self) {
        let step = self.progress.kept_step;
        let last = self.progress.conversation.turns.last_mut();
        let Some(exchange) = last.and_then(|turn| turn.steps.last_mut()) else { return };
        for text in self.control.take_steering() {
            self.job.events.emit_with(|| Event::RunSteer { step, text: text.as_str().into() });
            self.progress.unsaved.push(Item::Steering { step, text: text.clone() });
            exchange.steered.push(text);
        }
    }

    /// The only place where a run may be left for somebody else's sake.
    fn between_steps(&mut self) -> Option<Ending> {
        if let Some(stopped) = self.control.stopped() {
            return Some(self.stopped(stopped));
        }
        if self.control.should_yield() && self.progress.steps != 0 {
            self.job.events.emit(Event::RunYield { step: self.progress.steps });
            return Some(Ending::Completed { signal: Signal::Yielded, reason: None });
        }
        let steps = self.job.spec.budgets.steps;
        if steps <= self.progress.steps {
            return Some(Ending::Failed(RunError::OutOfSteps { steps }));
        }
        self.take_steering();
        self.progress.save(self.job).err().map(Ending::Failed)
    }

    async fn step(&mut self) -> Option<Ending> {
        self.progress.steps += 1;
        let step = self.progress.steps;
        let begun = Instant::now();
        let calls_before = self.tools.tally().calls;
        self.job.events.emit(Event::StepStart { step });
        self.narrow();
        if self.progress.asking == Asking::Freely && self.is_last_chance() {
            self.ask_finally(
                "You have no tool calls left. Give your answer now, with what you know.",
            );
        }
        let ending = match self.ask().await {
            Ok(response) => self.react(response).await,
            Err(ending) => Some(ending),
        };
        let ending = self.progress.save(self.job).err().map(Ending::Failed).or(ending);
        let n_calls = (self.tools.tally().calls - calls_before) as usize;
        let duration_us = micros(begun);
        self.job.events.emit_with(|| Event::StepEnd { step, n_calls, duration_us });
        ending
    }

    /// Takes away the tools that a skill does not leave, which the last step took up.
    fn narrow(&mut self) {
        let narrowing = self.job.skills.as_ref().and_then(|skills| skills.narrowing());
        if narrowing != self.progress.narrowing {
            self.tools.narrow(narrowing.clone());
            self.prepared.tools = offered(self.job, self.tools, &self.resolved);
            self.progress.narrowing = narrowing;
        }
    }

    /// Whether the answer must come now: what is left is needed for it and for mending it.
    fn is_last_chance(&self) -> bool {
        let budgets = &self.job.spec.budgets;
        let mending = if self.resolved.form.is_some() { MAX_REPAIRS as u32 } else { 0 };
        let left = budgets.steps.saturating_sub(self.progress.steps);
        let tokens = self.progress.usage.map_or(0, |usage| usage.total());
        let has_nothing_to_ask = self.prepared.tools.is_empty();
        left <= mending
            || has_nothing_to_ask
            || self.progress.calls_are_spent
            || budgets.tool_calls == 0
            || self.progress.repeats.is_stuck()
            || budgets.total_tokens.is_some_and(|most| most <= tokens)
    }

    /// Takes the tools away; what was said last ends with these words.
    pub(super) fn ask_finally(&mut self, words: &str) {
        self.progress.asking = Asking::Finally;
        let step = self.progress.kept_step;
        let last = self.progress.conversation.turns.last_mut();
        let Some(exchange) = last.and_then(|turn| turn.steps.last_mut()) else { return };
        match &mut exchange.remark {
            Some(remark) => {
                remark.push_str("\n\n");
                remark.push_str(words);
            }
            None => exchange.remark = Some(words.to_owned()),
        }
        self.progress.unsaved.push(Item::Remark { step, text: words.to_owned() });
        self.job.events.emit_with(|| Event::Notice { text: words.into() });
    }

    pub(super) fn stopped(&self, why: Stopped) -> Ending {
        match why {
            Stopped::Cancelled => {
                let by = self.control.cancelled_by();
                self.job.events.emit(Event::RunCancel { by });
                Ending::Cancelled(by)
            }
            Stopped::OutOfTime => Ending::Failed(RunError::OutOfTime),
        }
    }
}

pub(super) fn micros(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}
