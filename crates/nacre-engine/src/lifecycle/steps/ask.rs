//! One model call: the plan of what it is sent, the words as they come, and what it used.

use std::time::Duration;

use tokio::time::Instant;

use super::generate::{Run, micros};
use super::outcome::{Ending, RunError};
use super::progress::Asking;
use crate::lifecycle::plan;
use crate::model::{
    self, Cache, Control, ErrorKind, ModelError, Request, Response, StopReason, ToolChoice,
    generate,
};
use crate::record::{DeltaKind, Event, Events, ModelFacts};

impl Run<'_> {
    /// Asks the model; where the window turns out to be smaller than we thought, once more with half of it.
    pub(super) async fn ask(&mut self) -> Result<Response, Ending> {
        self.compact().await?;
        self.fit()?;
        match self.ask_once().await? {
            Answered::Whole(response) => Ok(response),
            Answered::WindowFull => {
                self.prepared.room =
                    self.progress.conversation.tokens().min(self.prepared.room) / 2;
                self.compact().await?;
                self.fit()?;
                match self.ask_once().await? {
                    Answered::Whole(response) => Ok(response),
                    Answered::WindowFull => {
                        let (tokens, room) =
                            (self.progress.conversation.tokens(), self.prepared.room);
                        let too_long = crate::lifecycle::TooLong { tokens, room };
                        Err(Ending::Failed(RunError::TooLong(too_long)))
                    }
                }
            }
        }
    }

    /// Makes the conversation fit, for this call and those after it.
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
        let finally = self.progress.asking == Asking::Finally;
        let form = self.resolved.form.as_ref().filter(|_| finally);
        Request {
            role: self.job.spec.role,
            system: self.prepared.system.clone(),
            messages: self.progress.conversation.messages(),
            tools: self.prepared.tools.clone(),
            tool_choice: if finally { ToolChoice::None } else { ToolChoice::Auto },
            output: form.map(|form| form.output.clone()),
            max_tokens: self.resolved.max_tokens,
            temperature: self.resolved.temperature,
            effort: self.resolved.effort,
            cache: Cache::Conversation,
            cache_key: Some(self.job.events.task().to_string()),
        }
    }

    async fn ask_once(&mut self) -> Result<Answered, Ending> {
        let step = self.progress.steps;
        let request = self.request();
        let model = self.resolved.model.clone();
        self.job.events.emit_with(|| Event::ModelCall { step, model: model.clone() });
        let begun = Instant::now();
        let mut first_token = None;
        let mut partial = String::new();
        let events = &self.job.events;
        let mut sink = |event: model::Event| {
            note_partial(&mut partial, &event);
            if is_token(&event) {
                first_token.get_or_insert_with(|| micros(begun));
            }
            tell(events, step, event);
        };
        let patience = self.patience();
        let asked = generate(&self.resolved.route, &request, &patience, &mut sink);
        let answered = self.control.unless_stopped(asked).await;
        let duration_us = micros(begun);
        self.progress.model_calls += 1;
        self.progress.model_us += duration_us;
        self.progress.partial = if matches!(answered, Ok(Ok(_))) { String::new() } else { partial };
        match answered {
            Err(stopped) => Err(self.stopped(stopped)),
            Ok(Ok(response)) if response.stop == StopReason::ContextFull => {
                self.count(&response, first_token, duration_us);
                Ok(Answered::WindowFull)
            }
            Ok(Ok(response)) => {
                self.count(&response, first_token, duration_us);
                Ok(Answered::Whole(response))
            }
            Ok(Err(error)) => self.failed(error, duration_us),
        }
    }

    fn failed(&mut self, error: ModelError, duration_us: u64) -> Result<Answered, Ending> {
        let (step, model, why) = (self.progress.steps, error.model.clone(), error.kind.as_str());
        self.job.events.emit(Event::ModelError { step, model, why: why.into(), duration_us });
        match &error.kind {
            ErrorKind::ContextTooLong => Ok(Answered::WindowFull),
            ErrorKind::Cancelled => Err(self.stopped(crate::lifecycle::Stopped::Cancelled)),
            ErrorKind::Refused => Err(Ending::Failed(RunError::Refused)),
            ErrorKind::Auth
            | ErrorKind::NotLoggedIn
            | ErrorKind::Quota
            | ErrorKind::RateLimited { .. }
            | ErrorKind::Overloaded { .. }
            | ErrorKind::Timeout(_)
            | ErrorKind::CutStream
            | ErrorKind::BadRequest
            | ErrorKind::UnknownModel
            | ErrorKind::Unavailable { .. }
            | ErrorKind::Redirected
            | ErrorKind::ProgramFailed { .. }
            | ErrorKind::Protocol
            | ErrorKind::ScriptMismatch
            | ErrorKind::OverLimit => Err(Ending::Failed(error.into())),
        }
    }

    /// The patience of the settings, but no more than the run has time.
    pub(super) fn patience(&self) -> Control {
        let mut policy = self.engine.policy.clone();
        policy.deadline = policy.deadline.min(self.control.left().unwrap_or(Duration::MAX));
        Control {
            policy,
            limits: self.engine.limits.clone(),
            // Each step draws its own waits, and a repeated run the same ones.
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
        let cost = self.engine.models.prices().cost(&response.model, &response.usage);
        self.progress.count_usage(response.usage);
        self.progress.cost.add(cost);
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

/// What became of a call that was answered.
enum Answered {
    Whole(Response),
    /// The conversation filled the model's window.
    WindowFull,
}

fn is_token(event: &model::Event) -> bool {
    matches!(
        event,
        model::Event::Text(_) | model::Event::Reasoning(_) | model::Event::ToolStarted { .. }
    )
}

/// Keeps what was said so far, for the case that the answer breaks off.
fn note_partial(partial: &mut String, event: &model::Event) {
    match event {
        model::Event::Text(text) => partial.push_str(text),
        model::Event::TextReplaced { text } => partial.clone_from(text),
        // What an attempt before had said is void.
        model::Event::Started { .. }
        | model::Event::Retry { .. }
        | model::Event::Fallback { .. } => partial.clear(),
        model::Event::Reasoning(_)
        | model::Event::ReasoningDone { .. }
        | model::Event::HiddenReasoning(_)
        | model::Event::ToolStarted { .. }
        | model::Event::ToolArguments { .. }
        | model::Event::ToolDone { .. }
        | model::Event::Usage(_)
        | model::Event::Stop(_) => {}
    }
}

/// Passes on what people want to see while it comes.
fn tell(events: &Events, step: u32, event: model::Event) {
    let delta = |kind, text| Event::ModelDelta { kind, text };
    match event {
        model::Event::Text(text) => events.emit_with(|| delta(DeltaKind::Text, text)),
        model::Event::Reasoning(text) => events.emit_with(|| delta(DeltaKind::Reasoning, text)),
        model::Event::TextReplaced { text } => {
            events.emit_with(|| delta(DeltaKind::Replacement, text));
        }
        model::Event::Started { .. }
        | model::Event::Retry { .. }
        | model::Event::Fallback { .. }
        | model::Event::ReasoningDone { .. }
        | model::Event::HiddenReasoning(_)
        | model::Event::ToolStarted { .. }
        | model::Event::ToolArguments { .. }
        | model::Event::ToolDone { .. }
        | model::Event::Usage(_)
        | model::Event::Stop(_) => tell_trouble(events, step, event),
    }
}

/// Passes on that a model has to be asked again, and nothing of what it says.
pub(super) fn tell_trouble(events: &Events, step: u32, event: model::Event) {
    let millis = |wait: Duration| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
    match event {
        model::Event::Retry { why, wait, shown: _ } => {
            let (why, wait_ms) = (why.as_str().into(), millis(wait));
            events.emit(Event::ModelRetry { step, why, wait_ms });
        }
        model::Event::Fallback { why, to, shown: _ } => {
            events.emit(Event::ModelFallback { step, why: why.as_str().into(), to });
        }
        model::Event::Started { .. }
        | model::Event::Text(_)
        | model::Event::Reasoning(_)
        | model::Event::TextReplaced { .. }
        | model::Event::ReasoningDone { .. }
        | model::Event::HiddenReasoning(_)
        | model::Event::ToolStarted { .. }
        | model::Event::ToolArguments { .. }
        | model::Event::ToolDone { .. }
        | model::Event::Usage(_)
        | model::Event::Stop(_) => {}
    }
}
