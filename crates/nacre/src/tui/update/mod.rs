//! What an event does to the state. Nothing here reads a clock, writes to a terminal or waits: what is to be done is an effect.

mod answers;
mod approving;
mod browsing;
mod commanding;
mod composing;
mod messages;
mod panels;
mod sending;
mod sessions;

use crossterm::event::{KeyEvent, KeyEventKind};
use nacre_api::wire::{HelloRequest, RPC_VERSION, RpcCall, RpcMessage};

use super::completion;
use super::event::{Effect, Event, Told};
use super::keys::{self, Place};
use super::state::State;
use super::state::cell::Tone;
use super::state::panel::PageBody;
use super::state::requests::Purpose;
use super::text::{clean, clean_line};

/// What is sent when the screen is opened.
pub(crate) fn open(state: &mut State) -> Vec<Effect> {
    let hello = HelloRequest { version: RPC_VERSION, client: "nacre chat".to_owned() };
    state.send(RpcCall::Hello(hello), Purpose::Hello);
    std::mem::take(&mut state.effects)
}

/// Takes in what happened at `now`, in milliseconds since the screen was opened.
pub(crate) fn update(state: &mut State, now: u64, event: Event) -> Vec<Effect> {
    state.set_now(now);
    match event {
        Event::Key(key) => press(state, key),
        Event::Paste(text) => paste(state, &text),
        Event::Resize { columns, rows } => {
            state.columns = columns;
            state.rows = rows;
        }
        // A line that was closed stays closed.
        Event::Message(_) if state.is_closed => {}
        Event::Message(message) => match *message {
            RpcMessage::Task(message) => messages::take(state, message),
            RpcMessage::Answer(answer) => answers::take(state, answer),
        },
        Event::Closed => close(state),
        Event::Files(files) => take_files(state, files),
        Event::Outside(Ok(Told::Note(text))) if text.is_empty() => {}
        Event::Outside(Ok(Told::Note(text))) => state.note(Tone::Faint, &text),
        Event::Outside(Ok(Told::Page { title, text })) => {
            panels::open_page(state, &clean_line(&title), PageBody::Text(clean(&text)));
        }
        Event::Outside(Err(text)) => state.note(Tone::Bad, &text),
        Event::Tick => {}
    }
    std::mem::take(&mut state.effects)
}

fn press(state: &mut State, key: KeyEvent) {
    if key.kind == KeyEventKind::Release {
        return;
    }
    let place = state.place();
    match place {
        Place::Approval => approving::press(state, key),
        Place::Input if is_denying(state) => approving::write_reason(state, key),
        Place::Input => composing::press(state, key),
        Place::Browse | Place::List | Place::Page => {
            if let Some(action) = keys::action(place, key) {
                match place {
                    Place::Browse => browsing::act(state, action),
                    Place::List | Place::Page | Place::Input | Place::Approval => {
                        panels::act(state, action);
                    }
                }
            }
        }
    }
    state.last_key = Some(state.now);
}

/// Whether the person writes why something is not allowed.
fn is_denying(state: &State) -> bool {
    state.approvals.front().is_some_and(|asked| asked.reason.is_some())
}

fn paste(state: &mut State, text: &str) {
    match state.approvals.front_mut().and_then(|asked| asked.reason.as_mut()) {
        Some(reason) => {
            reason.insert(text);
        }
        None => composing::paste(state, text),
    }
}

fn take_files(state: &mut State, files: Vec<String>) {
    let is_shown = |path: &String| clean(path) == *path && !path.contains(char::is_whitespace);
    state.files = files.into_iter().filter(is_shown).take(completion::MAX_FILES).collect();
}

fn close(state: &mut State) {
    if state.is_closed {
        return;
    }
    state.is_closed = true;
    state.turn = None;
    state.approvals.clear();
    let mut text = "The agent is gone: its end of the line was closed.".to_owned();
    if let Some(session) = state.session_id() {
        let session = clean_line(&session);
        text.push_str(&format!(
            " The session is kept; go on with it: nacre chat --resume {session}"
        ));
    }
    state.note(Tone::Bad, &text);
}
