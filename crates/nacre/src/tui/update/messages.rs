//! Applies the agent's messages.

use nacre_types::{
    AnsweredBy, ApprovalAnswer, ChecklistItem, RpcCall, TaskEnd, TaskFollowRequest, TaskMessage,
    TaskRef, TaskUpdate, ToolOutcome, TurnUsage,
};

use super::sending;
use crate::tui::state::ScreenState;
use crate::tui::state::cell::{CellKind, ToolCell, bound_text};
use crate::tui::state::panel::ApprovalDialog;
use crate::tui::state::turn::{Prompt, Purpose, RunningTurn, add_recalled, dollars};
use crate::tui::text::{clean, clean_line, count, duration, failure_text, group_digits};
use crate::tui::theme::Role;

const MAX_OVER: usize = 100;

const MAX_EARLY: usize = 10_000;

const MAX_PLAN: usize = 200;

pub(super) fn take(state: &mut ScreenState, message: TaskMessage) {
    let is_ours = state.session.as_ref().is_some_and(|session| session.id == message.session);
    if !is_ours || state.over.contains(&message.task) || !is_next(state, &message) {
        return;
    }
    take_in_turn(state, message);
}

/// Applies messages one turn at a time. Messages that arrive early from the next turn are buffered.
fn take_in_turn(state: &mut ScreenState, message: TaskMessage) {
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

fn take_now(state: &mut ScreenState, message: TaskMessage) {
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

/// Returns whether a message is the next one for its task. If earlier messages are missing,
/// requests them.
fn is_next(state: &mut ScreenState, message: &TaskMessage) -> bool {
    let last = state.seen.get(&message.task).copied();
    // A message that fails these checks repeats one from a task that has ended and is no longer
    // tracked.
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

fn apply(state: &mut ScreenState, task: &str, update: TaskUpdate) {
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
                turn.end_text();
                turn.step_cells.clear();
            }
        }
        TaskUpdate::Text { text } => say(state, task, &clean(&text)),
        TaskUpdate::TextReplaced { text } => replace_words(state, task, &clean(&text)),
        TaskUpdate::Reasoning { text } => reason(state, task, &clean(&text)),
        TaskUpdate::ToolCall { call, tool, summary, .. } => {
            state.transcript.push(CellKind::Tool(ToolCell::new(&call, &tool, &summary)));
            if let Some(turn) = turn(state, task) {
                turn.end_text();
                turn.n_calls += 1;
            }
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
            state.approvals.push_back(ApprovalDialog::new(&request, task));
        }
        TaskUpdate::Decided { approval, answer, by } => decide(state, &approval, &answer, by),
        TaskUpdate::Checklist { items } => {
            let clean =
                |item: ChecklistItem| ChecklistItem { label: clean_line(&item.label), ..item };
            state.plan = items.into_iter().take(MAX_PLAN).map(clean).collect();
        }
        TaskUpdate::Memory { recalled } => add_recalled(&mut state.recalled, &recalled),
        TaskUpdate::Skill { skill } => state.note(Role::Faint, &format!("Skill: {skill}")),
        TaskUpdate::Steered { text } => add_steering(state, task, &text),
        TaskUpdate::Notice { text } => state.note(Role::Faint, &text),
        TaskUpdate::Usage(usage) => state.usage.turn = usage,
        // `end` handles the last message of a task.
        TaskUpdate::Completed(_) | TaskUpdate::Failed { .. } | TaskUpdate::Cancelled { .. } => {}
    }
}

fn turn<'s>(state: &'s mut ScreenState, task: &str) -> Option<&'s mut RunningTurn> {
    state.turn.as_mut().filter(|turn| turn.task == task)
}

fn prompts_of<'s>(
    state: &'s mut ScreenState,
    task: &'s str,
) -> impl Iterator<Item = &'s mut Prompt> {
    state.prompts.iter_mut().filter(move |prompt| prompt.task.as_deref() == Some(task))
}

fn accept(state: &mut ScreenState, task: &str, text: &str) {
    if prompts_of(state, task).next().is_some() {
        return;
    }
    let is_sent = |prompt: &Prompt| prompt.task.is_none() && prompt.text == text;
    if let Some(idx) = state.prompts.iter().position(is_sent) {
        return adopt(state, idx, task);
    }
    state.prompts.push(Prompt {
        task: Some(task.to_owned()),
        text: text.to_owned(),
        ..Prompt::default()
    });
}

/// Assigns a task to its prompt. If the prompt was withdrawn, the task is aborted.
pub(super) fn adopt(state: &mut ScreenState, idx: usize, task: &str) {
    let Some(prompt) = state.prompts.get_mut(idx) else { return };
    prompt.task = Some(task.to_owned());
    if prompt.is_withdrawn {
        let task = task.to_owned();
        state.send(RpcCall::ChatAbort(TaskRef { task }), Purpose::Abort);
    }
}

