//! Summarizes the beginning of a conversation that no longer fits into the context window.
//!
//! The model writes the summary in a single call without tools. The host adds the names of changed
//! files that the summary omits. If the model call fails, the oldest part of the conversation is
//! omitted instead.

use tokio::time::{Duration, Instant, timeout};

use crate::lifecycle::context::tokens_in;
use crate::lifecycle::steps::Ending;
use crate::lifecycle::steps::generate::{Run, emit_trouble, micros};
use crate::lifecycle::{Conversation, Exchange, Item, Summary, Turn};
use crate::model::{Content, Message, ModelEvent, Request, Response, generate};
use crate::record::Event;

const PROMPT: &str = include_str!("compact.md").trim_ascii_end();

const MAX_TOKENS: u32 = 2048;
const MAX_BYTES: usize = 12_000;

const TIME_LIMIT: Duration = Duration::from_secs(120);

const MAX_TEXT_BYTES: usize = 4_000;
const MAX_RESULT_BYTES: usize = 800;

const MAX_FILES: usize = 100;

impl Run<'_> {
    pub(super) async fn compact(&mut self) -> Result<(), Ending> {
        let tokens = self.progress.conversation.tokens();
        let is_wanted =
            self.job.spec.sums_up && self.prepared.room < tokens && !self.progress.cannot_sum_up;
        let Some(part) = is_wanted.then(|| self.part_to_sum_up()).flatten() else { return Ok(()) };
        let begun = Instant::now();
        let Some(text) = self.sum_up(&part).await? else {
            self.progress.cannot_sum_up = true;
            let text = "Could not summarize the beginning of the conversation; it is omitted \
             instead.";
            self.job.events.emit(Event::Notice { text: text.into() });
            return Ok(());
        };
        let summary = part.cover(&mut self.progress.conversation, text);
        let (n_turns, n_steps) = (summary.n_turns, summary.n_steps);
        self.progress.unsaved.push(Item::Summary(summary));
        let after = self.progress.conversation.tokens();
        self.job.events.emit(Event::ContextSummary {
            n_turns,
            n_steps,
            tokens_before: tokens,
            tokens_after: after,
            duration_us: micros(begun),
        });
        Ok(())
    }

    /// Returns the shortest part whose removal leaves at least half of the room free, or `None` if
    /// nothing can be removed.
    fn part_to_sum_up(&self) -> Option<OldPart> {
        let conversation = &self.progress.conversation;
        let target = self.prepared.room / 2;
        let mut left = conversation.tokens();
        let mut part = OldPart { n_turns: 0, n_steps: 0 };
        let last = conversation.turns.len().checked_sub(1)?;
        for turn in &conversation.turns[..last] {
            if left <= target {
                break;
            }
            left = left.saturating_sub(turn.tokens());
            part.n_turns += 1;
        }
        if part.n_turns == last {
            let steps = &conversation.turns[last].steps;
            for step in &steps[..steps.len().saturating_sub(1)] {
                if left <= target {
                    break;
                }
                left = left.saturating_sub(step.tokens());
                part.n_steps += 1;
            }
        }
        (part.n_turns + part.n_steps != 0).then_some(part)
    }

    async fn sum_up(&mut self, part: &OldPart) -> Result<Option<String>, Ending> {
        let step = self.progress.steps;
        let told = part.told(&self.progress.conversation);
        let room = self.prepared.room.saturating_sub(tokens_in(PROMPT));
        let request = Request {
            system: PROMPT.to_owned(),
            messages: vec![Message::user(&truncate_middle(&told, room * 2))],
            may_call: false,
            max_tokens: MAX_TOKENS.min(self.prepared.max_tokens),
            temperature: self.prepared.temperature,
            effort: self.prepared.effort,
            is_cached: false,
            ..Request::new(self.job.spec.role, "", "")
        };
        let model = self.prepared.model.clone();
        self.job.events.emit_with(|| Event::ModelCall { step, model: model.clone() });
        let begun = Instant::now();
        let events = &self.job.events;
        // The summary is not shown to users, because it is not the answer.
        let mut sink = |event: ModelEvent| emit_trouble(events, step, event);
        let patience = self.patience();
        let asked =
            timeout(TIME_LIMIT, generate(&self.prepared.route, &request, &patience, &mut sink));
        let answered = self.control.unless_stopped(asked).await;
        let duration_us = micros(begun);
        self.progress.model_calls += 1;
        self.progress.model_us += duration_us;
        let why = match answered.map_err(|stopped| self.end_stopped(stopped))? {
            Ok(Ok(response)) => return Ok(self.summary(part, &response, duration_us)),
            Ok(Err(error)) => error.kind.as_str(),
            Err(_) => "timeout",
        };
        events.emit(Event::ModelError { step, model, why: why.into(), duration_us });
        Ok(None)
    }

    fn summary(&mut self, part: &OldPart, response: &Response, us: u64) -> Option<String> {
        self.count(response, None, us);
        let text = truncate_middle(response.text().trim(), MAX_BYTES);
        (!text.is_empty()).then(|| part.with_files(&text, &self.progress.conversation))
    }
}

