//! The end of a run: counted, and told exactly once.

use std::time::Duration;

use super::outcome::{Ending, Outcome};
use super::progress::Progress;
use crate::record::{CancelledBy, TaskState};
use crate::record::{Event, Events, RunFacts};
use crate::tools::Tally;

/// The duty to tell the end. A run whose future is dropped tells it too: whoever waited for it has gone.
pub(super) struct Terminal {
    events: Events,
    is_told: bool,
}

impl Terminal {
    pub(super) fn new(events: Events) -> Self {
        Self { events, is_told: false }
    }

    fn tell(mut self, state: TaskState) {
        self.is_told = true;
        self.events.emit(Event::TaskState(state));
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if !self.is_told {
            let by = CancelledBy::Disconnect;
            self.events.emit(Event::RunCancel { by });
            self.events.emit(Event::TaskState(TaskState::Cancelled { by }));
        }
    }
}

pub(super) fn finalize(
    terminal: Terminal,
    ending: Ending,
    progress: Progress,
    tally: &Tally,
    wall: Duration,
) -> Outcome {
    let effects = tally.effects();
    let facts = RunFacts {
        steps: progress.steps,
        model_calls: progress.model_calls,
        tool_calls: effects.tool_calls,
        failed_calls: effects.failed_calls,
        denied_calls: effects.denied_calls,
        cache_hits: tally.cache_hits,
        usage: progress.usage.unwrap_or_default(),
        cost: progress.cost.total(),
        model_us: progress.model_us,
        tool_us: progress.tool_us,
        wall_us: u64::try_from(wall.as_micros()).unwrap_or(u64::MAX),
        n_changed: effects.changed.len(),
        children: progress.children,
    };
    if let Ending::Failed(error) = &ending {
        let what = error.to_string().into();
        terminal.events.emit(Event::Error { what, hint: None });
    }
    terminal.events.emit(Event::RunSummary(Box::new(facts.clone())));
    terminal.tell(ending.state());
    let Progress { text, answer, doubts, rejected, conversation, .. } = progress;
    let unheard = Vec::new();
    Outcome { ending, text, answer, doubts, rejected, effects, facts, conversation, unheard }
}
