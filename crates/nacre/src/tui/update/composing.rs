//! Handles keys in the input and in the agent's questions.

use crossterm::event::KeyEvent;
use nacre_types::{ApprovalAnswer, ApprovalAnswerRequest, RpcCall};

use super::{commanding, panels, sending};
use crate::tui::commands;
use crate::tui::editor::Editor;
use crate::tui::event::Effect;
use crate::tui::input;
use crate::tui::keys::{self, Action, KeyContext};
use crate::tui::state::ScreenState;
use crate::tui::state::areas::input_columns;
use crate::tui::state::turn::Purpose;
use crate::tui::theme::Role;

/// A key pressed again within this time counts as a double press.
const TWICE_MS: u64 = 1_500;

pub(super) fn press(state: &mut ScreenState, key: KeyEvent) {
    let Some(action) = keys::action(KeyContext::Input, key) else {
        if let Some(c) = keys::to_typed_char(key) {
            type_text(state, c.encode_utf8(&mut [0; 4]));
        }
        return;
    };
    let marks: Vec<String> = state.pasted.iter().map(|it| it.mark.clone()).collect();
    if state.editor.edit(action, &marks) {
        update_completion(state);
    } else {
        act(state, action);
    }
}

pub(super) fn type_text(state: &mut ScreenState, text: &str) {
    if !state.editor.insert(text) {
        state.flash(Role::Warning, "The input is full");
    }
    update_completion(state);
}

pub(super) fn paste(state: &mut ScreenState, text: &str) {
    // Pasted text always goes into the input, so any open panel is closed.
    state.panel = None;
    state.browsed = None;
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    match input::attach_paste(&text, state.n_pasted + 1) {
        None => type_text(state, &text),
        Some(pasted) => {
            state.n_pasted += 1;
            let mark = format!("{} ", pasted.mark);
            state.pasted.push(pasted);
            type_text(state, &mark);
        }
    }
    state.last_key = Some(state.now);
}

fn update_completion(state: &mut ScreenState) {
    state.history.leave();
    state.completion = commands::complete(state.editor.text(), state.editor.cursor(), &state.files);
}

#[expect(clippy::wildcard_enum_match_arm, reason = "each context has only its own keys")]
fn act(state: &mut ScreenState, action: Action) {
    match action {
        Action::Send => submit(state),
        Action::Steer => sending::steer(state),
        Action::Stop => escape(state),
        Action::Interrupt => interrupt(state),
        Action::LeaveIfEmpty if state.editor.is_empty() => state.effects.push(Effect::Quit),
        Action::Up => up(state),
        Action::Down => down(state),
        Action::Complete => complete(state),
        Action::TakeBack => sending::take_back(state),
        Action::Browse => panels::browse(state),
        Action::Plan => {
            if state.plan.is_empty() {
                state.flash(Role::Faint, "The agent has no plan yet");
            }
            state.is_plan_hidden = !state.is_plan_hidden;
        }
        Action::Memory => panels::open_memories(state),
        Action::Help => panels::open_help(state),
        Action::Redraw => state.effects.push(Effect::Redraw),
        action => panels::scroll(state, action),
    }
}

fn submit(state: &mut ScreenState) {
    // Enter accepts a completion and, if it is a command, runs it.
    let is_command = state.editor.text().starts_with('/') && !state.editor.text().contains(' ');
    if state.completion.is_some() {
        accept(state);
        if !is_command {
            return;
        }
    }
    state.completion = None;
    let text = state.editor.text().trim().to_owned();
    if text.is_empty() {
        return;
    }
    if text.starts_with('/') && commanding::run(state, &text) {
        state.history.push(&text);
        state.editor.take();
        return;
    }
    if !text.starts_with('/') {
        sending::start(state, None);
    }
}

fn accept(state: &mut ScreenState) {
    let Some(completion) = state.completion.take() else { return };
    if let Some(choice) = completion.selection() {
        state.editor.replace(completion.range.clone(), &choice.text);
    }
    update_completion(state);
}

fn complete(state: &mut ScreenState) {
    if state.completion.is_some() {
        accept(state);
    } else {
        update_completion(state);
    }
}

fn up(state: &mut ScreenState) {
    if let Some(completion) = &mut state.completion {
        return completion.select_previous();
    }
    if state.editor.up(input_columns(state)) {
        return;
    }
    if let Some(text) = state.history.older(state.editor.text()).map(str::to_owned) {
        state.editor.set(&text);
    }
}

