//! What the agent does, message by message.

use nacre_api::wire::{
    AnsweredBy, ApprovalAnswer, ChatAbortRequest, ChecklistItem, Failure, RpcCall, TaskEnd,
    TaskFollowRequest, TaskMessage, TaskUpdate, ToolOutcome, TurnUsage,
};

use super::sending;
use crate::tui::state::State;
use crate::tui::state::approval::Asked;
use crate::tui::state::cell::{CellKind, Tone, ToolCell, bounded};
use crate::tui::state::prompt::{Prompt, Turn, add_recalled};
use crate::tui::state::requests::Purpose;
use crate::tui::state::usage::dollars;
use crate::tui::text::{clean, clean_line, count, duration, grouped};

/// Tasks that are over and still known.
const MAX_OVER: usize = 100;

/// Messages of the next turn that wait for the end of this one.
const MAX_EARLY: usize = 10_000;

/// A plan that is longer is cut.
const MAX_PLAN: usize = 200;

pub(super) fn take(state: &mut State, message: TaskMessage) {
    let is_ours = state.session.as_ref().is_some_and(|session| session.id == message.session);
    if !is_ours || state.over.contains(&message.task) || !is_next(state, &message) {
        return;
    }
    take_in_turn(state, message);
}

/// One turn of a session runs at a time. What the next one tells may come before the end of this one, and is kept until then.
fn take_in_turn(state: &mut State, message: TaskMessage) {
    let is_of_next = state.turn.as_ref().is_some_and(|turn| turn.task != message.task)
        && (matches!(message.update, TaskUpdate::Running { .. })
            || state.early.iter().any(|early| early.task == message.task));
    if is_of_next && state.early.len() < MAX_EARLY {
        state.early.push_back(message);
        return;
    }
    let is_end = message.update.is_terminal();
    take_now(state, message);
    if is_end {
        for early in std::mem::take(&mut state.early) {
            take_in_turn(state, early);
        }
    }
}

fn take_now(state: &mut State, message: TaskMessage) {
    if message.update.is_terminal() {
        state.seen.remove(&message.task);
        state.over.push_back(message.task.clone());
        if state.over.len() > MAX_OVER {
            state.over.pop_front();
        }
        end(state, &message.task, message.update);
    } else {
        apply(state, &message.task, message.update);
    }
}

/// Whether a message is the next of its task. One that was seen is left out; where one is missing, they are asked for again.
fn is_next(state: &mut State, message: &TaskMessage) -> bool {
    let last = state.seen.get(&message.task).copied();
    // What follows the end of a task is said again.
    let is_known = last.is_some()
        || message.sequence <= 1
        || state.prompts.iter().any(|prompt| prompt.task.as_ref() == Some(&message.task));
    let last = last.unwrap_or(0);
    if message.sequence <= last || !is_known {
        return false;
    }
    if message.sequence > last + 1 {
        if !state.requests.is_open(&Purpose::Follow) {
            let request = TaskFollowRequest { task: message.task.clone(), after: last };
            state.send(RpcCall::TaskFollow(request), Purpose::Follow);
        }
        return false;
    }
    state.seen.insert(message.task.clone(), message.sequence);
    true
}

fn apply(state: &mut State, task: &str, update: TaskUpdate) {
    match update {
        TaskUpdate::Accepted { text } => accept(state, task, &text),
        TaskUpdate::Queued { position } => {
            for prompt in prompts_of(state, task) {
                prompt.position = Some(position);
            }
        }
        TaskUpdate::Running { model } => run(state, task, &model),
        TaskUpdate::Step { step } => {
            if let Some(turn) = turn(state, task) {
                turn.step = step;
                turn.words = None;
                turn.reasoning = None;
                turn.step_cells.clear();
            }
        }
        TaskUpdate::Text { text } => say(state, task, &clean(&text)),
        TaskUpdate::TextReplaced { text } => replace_words(state, task, &clean(&text)),
        TaskUpdate::Reasoning { text } => reason(state, task, &clean(&text)),
        TaskUpdate::ToolCall { call, tool, summary, .. } => {
            call_tool(state, task, &call, &tool, &summary);
        }
        TaskUpdate::ToolResult { call, tool, outcome, text, patches, duration_ms } => {
            let id = state.transcript.find_call(&call).unwrap_or_else(|| {
                state.transcript.push(CellKind::Tool(ToolCell::new(&call, &tool, "")))
            });
            state.transcript.change_tool(id, |cell| {
                cell.finish(outcome, &text, &patches, Some(duration_ms));
            });
        }
        TaskUpdate::Approval(request) => {
            state.approvals.push_back(Asked::new(&request, task));
        }
        TaskUpdate::Decided { approval, answer, by } => decide(state, &approval, &answer, by),
        TaskUpdate::Checklist { items } => state.plan = clean_plan(items),
        TaskUpdate::Memory { recalled } => add_recalled(&mut state.recalled, &recalled),
        TaskUpdate::Skill { skill } => state.note(Tone::Faint, &format!("Skill: {skill}")),
        TaskUpdate::Steered { text } => steered(state, task, &text),
        TaskUpdate::Notice { text } => state.note(Tone::Faint, &text),
        TaskUpdate::Usage(usage) => state.usage.turn = usage,
        // They are the last of their task, and `end` takes them.
        TaskUpdate::Completed(_) | TaskUpdate::Failed { .. } | TaskUpdate::Cancelled { .. } => {}
    }
}

