//! The tool calls of a step, through the pipeline.

use tokio::time::Instant;

use super::generate::{Run, micros};
use super::outcome::Ending;
use crate::agent::context::{Exchange, KeptResult};
use crate::agent::control::Stopped;
use crate::agent::event::{self, Event, ToolFacts};
use crate::agent::pipeline::{Batch, BudgetState, CacheUse, CallRecord};
use crate::agent::tool::Fault;
use crate::model::{CancelSource, ToolCall};

impl Run<'_> {
    /// Makes the calls and keeps their results; an end comes of it only when the run is stopped meanwhile.
    pub(super) async fn work(
        &mut self,
        calls: &[ToolCall],
        exchange: &mut Exchange,
    ) -> Option<Ending> {
        let step = self.progress.steps;
        for call in calls {
            self.job.events.emit_with(|| Event::ToolCall {
                step,
                call: call.id.as_str().into(),
                tool: call.name.as_str().into(),
                arguments: call.arguments.as_object().to_string().into(),
            });
        }
        let begun = Instant::now();
        let (batch, stopped) = self.call_all(calls).await;
        self.progress.tool_us += micros(begun);
        for (call, record) in calls.iter().zip(&batch.records) {
            self.tell(call, record);
        }
        self.budget(&batch);
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
        let token = source.token();
        let now = (self.engine.clock)();
        let mut work = std::pin::pin!(self.tools.call_all(calls, &token, now));
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

    fn tell(&self, call: &ToolCall, record: &CallRecord) {
        if record.fault.is_some_and(is_denial) {
            self.job.events.emit_with(|| Event::ToolDenied {
                call: call.id.as_str().into(),
                tool: record.tool.as_str().into(),
                why: record.fault.map_or("", Fault::as_str).into(),
            });
        }
        self.job.events.emit_with(|| {
            Event::ToolResult(Box::new(ToolFacts {
                step: self.progress.steps,
                call: call.id.as_str().into(),
                tool: record.tool.as_str().into(),
                category: record.category,
                fault: record.fault,
                cache: match record.cache {
                    CacheUse::Off => event::CacheUse::Off,
                    CacheUse::Hit => event::CacheUse::Hit,
                    CacheUse::Miss => event::CacheUse::Miss,
                },
                duration_us: u64::try_from(record.took.as_micros()).unwrap_or(u64::MAX),
                bytes_in: call.arguments.as_object().to_string().len() as u64,
                bytes_out: record.said_bytes as u64,
                shown_bytes: record.shown_bytes as u64,
                changed: record.changed.iter().take(ToolFacts::MAX_CHANGED).cloned().collect(),
                n_changed: record.changed.len(),
            }))
        });
    }

    fn budget(&mut self, batch: &Batch) {
        let (used, limit) = (self.tools.tally().calls, self.job.spec.budgets.tool_calls);
        self.progress.calls_are_spent = batch.budget == BudgetState::Spent;
        if batch.notice.is_some() && !self.progress.calls_are_spent {
            self.job.events.emit(Event::BudgetNotice { used, limit });
        }
    }
}

fn is_denial(fault: Fault) -> bool {
    matches!(fault, Fault::Denied | Fault::Blocked | Fault::Unconfined)
}