fn run(state: &mut ScreenState, task: &str, model: &str) {
    if let Some(idx) = state.prompts.iter().position(|it| it.task.as_deref() == Some(task)) {
        sending::show_prompt(state, idx);
    }
    state.turn = Some(RunningTurn::new(task, &clean_line(model), state.now));
    state.usage.turn = TurnUsage { input: 0, output: 0, cost_usd: None, ..state.usage.turn };
    if let Some(session) = &mut state.session {
        session.running = Some(task.to_owned());
    }
}

fn say(state: &mut ScreenState, task: &str, text: &str) {
    if text.is_empty() {
        return;
    }
    let words = turn(state, task).and_then(|turn| turn.words);
    let id = match words {
        Some(id) => state.transcript.extend_words(id, text),
        None => {
            let text = bound_text(text.trim_start_matches('\n'));
            state.transcript.push(CellKind::Assistant { text, is_interrupted: false })
        }
    };
    if let Some(turn) = turn(state, task).filter(|_| words != Some(id)) {
        turn.words = Some(id);
        turn.step_cells.push(id);
        turn.reasoning = None;
    }
}

fn replace_words(state: &mut ScreenState, task: &str, text: &str) {
    let cells = turn(state, task).map(|turn| {
        turn.words = None;
        std::mem::take(&mut turn.step_cells)
    });
    for id in cells.into_iter().flatten() {
        state.transcript.remove(id);
    }
    say(state, task, text);
}

fn reason(state: &mut ScreenState, task: &str, text: &str) {
    let known = turn(state, task).and_then(|turn| turn.reasoning);
    if known.is_some_and(|id| state.transcript.extend_reasoning(id, text)) {
        return;
    }
    let id = state.transcript.push(CellKind::Reasoning { text: bound_text(text) });
    if let Some(turn) = turn(state, task) {
        turn.reasoning = Some(id);
    }
}

fn decide(state: &mut ScreenState, approval: &str, answer: &ApprovalAnswer, by: AnsweredBy) {
    state.approvals.retain(|question| question.request.approval != approval);
    match (by, answer) {
        (AnsweredBy::Timeout, _) => {
            state.note(Role::Warning, "Not allowed: the request timed out");
        }
        (AnsweredBy::Nobody, _) => {
            state.note(Role::Warning, "Not allowed: no user was available");
        }
        (AnsweredBy::Person, ApprovalAnswer::Deny { reason }) if !reason.is_empty() => {
            state.note(Role::Warning, &format!("You did not allow it: {reason}"));
        }
        (AnsweredBy::Person, _) => {}
    }
}

fn add_steering(state: &mut ScreenState, task: &str, text: &str) {
    let kind = CellKind::User {
        text: clean(&bound_text(text)),
        attachments: Vec::new(),
        is_steering: true,
    };
    state.transcript.push(kind);
    turn(state, task).map(RunningTurn::end_text);
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "only the last update of a task is handled here"
)]
fn end(state: &mut ScreenState, task: &str, update: TaskUpdate) {
    let turn = state.turn.take_if(|turn| turn.task == task);
    let has_run = turn.is_some();
    state.prompts.retain(|prompt| prompt.task.as_deref() != Some(task));
    state.approvals.retain(|question| question.task != task);
    if let Some(session) = state.session.as_mut().filter(|_| has_run) {
        session.running = None;
    }
    match update {
        TaskUpdate::Completed(end) => {
            state.usage.end_turn(end.usage);
            let (tone, text) = end_note(&end, turn.as_ref(), state.now);
            state.note(tone, &text);
        }
        TaskUpdate::Failed { error, usage } => {
            state.usage.end_turn(usage);
            close_calls(state);
            state.note(Role::Bad, &failure_text(&error));
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
                close_calls(state);
                state.note(Role::Warning, "Stopped.");
            }
        }
        _ => {}
    }
}

fn close_calls(state: &mut ScreenState) {
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

fn end_note(end: &TaskEnd, turn: Option<&RunningTurn>, now: u64) -> (Role, String) {
    let (tone, word) = match end.signal.as_str() {
        "no_op" => (Role::Faint, "Nothing to do"),
        "blocked" => (Role::Warning, "Blocked"),
        _ => (Role::Faint, "Done"),
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
    let (input, output) = (group_digits(end.usage.input), group_digits(end.usage.output));
    parts.push(format!("{input} in, {output} out"));
    parts.extend(end.usage.cost_usd.map(dollars));
    let line = parts.join(" · ");
    match &end.reason {
        Some(reason) if !reason.is_empty() => (tone, format!("{line}\n{reason}")),
        Some(_) | None => (tone, line),
    }
}
