//! Handles a model response: executes its tool calls, ends the run, or returns a description of the
//! problem to the model.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::lifecycle::completion::{complaints, judge};
use crate::lifecycle::steps::generate::Run;
use crate::lifecycle::steps::{Ending, RunError};
use crate::lifecycle::{ANSWER_TOOL, Complaints, Completion, Exchange, KeptResult, SIGNAL_TOOL};
use crate::model::{
    Arguments, Content, MAX_REPAIRS, Message, Response, StopReason, ToolCall, ToolResult,
    ToolStatus, only_value, violations,
};
use crate::record::Event;

const NOTHING_SAID: &str = "Your answer was empty. Continue the work, or give your answer.";

const RESULT_MADE_UP: &str = "You wrote the result of a tool yourself. Call the tool and wait for its result, or answer \
    without it.";

/// Tags that mark tool results in the prompt templates of some models.
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
        // If no tools were offered, ignore calls.
        if calls.is_empty() || self.progress.asks_finally {
            return self.conclude(&response);
        }
        self.follow(&response, calls).await
    }

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
        // If an answer is in the same message as other calls, it was written before their results
        // were available.
        let has_unread = !work.is_empty() && self.job.spec.completion.form().is_some();
        let mut ending = None;
        for call in ends {
            let words = if ending.is_some() {
                "The run has already ended.".to_owned()
            } else if has_unread && !has_failed {
                "Other calls came with this answer. Look at their results first, then hand it in \
                 again."
                    .to_owned()
            } else if has_failed {
                "A call in the same step failed. Look at its result first, then make this call \
                 again."
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
        // Some providers require results in the same order as the calls.
        let order: Vec<String> = exchange.calls().map(|call| call.id.clone()).collect();
        exchange.results.sort_by_key(|kept| order.iter().position(|id| *id == kept.result.call_id));
        self.keep(exchange);
        ending
    }

    fn is_end_tool(&self, name: &str) -> bool {
        match &self.job.spec.completion {
            Completion::EndTurn { signals } => *signals && name == SIGNAL_TOOL,
            Completion::Structured { .. } => name == ANSWER_TOOL,
        }
    }

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
        let (signalled, taken_as) = judge(&call.arguments, self.tools.tally())?;
        let said = signalled.outcome;
        let why = (said != taken_as).then(|| {
            "the agent reported that there was nothing to do, but it changed files".into()
        });
        self.job.events.emit(Event::SignalVerdict { said, taken_as, why });
        let reason = Some(signalled.reason).filter(|reason| !reason.is_empty());
        if self.progress.text.trim().is_empty() {
            self.progress.text = reason.clone().unwrap_or_default();
        }
        Ok(Ending::Completed { signal: taken_as, reason })
    }

    fn conclude(&mut self, response: &Response) -> Option<Ending> {
        let was_cut_off = response.stop == StopReason::MaxTokens;
        let says_nothing = self.progress.text.trim().is_empty();
        let concluded = match self.job.spec.completion.form() {
            Some(_) if !says_nothing && !was_cut_off => self.conclude_formally(),
            _ if was_cut_off => self.once_more_after_cut(),
            _ if says_nothing => match std::mem::replace(&mut self.progress.said_nothing, true) {
                true => Ok(Ending::Failed(RunError::Empty)),
                false => Err(self.once_more("the answer was empty", NOTHING_SAID)),
            },
            _ if RESULT_MARKS.iter().any(|mark| self.progress.text.contains(mark)) => {
                match std::mem::replace(&mut self.progress.made_up_result, true) {
                    true => Ok(Ending::Failed(RunError::MadeUpResult)),
                    false => Err(self.once_more("a tool result was invented", RESULT_MADE_UP)),
                }
            }
            _ => Ok(Ending::done()),
        };
        let (ending, remark) = match concluded {
            Ok(ending) => (Some(ending), None),
            Err(words) => (None, Some(words)),
        };
        self.keep(strip_calls(response, remark));
        ending
    }

    fn once_more_after_cut(&mut self) -> Result<Ending, String> {
        if self.progress.was_cut_off {
            let max_tokens = self.prepared.max_tokens;
            return Ok(Ending::Failed(RunError::CutOff { max_tokens }));
        }
        // Truncated structured output cannot be continued.
        let form = self.job.spec.completion.form();
        self.progress.was_cut_off = form.is_none();
        self.progress.repairs += usize::from(form.is_some());
        let words = match form {
            None => "Your answer was truncated. Continue exactly where it ends, and be brief.",
            Some(_) => "Your answer was truncated. Hand in a shorter one.",
        };
        Err(self.once_more("the answer was truncated", words))
    }

    fn once_more(&self, why: &str, words: &str) -> String {
        self.reopen(1, why);
        words.to_owned()
    }

    /// Handles a plain-text answer when structured output is required. If the text contains the
    /// output, uses it; otherwise, prompts the model for it.
    fn conclude_formally(&mut self) -> Result<Ending, String> {
        let answer = only_value(&self.progress.text);
        let fits = |answer: &Value| {
            let form = self.job.spec.completion.form();
            form.is_some_and(|(output, _)| violations(&output.schema, answer).is_empty())
        };
        let has_form = answer.as_ref().is_some_and(fits);
        if !has_form && !self.progress.asks_finally {
            self.progress.asks_finally = true;
            let words =
                "Now hand in the same answer in the required form, as JSON and nothing else.";
            return Err(self.once_more("the answer was not in the required form", words));
        }
        self.take_answer(answer)
    }

    /// Checks an answer. Sends an invalid answer back to the model at most twice.
    fn take_answer(&mut self, answer: Option<Value>) -> Result<Ending, String> {
        let Some((output, validators)) = self.job.spec.completion.form() else {
            return Ok(Ending::done());
        };
        let found = match &answer {
            Some(answer) => complaints(answer, &output.schema, validators, self.tools.tally()),
            None => Complaints {
                faults: vec!["the answer contains no JSON".to_owned()],
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

    /// Adds a finished exchange to the conversation, which is saved before the next step.
    fn keep(&mut self, exchange: Exchange) {
        self.progress.kept_step = self.progress.steps;
        self.progress.unsaved.extend(exchange.to_items(self.progress.steps));
        if let Some(turn) = self.progress.conversation.turns.last_mut() {
            turn.steps.push(exchange);
        }
    }
}

/// Returns the exchange without its calls. The calls were never executed, and a conversation with
/// calls but no results is invalid.
fn strip_calls(response: &Response, remark: Option<String>) -> Exchange {
    let mut said = Message::assistant(response);
    said.content.retain(|content| !matches!(content, Content::ToolUse(_)));
    let has_text = said.content.iter().any(|content| matches!(content, Content::Text(_)));
    if !has_text {
        said.content.push(Content::Text("(nothing)".to_owned()));
    }
    Exchange { remark, ..Exchange::new(said) }
}

const TELL_AT: u32 = 3;

/// Number of consecutive identical steps after which tools are no longer offered.
const STUCK_AT: u32 = 5;

#[derive(Debug, Default)]
pub(super) struct Repeats {
    seen: BTreeMap<String, u32>,
    last: Vec<String>,
    in_a_row: u32,
}

impl Repeats {
    pub(super) fn notice(&mut self, calls: &[ToolCall]) -> Option<String> {
        let keys: Vec<String> = calls.iter().map(key).collect();
        if keys == self.last {
            self.in_a_row += 1;
        } else {
            self.in_a_row = 1;
            self.last.clone_from(&keys);
        }
        let mut worst: Option<(&str, u32)> = None;
        for (call, key) in calls.iter().zip(keys) {
            let count = self.seen.entry(key).or_default();
            *count += 1;
            if TELL_AT <= *count && worst.is_none_or(|(_, most)| most < *count) {
                worst = Some((&call.name, *count));
            }
        }
        worst.map(|(name, count)| {
            format!(
                "You have made this exact call of `{name}` {count} times. Its result is above; do \
                 something else, or finish."
            )
        })
    }

    pub(super) fn is_stuck(&self) -> bool {
        STUCK_AT <= self.in_a_row
    }
}

fn key(call: &ToolCall) -> String {
    // Object keys are sorted, so calls that differ only in key order are identical.
    format!("{} {}", call.name, call.arguments.as_object())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Arguments;

    fn call(arguments: &str) -> ToolCall {
        let arguments = Arguments::parse(arguments);
        ToolCall { id: "1".to_owned(), name: "file_read".to_owned(), arguments }
    }

    #[test]
    fn the_third_identical_call_is_noticed_whatever_the_order_of_its_keys() {
        let mut repeats = Repeats::default();
        assert_eq!(repeats.notice(&[call(r#"{"path":"a","from":1}"#)]), None);
        assert_eq!(repeats.notice(&[call(r#"{"path":"b"}"#)]), None);
        assert_eq!(repeats.notice(&[call(r#"{"from":1,"path":"a"}"#)]), None);
        let told = repeats.notice(&[call(r#"{"path":"a","from":1}"#)]).unwrap();
        assert!(told.contains("`file_read` 3 times"), "{told}");
        assert!(!repeats.is_stuck());
    }

    #[test]
    fn five_identical_steps_in_a_row_are_enough() {
        let mut repeats = Repeats::default();
        for step in 1..=5 {
            repeats.notice(&[call("{}"), call(r#"{"path":"a"}"#)]);
            assert_eq!(repeats.is_stuck(), step == 5);
        }
        repeats.notice(&[call("{}")]);
        assert!(!repeats.is_stuck());
    }
}