fn down(state: &mut ScreenState) {
    if let Some(completion) = &mut state.completion {
        return completion.select_next();
    }
    if state.editor.down(input_columns(state)) {
        return;
    }
    if let Some(text) = state.history.newer().map(str::to_owned) {
        state.editor.set(&text);
    }
}

/// Stops the running turn. If no turn is running, pressing the key twice moves queued prompts back
/// into the input or, if there are none, clears the input.
pub(super) fn escape(state: &mut ScreenState) {
    if state.completion.take().is_some() {
        return;
    }
    let is_twice = state.last_escape.is_some_and(|last| state.now - last <= TWICE_MS);
    state.last_escape = Some(state.now);
    if sending::stop(state) {
        return;
    }
    if !is_twice {
        if !state.editor.is_empty() {
            state.flash(Role::Faint, "Press Esc again to clear the input");
        }
        return;
    }
    state.last_escape = None;
    if !sending::take_back_all(state) {
        clear(state);
    }
}

fn clear(state: &mut ScreenState) {
    let text = state.editor.take();
    state.history.push(&text);
    state.completion = None;
}

/// Clears the input. A double press exits.
pub(super) fn interrupt(state: &mut ScreenState) {
    let is_twice = state.last_interrupt.is_some_and(|last| state.now - last <= TWICE_MS);
    if is_twice {
        state.effects.push(Effect::Quit);
        return;
    }
    state.last_interrupt = Some(state.now);
    clear(state);
    let hint = match &state.turn {
        Some(_) => "Press Ctrl-C again to quit; Esc stops the agent",
        None => "Ctrl-C again leaves",
    };
    state.flash(Role::Warning, hint);
}

pub(super) fn press_approval(state: &mut ScreenState, key: KeyEvent) {
    let Some(question) = state.approvals.front() else { return };
    let is_armed = question.is_armed(state.now, state.last_key);
    let action = keys::action(KeyContext::Approval, key);
    let is_yes = matches!(action, Some(Action::AllowOnce | Action::AllowSession));
    let is_answer = is_yes || matches!(action, Some(Action::Deny | Action::DenyWithReason));
    // Until the question accepts answers, typed characters go into the input.
    let is_typing = keys::to_typed_char(key).is_some() && !is_armed;
    match action {
        Some(_) if is_armed && is_yes && !question.was_end_seen => {}
        Some(action) if !is_typing && (is_armed || !is_answer) => act_on_question(state, action),
        Some(_) | None => press(state, key),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "each context has only its own keys")]
fn act_on_question(state: &mut ScreenState, action: Action) {
    let page = usize::from(state.rows / 3).max(1);
    match action {
        Action::AllowOnce => answer(state, ApprovalAnswer::Once),
        Action::AllowSession => answer(state, ApprovalAnswer::Session),
        Action::Deny => answer(state, ApprovalAnswer::Deny { reason: String::new() }),
        Action::DenyWithReason => {
            if let Some(question) = state.approvals.front_mut() {
                question.reason = Some(Editor::default());
            }
        }
        Action::Stop => escape(state),
        Action::Interrupt => interrupt(state),
        Action::Redraw => state.effects.push(Effect::Redraw),
        action => {
            if let Some(question) = state.approvals.front_mut() {
                question.scroll = panels::scroll_position(question.scroll, action, page);
            }
        }
    }
}

fn answer(state: &mut ScreenState, answer: ApprovalAnswer) {
    let Some(question) = state.approvals.pop_front() else { return };
    let request = ApprovalAnswerRequest { approval: question.request.approval, answer };
    let call = RpcCall::ApprovalAnswer(request);
    state.send(call, Purpose::Answer);
}

pub(super) fn write_reason(state: &mut ScreenState, key: KeyEvent) {
    let Some(question) = state.approvals.front_mut() else { return };
    let Some(reason) = &mut question.reason else { return };
    match (keys::action(KeyContext::Input, key), keys::to_typed_char(key)) {
        (Some(Action::Send), _) => {
            let reason = reason.take().trim().to_owned();
            answer(state, ApprovalAnswer::Deny { reason });
        }
        (Some(Action::Stop), _) => question.reason = None,
        (Some(Action::Interrupt), _) => interrupt(state),
        (Some(action), _) => {
            reason.edit(action, &[]);
        }
        (None, Some(c)) => {
            reason.insert(c.encode_utf8(&mut [0; 4]));
        }
        (None, None) => {}
    }
}
