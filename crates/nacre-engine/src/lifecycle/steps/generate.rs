//! Runs steps until the run ends. Each step consists of a model call and its batch of tool calls.
//!
//! Only this module limits the number of model calls. A step counts even if its calls are refused.

use std::time::Duration;

use tokio::time::Instant;

use crate::lifecycle::steps::{Ending, Engine, Job, Prepared, Progress, RunError, collect_tools};
use crate::lifecycle::{
    Completion, Exchange, Item, KeptResult, RunControl, Stopped, TooLong, plan,
};
use crate::model::{
    Cancel, Control, ErrorKind, MAX_REPAIRS, ModelEvent, Request, Response, StopReason, ToolCall,
    generate,
};
use crate::record::{DeltaKind, Event, Events, ModelFacts};
use crate::tools::{Batch, BudgetState, Pipeline, StepContext};

pub(super) struct Run<'a> {
    pub(super) engine: Engine<'a>,
    pub(super) job: &'a Job<'a>,
    pub(super) tools: &'a mut Pipeline,
    pub(super) control: &'a RunControl,
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

    /// Returns whether one more step is needed because the user sent a message just before the
    /// agent finished.
    fn goes_on_after(&self, ending: &Ending) -> bool {
        let is_by_itself = matches!(ending, Ending::Completed { .. })
            && matches!(self.job.spec.completion, Completion::EndTurn { .. });
        let may_go_on = self.progress.steps < self.job.spec.budgets.steps
            && self.control.stop_reason().is_none();
        is_by_itself && may_go_on && self.control.has_steering()
    }

    /// Adds the user's messages after the last step's results. Before the first step, the messages
    /// stay queued.
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

    fn between_steps(&mut self) -> Option<Ending> {
        if let Some(stopped) = self.control.stop_reason() {
            return Some(self.end_stopped(stopped));
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
        let calls_before = self.tools.tally().tool_calls;
        self.job.events.emit(Event::StepStart { step });
        self.narrow();
        if !self.progress.asks_finally && self.is_last_chance() {
            self.ask_finally(
                "You have no tool calls left. Give your answer now, with what you know.",
            );
        }
        let ending = match self.ask().await {
            Ok(response) => self.react(response).await,
            Err(ending) => Some(ending),
        };
        let ending = self.progress.save(self.job).err().map(Ending::Failed).or(ending);
        let n_calls = (self.tools.tally().tool_calls - calls_before) as usize;
        let duration_us = micros(begun);
        self.job.events.emit_with(|| Event::StepEnd { step, n_calls, duration_us });
        ending
    }

    fn narrow(&mut self) {
        let narrowing = self.job.skills.as_ref().and_then(|skills| skills.narrowing());
        if narrowing != self.progress.narrowing {
            self.tools.narrow(narrowing.clone());
            self.prepared.tools = collect_tools(self.job, self.tools, &self.prepared);
            self.progress.narrowing = narrowing;
        }
    }

    /// Returns whether the model must answer now because the remaining budget covers only the
    /// answer and its correction.
    fn is_last_chance(&self) -> bool {
        let budgets = &self.job.spec.budgets;
        let mending =
            if self.job.spec.completion.form().is_some() { MAX_REPAIRS as u32 } else { 0 };
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

    /// Removes all tools from the request. `words` is appended to the last message.
    pub(super) fn ask_finally(&mut self, words: &str) {
        self.progress.asks_finally = true;
        let step = self.progress.kept_step;
        let last = self.progress.conversation.turns.last_mut();
        let Some(exchange) = last.and_then(|turn| turn.steps.last_mut()) else { return };
        exchange.add_remark(words);
        self.progress.unsaved.push(Item::Remark { step, text: words.to_owned() });
        self.job.events.emit_with(|| Event::Notice { text: words.into() });
    }

    pub(super) fn end_stopped(&self, why: Stopped) -> Ending {
        match why {
            Stopped::Cancelled => {
                let by = self.control.cancel_source();
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

impl Run<'_> {
    /// Calls the model. If the context window is smaller than expected, retries once with half of
    /// the window.
    pub(super) async fn ask(&mut self) -> Result<Response, Ending> {
        self.compact().await?;
        self.fit()?;
        if let Some(response) = self.ask_once().await? {
            return Ok(response);
        }
        self.prepared.room = self.progress.conversation.tokens().min(self.prepared.room) / 2;
        self.compact().await?;
        self.fit()?;
        self.ask_once().await?.ok_or_else(|| {
            let (tokens, room) = (self.progress.conversation.tokens(), self.prepared.room);
            Ending::Failed(RunError::TooLong(TooLong { tokens, room }))
        })
    }

    fn fit(&mut self) -> Result<(), Ending> {
        let conversation = std::mem::take(&mut self.progress.conversation);
        let planned = plan(conversation.clone(), self.prepared.room).map_err(|too_long| {
            self.progress.conversation = conversation;
            Ending::Failed(RunError::TooLong(too_long))
        })?;
        self.job.events.emit_with(|| Event::ContextPlan {
            kept: planned.conversation.turns.len(),
            shortened: planned.shortened,
            dropped: planned.dropped,
            tokens: planned.tokens,
            limit: self.prepared.room,
        });
        self.progress.conversation = planned.conversation;
        Ok(())
    }

    fn request(&self) -> Request {
        let finally = self.progress.asks_finally;
        let form = self.job.spec.completion.form().filter(|_| finally);
        Request {
            role: self.job.spec.role,
            system: self.job.spec.prompt.clone(),
            messages: self.progress.conversation.messages(),
            tools: self.prepared.tools.clone(),
            may_call: !finally,
            output: form.map(|(output, _)| output.clone()),
            max_tokens: self.prepared.max_tokens,
            temperature: self.prepared.temperature,
            effort: self.prepared.effort,
            is_cached: true,
            cache_key: Some(self.job.events.task().to_string()),
        }
    }

    /// Returns `None` if the conversation exceeds the model's context window.
    async fn ask_once(&mut self) -> Result<Option<Response>, Ending> {
        let step = self.progress.steps;
        let request = self.request();
        let model = self.prepared.model.clone();
        self.job.events.emit_with(|| Event::ModelCall { step, model: model.clone() });
        let begun = Instant::now();
        let mut first_token = None;
        let mut partial = String::new();
        let events = &self.job.events;
        let mut sink = |event: ModelEvent| {
            note_partial(&mut partial, &event);
            if is_token(&event) {
                first_token.get_or_insert_with(|| micros(begun));
            }
            emit_progress(events, step, event);
        };
        let patience = self.patience();
        let asked = generate(&self.prepared.route, &request, &patience, &mut sink);
        let answered = self.control.unless_stopped(asked).await;
        let duration_us = micros(begun);
        self.progress.model_calls += 1;
        self.progress.model_us += duration_us;
        self.progress.partial = if matches!(answered, Ok(Ok(_))) { String::new() } else { partial };
        match answered {
            Err(stopped) => Err(self.end_stopped(stopped)),
            Ok(Ok(response)) => {
                self.count(&response, first_token, duration_us);
                Ok(Some(response).filter(|one| one.stop != StopReason::ContextFull))
            }
            Ok(Err(error)) => {
                let (model, why) = (error.model.clone(), error.kind.as_str().into());
                self.job.events.emit(Event::ModelError { step, model, why, duration_us });
                if error.kind == ErrorKind::ContextTooLong {
                    return Ok(None);
                }
                Err(if error.kind == ErrorKind::Cancelled {
                    self.end_stopped(Stopped::Cancelled)
                } else if error.kind == ErrorKind::Refused {
                    Ending::Failed(RunError::Refused)
                } else {
                    Ending::Failed(error.into())
                })
            }
        }
    }

    /// Returns the retry limits from the settings, capped by the remaining time.
    pub(super) fn patience(&self) -> Control {
        let mut policy = self.engine.policy.clone();
        policy.deadline = policy.deadline.min(self.control.left().unwrap_or(Duration::MAX));
        Control {
            policy,
            limits: self.engine.limits.clone(),
            // The jitter differs between steps but is the same when the run is repeated.
            seed: self.job.seed.wrapping_add(u64::from(self.progress.steps)),
            cancel: self.control.cancel().clone(),
        }
    }

    pub(super) fn count(
        &mut self,
        response: &Response,
        first_token_us: Option<u64>,
        duration_us: u64,
    ) {
        let cost = response.usage.cost(&response.model);
        let usage = self.progress.usage.map_or(response.usage, |sum| sum.plus(response.usage));
        self.progress.usage = Some(usage);
        self.progress.cost = self.progress.cost.zip(cost).map(|(sum, cost)| sum.plus(cost));
        self.job.events.emit_with(|| {
            Event::ModelFinish(Box::new(ModelFacts {
                step: self.progress.steps,
                model: response.model.clone(),
                stop: response.stop.clone(),
                usage: response.usage,
                cost,
                first_token_us,
                duration_us,
            }))
        });
    }
}

fn is_token(event: &ModelEvent) -> bool {
    matches!(event, ModelEvent::Text(_) | ModelEvent::Reasoning(_) | ModelEvent::ToolStarted { .. })
}

fn note_partial(partial: &mut String, event: &ModelEvent) {
    if let ModelEvent::Text(text) = event {
        partial.push_str(text);
    } else if let ModelEvent::TextReplaced { text } = event {
        partial.clone_from(text);
    } else if matches!(
        event,
        ModelEvent::Started { .. } | ModelEvent::Retry { .. } | ModelEvent::Fallback { .. }
    ) {
        // A new attempt replaces the text of the previous one.
        partial.clear();
    }
}

fn emit_progress(events: &Events, step: u32, event: ModelEvent) {
    let delta = |kind, text| Event::ModelDelta { kind, text };
    if let ModelEvent::Text(text) = event {
        events.emit_with(|| delta(DeltaKind::Text, text));
    } else if let ModelEvent::Reasoning(text) = event {
        events.emit_with(|| delta(DeltaKind::Reasoning, text));
    } else if let ModelEvent::TextReplaced { text } = event {
        events.emit_with(|| delta(DeltaKind::Replacement, text));
    } else {
        emit_trouble(events, step, event);
    }
}

/// Forwards retries and fallbacks, but not the model's text.
pub(super) fn emit_trouble(events: &Events, step: u32, event: ModelEvent) {
    if let ModelEvent::Retry { why, wait, shown: _ } = event {
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        events.emit(Event::ModelRetry { step, why: why.as_str().into(), wait_ms });
    } else if let ModelEvent::Fallback { why, to, shown: _ } = event {
        events.emit(Event::ModelFallback { step, why: why.as_str().into(), to });
    }
}

impl Run<'_> {
    /// Executes the tool calls and stores their results. Returns an ending only if the run is
    /// stopped in the meantime.
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
        stopped.map(|why| self.end_stopped(why))
    }

    async fn call_all(&mut self, calls: &[ToolCall]) -> (Batch, Option<Stopped>) {
        let source = Cancel::new();
        let step = StepContext {
            number: self.progress.steps,
            cancel: source.clone(),
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
