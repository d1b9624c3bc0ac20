//! Applies events to the state. Side effects are returned rather than executed, so the tests need
//! no clock or terminal.

mod commanding;
mod composing;
mod messages;
mod panels;
mod sending;
mod sessions;

use crossterm::event::{KeyEvent, KeyEventKind};
use nacre_types::{HelloRequest, RPC_VERSION, RpcCall, RpcMessage};

use super::commands::MAX_FILES;
use super::event::{Effect, OutsideResult, ScreenEvent};
use super::keys::{self, KeyContext};
use super::state::ScreenState;
use super::state::panel::PageBody;
use super::state::turn::Purpose;
use super::text::{clean, clean_line, failure_text};
use super::theme::Role;

pub(crate) fn open(state: &mut ScreenState) -> Vec<Effect> {
    let hello = HelloRequest { version: RPC_VERSION, client: "nacre chat".to_owned() };
    state.send(RpcCall::Hello(hello), Purpose::Hello);
    std::mem::take(&mut state.effects)
}

/// Applies an event at `now`, in milliseconds since the screen was opened.
pub(crate) fn update(state: &mut ScreenState, now: u64, event: ScreenEvent) -> Vec<Effect> {
    state.now = state.now.max(now);
    state.flash.take_if(|flash| flash.until <= state.now);
    match event {
        ScreenEvent::Key(key) => press(state, key),
        ScreenEvent::Paste(text) => paste(state, &text),
        ScreenEvent::Resize { columns, rows } => {
            state.columns = columns;
            state.rows = rows;
        }
        // Ignore messages that arrive after the connection was closed.
        ScreenEvent::Message(_) if state.is_closed => {}
        ScreenEvent::Message(message) => match *message {
            RpcMessage::Task(message) => messages::take(state, message),
            RpcMessage::Answer(answer) => sessions::take_answer(state, answer),
        },
        ScreenEvent::Closed => close(state),
        ScreenEvent::Files(mut files) => {
            files.retain(|path| clean(path) == *path && !path.contains(char::is_whitespace));
            files.truncate(MAX_FILES);
            state.files = files;
        }
        ScreenEvent::Outside(Ok(OutsideResult::Note(text))) if text.is_empty() => {}
        ScreenEvent::Outside(Ok(OutsideResult::Note(text))) => state.note(Role::Faint, &text),
        ScreenEvent::Outside(Ok(OutsideResult::Page { title, text })) => {
            panels::open_page(state, &clean_line(&title), PageBody::Text(clean(&text)));
        }
        ScreenEvent::Outside(Err(error)) => state.note(Role::Bad, &failure_text(&error)),
        ScreenEvent::Tick => {}
    }
    std::mem::take(&mut state.effects)
}

fn press(state: &mut ScreenState, key: KeyEvent) {
    if key.kind == KeyEventKind::Release {
        return;
    }
    let place = state.place();
    match place {
        KeyContext::Approval => composing::press_approval(state, key),
        KeyContext::Input => match state.approvals.front() {
            Some(question) if question.reason.is_some() => composing::write_reason(state, key),
            Some(_) | None => composing::press(state, key),
        },
        KeyContext::Browse => {
            if let Some(action) = keys::action(place, key) {
                panels::act_browsing(state, action);
            }
        }
        KeyContext::List | KeyContext::Page => {
            if let Some(action) = keys::action(place, key) {
                panels::act(state, action);
            }
        }
    }
    state.last_key = Some(state.now);
}

fn paste(state: &mut ScreenState, text: &str) {
    match state.approvals.front_mut().and_then(|question| question.reason.as_mut()) {
        Some(reason) => {
            reason.insert(text);
        }
        None => composing::paste(state, text),
    }
}

fn close(state: &mut ScreenState) {
    if state.is_closed {
        return;
    }
    state.is_closed = true;
    state.turn = None;
    state.approvals.clear();
    let mut text = "The connection to the agent was lost.".to_owned();
    if let Some(session) = state.session_id() {
        let session = clean_line(&session);
        text.push_str(&format!(
            " The session is saved; continue it: nacre chat --resume {session}"
        ));
    }
    state.note(Role::Bad, &text);
}