fn turn<'s>(state: &'s mut State, task: &str) -> Option<&'s mut Turn> {
    state.turn.as_mut().filter(|turn| turn.task == task)
}

fn prompts_of<'s>(state: &'s mut State, task: &'s str) -> impl Iterator<Item = &'s mut Prompt> {
    state.prompts.iter_mut().filter(move |prompt| prompt.task.as_deref() == Some(task))
}

/// A task was taken in: it is put to the words that were sent for it.
fn accept(state: &mut State, task: &str, text: &str) {
    if prompts_of(state, task).next().is_some() {
        return;
    }
    let is_sent = |prompt: &Prompt| prompt.task.is_none() && prompt.text == text;
    if let Some(idx) = state.prompts.iter().position(is_sent) {
        return adopt(state, idx, task);
    }
    state.prompts.push(Prompt {
        request: None,
        task: Some(task.to_owned()),
        text: text.to_owned(),
        attachments: Vec::new(),
        position: None,
        is_shown: false,
        is_withdrawn: false,
    });
}

/// A prompt gets the name of its task. One that was taken back meanwhile is stopped.
pub(super) fn adopt(state: &mut State, idx: usize, task: &str) {
    let Some(prompt) = state.prompts.get_mut(idx) else { return };
    prompt.task = Some(task.to_owned());
    if prompt.is_withdrawn {
        let task = task.to_owned();
        state.send(RpcCall::ChatAbort(ChatAbortRequest { task }), Purpose::Abort);
    }
}

fn run(state: &mut State, task: &str, model: &str) {
    if let Some(idx) = state.prompts.iter().position(|it| it.task.as_deref() == Some(task)) {
        sending::show_prompt(state, idx);
    }
    state.turn = Some(Turn::new(task, &clean_line(model), state.now));
    state.usage.turn = TurnUsage { input: 0, output: 0, cost_usd: None, ..state.usage.turn };
    if let Some(session) = &mut state.session {
        session.running = Some(task.to_owned());
    }
}

/// Adds to what the agent says.
fn say(state: &mut State, task: &str, text: &str) {
    if text.is_empty() {
        return;
    }
    let words = turn(state, task).and_then(|turn| turn.words);
    let id = match words {
        Some(id) => state.transcript.extend_words(id, text),
        None => {
            let text = bounded(text.trim_start_matches('\n'));
            state.transcript.push(CellKind::Assistant { text, is_interrupted: false })
        }
    };
    if let Some(turn) = turn(state, task).filter(|_| words != Some(id)) {
        turn.words = Some(id);
        turn.step_cells.push(id);
        turn.reasoning = None;
    }
}

/// What was said in this step is void.
fn replace_words(state: &mut State, task: &str, text: &str) {
    let cells = turn(state, task).map(|turn| {
        turn.words = None;
        std::mem::take(&mut turn.step_cells)
    });
    for id in cells.into_iter().flatten() {
        state.transcript.remove(id);
    }
    say(state, task, text);
}

fn reason(state: &mut State, task: &str, text: &str) {
    let known = turn(state, task).and_then(|turn| turn.reasoning);
    if known.is_some_and(|id| state.transcript.extend_reasoning(id, text)) {
        return;
    }
    let id = state.transcript.push(CellKind::Reasoning { text: bounded(text) });
    if let Some(turn) = turn(state, task) {
        turn.reasoning = Some(id);
    }
}

fn call_tool(state: &mut State, task: &str, call: &str, tool: &str, summary: &str) {
    state.transcript.push(CellKind::Tool(ToolCell::new(call, tool, summary)));
    if let Some(turn) = turn(state, task) {
        turn.words = None;
        turn.reasoning = None;
        turn.n_calls += 1;
    }
}

/// A question was answered, here or elsewhere.
fn decide(state: &mut State, approval: &str, answer: &ApprovalAnswer, by: AnsweredBy) {
    state.approvals.retain(|asked| asked.approval != approval);
    match (by, answer) {
        (AnsweredBy::Timeout, _) => {
            state.note(Tone::Warning, "Not allowed: nobody answered in time");
        }
        (AnsweredBy::Nobody, _) => {
            state.note(Tone::Warning, "Not allowed: nobody was there to ask");
        }
        (AnsweredBy::Person, ApprovalAnswer::Deny { reason }) if !reason.is_empty() => {
            state.note(Tone::Warning, &format!("You did not allow it: {reason}"));
        }
        (AnsweredBy::Person, _) => {}
    }
}

