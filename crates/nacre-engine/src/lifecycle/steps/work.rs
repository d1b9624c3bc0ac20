//! The tool calls of a step, through the pipeline.

use tokio::time::Instant;

use super::generate::{Run, micros};
use super::outcome::Ending;
use crate::lifecycle::Stopped;
use crate::lifecycle::{Exchange, KeptResult};
use crate::model::{CancelSource, ToolCall};
use crate::record::Event;
use crate::tools::{Batch, BudgetState, StepContext};

impl Run<'_> {
    /// Makes the calls and keeps their results; an end comes of it only when the run is stopped meanwhile.
    pub(super) async fn work(
        &mut self,
        calls: &[ToolCall],
        exchange: &mut Exchange,
    ) -> Option<Ending> {
        let begun = Instant::now();
        let (batch, stopped) = self.call_all(calls).await;
        self.progress.tool_us += micros(begun);
        self.progress.calls_are_spent = batch.budget == BudgetState::Spent;
        let mut remarks: Vec<String> = batch.notice.into_iter().collect();
        if let Some(words) = self.progress.repeats.notice(calls) {
            self.job.events.emit_with(|| Event::Notice { text: words.as_str().into() });
            remarks.push(words);
        }
        let done = calls.iter().zip(batch.results).zip(batch.records);
        exchange.results = done
            .map(|((call, result), record)| KeptResult::new(result, call, record.spill))
            .collect();
        exchange.remark = (!remarks.is_empty()).then(|| remarks.join("\n\n"));
        stopped.map(|why| self.stopped(why))
    }

    /// A batch that is stopped is told so and then waited for: only a change that was half made takes its time, and
    /// whether it was made has to be known.
    async fn call_all(&mut self, calls: &[ToolCall]) -> (Batch, Option<Stopped>) {
        let source = CancelSource::new();
        let step = StepContext {
            number: self.progress.steps,
            cancel: source.token(),
            now: (self.engine.clock)(),
        };
        let mut work = std::pin::pin!(self.tools.call_all(calls, &step));
        let never = std::future::pending::<()>();
        tokio::select! {
            biased;
            batch = &mut work => (batch, None),
            stopped = self.control.unless_stopped(never) => {
                source.cancel();
                (work.await, stopped.err())
            }
        }
    }
}
