//! Keys while the person writes.

use crossterm::event::KeyEvent;

use super::{browsing, commanding, panels, sending};
use crate::tui::completion;
use crate::tui::event::Effect;
use crate::tui::keys::{self, Action, Place};
use crate::tui::paste::{self, Paste};
use crate::tui::state::State;
use crate::tui::state::areas::input_columns;
use crate::tui::state::cell::Tone;

/// Two keys within this time belong together.
const TWICE_MS: u64 = 1_500;

pub(super) fn press(state: &mut State, key: KeyEvent) {
    let Some(action) = keys::action(Place::Input, key) else {
        if let Some(c) = keys::typed(key) {
            type_text(state, c.encode_utf8(&mut [0; 4]));
        }
        return;
    };
    let marks: Vec<String> = state.pasted.iter().map(|it| it.mark.clone()).collect();
    if state.editor.edit(action, &marks) {
        changed(state);
    } else {
        act(state, action);
    }
}

/// Puts a text where the cursor is.
pub(super) fn type_text(state: &mut State, text: &str) {
    if !state.editor.insert(text) {
        state.flash(Tone::Warning, "The input is full");
    }
    changed(state);
}

pub(super) fn paste(state: &mut State, text: &str) {
    // A text that is pasted while a list is open is meant for the input.
    state.panel = None;
    state.browsed = None;
    match paste::read(text, state.n_pasted + 1) {
        Paste::Typed(text) => type_text(state, &text),
        Paste::Attached(pasted) => {
            state.n_pasted += 1;
            let mark = format!("{} ", pasted.mark);
            state.pasted.push(pasted);
            type_text(state, &mark);
        }
    }
    state.last_key = Some(state.now);
}

/// The text changed: so did what completes it.
fn changed(state: &mut State) {
    state.history.leave();
    state.completion =
        completion::complete(state.editor.text(), state.editor.cursor(), &state.files);
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a place has only its own keys")]
fn act(state: &mut State, action: Action) {
    let page = state.transcript.height().saturating_sub(2).max(1);
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
        Action::PageUp => browsing::scroll_up(state, page),
        Action::PageDown => state.transcript.scroll_down(page),
        Action::ScrollUp => browsing::scroll_up(state, 1),
        Action::ScrollDown => state.transcript.scroll_down(1),
        Action::Top => browsing::scroll_up(state, usize::MAX / 2),
        Action::Bottom => browsing::follow(state),
        Action::Browse => browsing::begin(state),
        Action::Plan => toggle_plan(state),
        Action::Memory => panels::open_memories(state),
        Action::Help => panels::open_help(state),
        Action::Redraw => state.effects.push(Effect::Redraw),
        _ => {}
    }
}

fn toggle_plan(state: &mut State) {
    if state.plan.is_empty() {
        state.flash(Tone::Faint, "The agent has no plan yet");
    }
    state.is_plan_hidden = !state.is_plan_hidden;
}

fn submit(state: &mut State) {
    // Enter takes what is chosen; a command is then run.
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

/// Puts the chosen completion into the text.
fn accept(state: &mut State) {
    let Some(completion) = state.completion.take() else { return };
    if let Some(choice) = completion.chosen() {
        state.editor.replace(completion.range.clone(), &choice.text);
    }
    changed(state);
}

/// Puts in what is chosen; where nothing is, looks for what fits.
fn complete(state: &mut State) {
    if state.completion.is_some() {
        accept(state);
    } else {
        changed(state);
    }
}

fn up(state: &mut State) {
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

fn down(state: &mut State) {
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

/// Stops what runs at once; twice it empties the queue and then the input.
pub(super) fn escape(state: &mut State) {
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
            state.flash(Tone::Faint, "Esc again clears the input");
        }
        return;
    }
    state.last_escape = None;
    if !sending::take_back_all(state) {
        clear(state);
    }
}

fn clear(state: &mut State) {
    let text = state.editor.take();
    state.history.push(&text);
    state.completion = None;
}

/// Clears the input; twice it leaves.
pub(super) fn interrupt(state: &mut State) {
    let is_twice = state.last_interrupt.is_some_and(|last| state.now - last <= TWICE_MS);
    if is_twice {
        state.effects.push(Effect::Quit);
        return;
    }
    state.last_interrupt = Some(state.now);
    clear(state);
    let hint = match &state.turn {
        Some(_) => "Ctrl-C again leaves; Esc stops the agent",
        None => "Ctrl-C again leaves",
    };
    state.flash(Tone::Warning, hint);
}