/// The beginning of a conversation: complete turns, followed by some steps of the next turn.
struct OldPart {
    n_turns: usize,
    n_steps: usize,
}

impl OldPart {
    /// Returns the turns of this part, each with its steps.
    fn turns<'c>(
        &self,
        conversation: &'c Conversation,
    ) -> impl Iterator<Item = (&'c Turn, &'c [Exchange])> {
        let (whole, rest) = conversation.turns.split_at(self.n_turns);
        let next = rest.first().map(|turn| (turn, &turn.steps[..self.n_steps]));
        let whole = whole.iter().map(|turn| (turn, turn.steps.as_slice()));
        whole.chain(next.filter(|(_, steps)| !steps.is_empty()))
    }

    fn cover(&self, conversation: &mut Conversation, text: String) -> Summary {
        let (turns_before, steps_before) =
            conversation.summary.as_ref().map_or((0, 0), |old| (old.n_turns, old.n_steps));
        conversation.turns.drain(..self.n_turns);
        let is_same_turn = self.n_turns == 0;
        let mut n_steps = if is_same_turn { steps_before } else { 0 };
        if let Some(turn) = conversation.turns.first_mut().filter(|_| self.n_steps != 0) {
            turn.steps.drain(..self.n_steps);
            n_steps += std::mem::take(&mut turn.steps_left_out) + self.n_steps;
        }
        let n_turns =
            turns_before + std::mem::take(&mut conversation.turns_left_out) + self.n_turns;
        let summary = Summary { text, n_turns, n_steps };
        conversation.summary = Some(summary.clone());
        summary
    }

    fn told(&self, conversation: &Conversation) -> String {
        let mut told = String::new();
        if let Some(summary) = &conversation.summary {
            told += &format!("Summary of what came before:\n{}\n\n", summary.text);
        }
        for (turn, steps) in self.turns(conversation) {
            told += &format!("The person:\n{}\n\n", truncate_middle(&turn.asked, MAX_TEXT_BYTES));
            for attached in &turn.attachments {
                told += &format!("(attached: {})\n", attached.name);
            }
            for step in steps {
                told += &said(&step.said);
                for kept in &step.results {
                    let text = truncate_middle(&kept.result.text, MAX_RESULT_BYTES);
                    told += &format!("Result of {}:\n{text}\n\n", kept.tool);
                }
                for words in &step.steered {
                    told += &format!("The person:\n{}\n\n", truncate_middle(words, MAX_TEXT_BYTES));
                }
            }
        }
        told
    }

    /// Appends the changed files that the summary does not mention.
    fn with_files(&self, text: &str, conversation: &Conversation) -> String {
        let mut files: Vec<String> = Vec::new();
        let steps = self.turns(conversation).flat_map(|(_, steps)| steps);
        for call in steps.flat_map(Exchange::calls) {
            let arguments = call.arguments.as_object();
            let paths = ["path", "from", "to"].iter().filter_map(|name| arguments[name].as_str());
            for path in paths.filter(|_| call.name.starts_with("file_") && call.name != "file_read")
            {
                if !text.contains(path) && !files.iter().any(|known| known == path) {
                    files.push(path.to_owned());
                }
            }
        }
        if files.is_empty() {
            return text.to_owned();
        }
        files.truncate(MAX_FILES);
        format!("{text}\nOther files that were worked on: {}", files.join(", "))
    }
}

fn said(message: &Message) -> String {
    let mut told = String::new();
    for content in &message.content {
        match content {
            Content::Text(text) => {
                told += &format!("The agent:\n{}\n\n", truncate_middle(text, MAX_TEXT_BYTES));
            }
            Content::ToolUse(call) => {
                let arguments = call.arguments.as_object().to_string();
                told += &format!(
                    "Call of {}: {}\n",
                    call.name,
                    truncate_middle(&arguments, MAX_RESULT_BYTES)
                );
            }
            Content::Reasoning(_)
            | Content::HiddenReasoning(_)
            | Content::ToolResult(_)
            | Content::Image(_) => {}
        }
    }
    told
}

fn truncate_middle(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let head = &text[..text.floor_char_boundary(limit / 2)];
    let tail = &text[text.ceil_char_boundary(text.len() - limit / 2)..];
    format!("{head}\n[…]\n{tail}")
}