fn clean_plan(items: Vec<ChecklistItem>) -> Vec<ChecklistItem> {
    let item = |item: ChecklistItem| ChecklistItem { label: clean_line(&item.label), ..item };
    items.into_iter().take(MAX_PLAN).map(item).collect()
}

fn steered(state: &mut State, task: &str, text: &str) {
    let kind =
        CellKind::User { text: clean(&bounded(text)), attachments: Vec::new(), is_steering: true };
    state.transcript.push(kind);
    if let Some(turn) = turn(state, task) {
        turn.words = None;
        turn.reasoning = None;
    }
}

/// A task is over: how it ended is said, and what belongs to it goes.
fn end(state: &mut State, task: &str, update: TaskUpdate) {
    let turn = state.turn.take_if(|turn| turn.task == task);
    let has_run = turn.is_some();
    state.prompts.retain(|prompt| prompt.task.as_deref() != Some(task));
    state.approvals.retain(|asked| asked.task != task);
    if let Some(session) = state.session.as_mut().filter(|_| has_run) {
        session.running = None;
    }
    match update {
        TaskUpdate::Completed(end) => {
            state.usage.end_turn(end.usage);
            let (tone, text) = ended(&end, turn.as_ref(), state.now);
            state.note(tone, &text);
        }
        TaskUpdate::Failed { error, usage } => {
            state.usage.end_turn(usage);
            close_calls(state, task);
            state.note(Tone::Bad, &failure(&error));
        }
        TaskUpdate::Cancelled { .. } => {
            if let Some(words) = turn.and_then(|turn| turn.words) {
                state.transcript.change(words, |kind| {
                    if let CellKind::Assistant { is_interrupted, .. } = kind {
                        *is_interrupted = true;
                    }
                });
            }
            if has_run {
                close_calls(state, task);
                state.note(Tone::Warning, "Stopped.");
            }
        }
        TaskUpdate::Accepted { .. }
        | TaskUpdate::Queued { .. }
        | TaskUpdate::Running { .. }
        | TaskUpdate::Step { .. }
        | TaskUpdate::Text { .. }
        | TaskUpdate::TextReplaced { .. }
        | TaskUpdate::Reasoning { .. }
        | TaskUpdate::ToolCall { .. }
        | TaskUpdate::ToolResult { .. }
        | TaskUpdate::Approval(_)
        | TaskUpdate::Decided { .. }
        | TaskUpdate::Checklist { .. }
        | TaskUpdate::Memory { .. }
        | TaskUpdate::Skill { .. }
        | TaskUpdate::Steered { .. }
        | TaskUpdate::Notice { .. }
        | TaskUpdate::Usage(_) => {}
    }
}

/// Calls that will have no result any more.
fn close_calls(state: &mut State, _task: &str) {
    let is_running =
        |kind: &CellKind| matches!(kind, CellKind::Tool(tool) if tool.outcome.is_none());
    let open: Vec<_> = state
        .transcript
        .cells()
        .rev()
        .take(200)
        .filter(|cell| is_running(&cell.kind))
        .map(|cell| cell.id)
        .collect();
    for id in open {
        state.transcript.change_tool(id, |cell| {
            cell.finish(ToolOutcome::Failed, "It was stopped.", &[], None);
        });
    }
}

/// How a turn ended, in one line.
fn ended(end: &TaskEnd, turn: Option<&Turn>, now: u64) -> (Tone, String) {
    let (tone, word) = match end.signal.as_str() {
        "no_op" => (Tone::Faint, "Nothing to do"),
        "blocked" => (Tone::Warning, "Blocked"),
        "yielded" => (Tone::Warning, "Paused"),
        _ => (Tone::Faint, "Done"),
    };
    let mut parts = match turn {
        Some(turn) => vec![format!("{word} in {}", duration(now.saturating_sub(turn.since)))],
        None => vec![word.to_owned()],
    };
    if let Some(turn) = turn.filter(|turn| turn.n_calls > 0) {
        parts.push(count(turn.n_calls, "call"));
    }
    if !end.changed.is_empty() {
        parts.push(format!("{} changed", count(end.changed.len(), "file")));
    }
    parts.push(format!("{} in, {} out", grouped(end.usage.input), grouped(end.usage.output)));
    parts.extend(end.usage.cost_usd.map(dollars));
    let line = parts.join(" · ");
    match &end.reason {
        Some(reason) if !reason.is_empty() => (tone, format!("{line}\n{reason}")),
        Some(_) | None => (tone, line),
    }
}

/// An error with its causes and what can be done.
pub(super) fn failure(error: &Failure) -> String {
    let mut text = format!("Error: {}", error.message);
    for cause in &error.causes {
        text.push_str(&format!("\nCaused by: {cause}"));
    }
    for hint in &error.hints {
        text.push_str(&format!("\nHint: {hint}"));
    }
    text
}
