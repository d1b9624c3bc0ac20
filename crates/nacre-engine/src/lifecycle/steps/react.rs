//! What follows from an answer: tool calls, the end, or a word to the model about what is wrong.

use serde_json::Value;

use super::generate::Run;
use super::outcome::{Ending, RunError};
use super::progress::Asking;
use crate::lifecycle::completion::{complaints, judge};
use crate::lifecycle::{ANSWER_TOOL, CompletionVerdict, SIGNAL_TOOL};
use crate::lifecycle::{Completion, Signals};
use crate::lifecycle::{Exchange, KeptResult};
use crate::model::{
    Arguments, Content, MAX_REPAIRS, Message, Response, StopReason, ToolCall, ToolResult,
    ToolStatus, only_value,
};
use crate::record::Event;
use crate::record::Signal;

/// How the templates of models mark what a tool returned.
const RESULT_MARKS: &[&str] = &["<tool_response>", "<tool_result>", "<function_results>"];

impl Run<'_> {
    pub(super) async fn react(&mut self, response: Response) -> Option<Ending> {
        let text = response.text();
        if self.progress.was_cut_off {
            self.progress.text.push_str(&text);
        } else {
            self.progress.text = text;
        }
        if let Some(error) = RunError::of_stop(&response.stop) {
            return Some(Ending::Failed(error));
        }
        let calls: Vec<ToolCall> = response.calls().into_iter().cloned().collect();
        match self.progress.asking {
            Asking::Freely if !calls.is_empty() => self.follow(&response, calls).await,
            // Calls that nobody offered a tool for are not made.
            Asking::Freely | Asking::Finally => self.conclude(&response),
        }
    }

    /// Makes the calls, then sees whether one of them was meant as the end.
    async fn follow(&mut self, response: &Response, calls: Vec<ToolCall>) -> Option<Ending> {
        let is_end = |call: &ToolCall| self.is_end_tool(&call.name);
        let (ends, work): (Vec<ToolCall>, Vec<ToolCall>) = calls.into_iter().partition(is_end);
        let mut exchange = Exchange::new(Message::assistant(response));
        if !work.is_empty()
            && let Some(ending) = self.work(&work, &mut exchange).await
        {
            self.keep(exchange);
            return Some(ending);
        }
        let has_failed =
            exchange.results.iter().any(|kept| kept.result.status == ToolStatus::Failed);
        // Who hands in an answer beside other calls has not seen their results.
        let has_unread = !work.is_empty() && self.resolved.form.is_some();
        let mut ending = None;
        for call in ends {
            let words = if ending.is_some() {
                "It is over already.".to_owned()
            } else if has_unread && !has_failed {
                "Other calls came with it. Look at their results first, then hand it in again."
                    .to_owned()
            } else if has_failed {
                "A call of the same step failed. Look at its result first, then say so again."
                    .to_owned()
            } else {
                match self.end_by(&call) {
                    Ok(end) => {
                        ending = Some(end);
                        "Accepted.".to_owned()
                    }
                    Err(words) => words,
                }
            };
            let status = if ending.is_some() { ToolStatus::Done } else { ToolStatus::Failed };
            let result = ToolResult { call_id: call.id.clone(), text: words, status };
            exchange.results.push(KeptResult::new(result, &call, None));
        }
        in_order_of_calls(&mut exchange);
        self.keep(exchange);
        ending
    }

    fn is_end_tool(&self, name: &str) -> bool {
        match &self.job.spec.completion {
            Completion::EndTurn { signals } => *signals == Signals::Offered && name == SIGNAL_TOOL,
            Completion::Structured { .. } => name == ANSWER_TOOL,
        }
    }

    /// Takes a call as the end of the run, or says why not.
    fn end_by(&mut self, call: &ToolCall) -> Result<Ending, String> {
        match &self.job.spec.completion {
            Completion::EndTurn { .. } => self.end_by_signal(call),
            Completion::Structured { .. } => {
                let answer = match &call.arguments {
                    Arguments::Object(value) => Some(value.clone()),
                    Arguments::Malformed { .. } => None,
                };
                self.take_answer(answer)
            }
        }
    }

    fn end_by_signal(&mut self, call: &ToolCall) -> Result<Ending, String> {
        let (said, taken_as, reason, why) =
            match judge(&call.arguments, &self.tools.tally().effects()) {
                CompletionVerdict::Rejected(words) => return Err(words),
                CompletionVerdict::Accepted(signalled) => {
                    (signalled.outcome, signalled.outcome, signalled.reason, None)
                }
                CompletionVerdict::Contradicted { reason } => {
                    let why = "it said that nothing was to be done, and it changed something";
                    (Signal::NoOp, Signal::Done, reason, Some(why.into()))
                }
            };
        self.job.events.emit(Event::SignalVerdict { said, taken_as, why });
        let reason = Some(reason).filter(|reason| !reason.is_empty());
        if self.progress.text.trim().is_empty() {
            self.progress.text = reason.clone().unwrap_or_default();
        }
        Ok(Ending::Completed { signal: taken_as, reason })
    }

    /// The model stopped by itself, or was told to.
    fn conclude(&mut self, response: &Response) -> Option<Ending> {
        let was_cut_off = response.stop == StopReason::MaxTokens;
        let says_nothing = self.progress.text.trim().is_empty();
        let concluded = match &self.resolved.form {
            Some(_) if !says_nothing && !was_cut_off => self.conclude_formally(),
            _ if was_cut_off => self.once_more_after_cut(),
            _ if says_nothing => self.once_more_after_nothing(),
            _ if RESULT_MARKS.iter().any(|mark| self.progress.text.contains(mark)) => {
                self.once_more_after_made_up()
            }
            _ => Ok(Ending::done()),
        };
        match concluded {
            Ok(ending) => {
                self.keep(spoken(response, None));
                Some(ending)
            }
            Err(words) => {
                self.keep(spoken(response, Some(words)));
                None
            }
        }
    }

    fn once_more_after_cut(&mut self) -> Result<Ending, String> {
        if self.progress.was_cut_off {
            let max_tokens = self.resolved.max_tokens;
            return Ok(Ending::Failed(RunError::CutOff { max_tokens }));
        }
        // The rest of an answer in a form cannot be put behind its beginning.
        self.progress.was_cut_off = self.resolved.form.is_none();
        self.reopen(1, "the answer was cut off");
        Err(match self.resolved.form {
            None => {
                "Your answer was cut off. Go on exactly where it ends, and be brief.".to_owned()
            }
            Some(_) => {
                self.progress.repairs += 1;
                "Your answer was cut off. Hand in a shorter one.".to_owned()
            }
        })
    }

    /// Results come from tools. A model that writes one goes on as if it were true.
    fn once_more_after_made_up(&mut self) -> Result<Ending, String> {
        if self.progress.made_up_result {
            return Ok(Ending::Failed(RunError::MadeUpResult));
        }
        self.progress.made_up_result = true;
        self.reopen(1, "a result was made up");
        Err("You wrote the result of a tool yourself. Call the tool and wait for its result, or answer without it."
            .to_owned())
    }

    fn once_more_after_nothing(&mut self) -> Result<Ending, String> {
        if self.progress.said_nothing {
            return Ok(Ending::Failed(RunError::Empty));
        }
        self.progress.said_nothing = true;
        self.reopen(1, "nothing was said");
        Err("You said nothing. Go on with the work, or give your answer.".to_owned())
    }

    /// An answer in words: a form may be in it, and else it is asked for.
    fn conclude_formally(&mut self) -> Result<Ending, String> {
        let answer = only_value(&self.progress.text);
        let fits = |answer: &Value| {
            let form = self.resolved.form.as_ref();
            form.is_some_and(|form| form.schema.violations(answer).is_empty())
        };
        let has_form = answer.as_ref().is_some_and(fits);
        if !has_form && self.progress.asking == Asking::Freely {
            self.progress.asking = Asking::Finally;
            self.reopen(1, "the answer had no form");
            return Err(
                "Now hand in the same answer in the required form, as JSON and nothing else."
                    .to_owned(),
            );
        }
        self.take_answer(answer)
    }

    /// Checks an answer; one that is wrong goes back, at most twice.
    fn take_answer(&mut self, answer: Option<Value>) -> Result<Ending, String> {
        let Some(form) = &self.resolved.form else { return Ok(Ending::done()) };
        let found = match &answer {
            Some(answer) => {
                complaints(answer, &form.schema, &form.validators, &self.tools.tally().effects())
            }
            None => crate::lifecycle::Complaints {
                faults: vec!["the answer holds no JSON".to_owned()],
                doubts: Vec::new(),
            },
        };
        if found.is_empty() {
            self.progress.answer = answer;
            return Ok(Ending::done());
        }
        if self.progress.repairs < MAX_REPAIRS {
            self.progress.repairs += 1;
            let attempt = u32::try_from(self.progress.repairs).unwrap_or(u32::MAX);
            let why = found.told();
            self.reopen(attempt, &why);
            return Err(why);
        }
        if !found.faults.is_empty() {
            self.progress.rejected = answer;
            return Ok(Ending::Failed(RunError::Invalid { faults: found.faults }));
        }
        self.progress.answer = answer;
        self.progress.doubts = found.doubts;
        Ok(Ending::done())
    }

    fn reopen(&self, attempt: u32, why: &str) {
        self.job.events.emit_with(|| Event::CompletionReopen { attempt, why: why.into() });
    }

    /// Takes a finished exchange into the conversation; it is saved before the next step begins.
    fn keep(&mut self, exchange: Exchange) {
        self.progress.kept_step = self.progress.steps;
        self.progress.unsaved.extend(exchange.to_items(self.progress.steps));
        if let Some(turn) = self.progress.conversation.turns.last_mut() {
            turn.steps.push(exchange);
        }
    }
}

/// What was said, without calls: they were not made, and a call without a result is no conversation.
fn spoken(response: &Response, remark: Option<String>) -> Exchange {
    let mut said = Message::assistant(response);
    said.content.retain(|content| !matches!(content, Content::ToolUse(_)));
    let has_text = said.content.iter().any(|content| matches!(content, Content::Text(_)));
    if !has_text {
        said.content.push(Content::Text("(nothing)".to_owned()));
    }
    Exchange { remark, ..Exchange::new(said) }
}

/// Puts the results in the order of their calls, which some providers insist on.
fn in_order_of_calls(exchange: &mut Exchange) {
    let mut order = Vec::new();
    for content in &exchange.said.content {
        if let Content::ToolUse(call) = content {
            order.push(call.id.clone());
        }
    }
    exchange.results.sort_by_key(|kept| order.iter().position(|id| *id == kept.result.call_id));
}
