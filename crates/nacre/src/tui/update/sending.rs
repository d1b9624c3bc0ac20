//! Sends prompts, either as a new turn or to the running turn.

use nacre_types::{Attachment, ChatStartRequest, ChatSteerRequest, RpcCall, TaskRef};

use crate::tui::state::cell::{CellKind, bound_text, labels};
use crate::tui::state::turn::{Prompt, Purpose};
use crate::tui::state::{ScreenState, Scroll};
use crate::tui::text::clean;
use crate::tui::theme::Role;

/// Sends the input as the next turn, which the server queues if a turn is running.
pub(super) fn start(state: &mut ScreenState, skill: Option<String>) {
    let text = state.editor.text().trim().to_owned();
    send_prompt(state, &text, skill);
}

pub(super) fn send_prompt(state: &mut ScreenState, text: &str, skill: Option<String>) {
    let Some(session) = state.session_id() else {
        let hint = if state.is_closed {
            "The connection to the agent was lost"
        } else {
            "The session is still being opened"
        };
        state.flash(Role::Warning, hint);
        return;
    };
    if state.is_closed {
        state.flash(Role::Bad, "The connection to the agent was lost; `/quit` quits");
        return;
    }
    let attachments = attachments(state, text);
    let request = ChatStartRequest {
        session,
        text: text.to_owned(),
        attachments: attachments.clone(),
        policy: None,
        skill,
    };
    state.send(RpcCall::ChatStart(request), Purpose::Start);
    let is_first = state.turn.is_none() && state.prompts.is_empty();
    state.prompts.push(Prompt {
        request: Some(state.requests.last),
        task: None,
        text: text.to_owned(),
        attachments,
        ..Prompt::default()
    });
    if is_first {
        let last = state.prompts.len() - 1;
        show_prompt(state, last);
    }
    state.history.push(text);
    state.editor.take();
    state.pasted.clear();
    state.completion = None;
    state.transcript.scroll = Scroll::Follow;
}

pub(super) fn show_prompt(state: &mut ScreenState, idx: usize) {
    let Some(prompt) = state.prompts.get_mut(idx).filter(|prompt| !prompt.is_shown) else { return };
    prompt.is_shown = true;
    let kind = CellKind::User {
        text: clean(&bound_text(&prompt.text)),
        attachments: labels(&prompt.text, &prompt.attachments),
        is_steering: false,
    };
    state.transcript.push(kind);
}

/// Returns the pastes whose labels are still in the text, and the files mentioned with `@`.
fn attachments(state: &ScreenState, text: &str) -> Vec<Attachment> {
    let pasted = state.pasted.iter().filter(|it| text.contains(&it.mark));
    let mut attachments: Vec<Attachment> = pasted.map(|it| it.attachment.clone()).collect();
    for word in text.split_whitespace().filter_map(|word| word.strip_prefix('@')) {
        let path = word.trim_end_matches([',', '.', ';', ':', ')', '?', '!']);
        let file = Attachment::File { path: path.to_owned() };
        let is_file = state.files.iter().any(|known| known == path);
        if is_file && !attachments.contains(&file) {
            attachments.push(file);
        }
    }
    attachments
}

/// Sends the input to the running turn, or as a new turn if none is running.
pub(super) fn steer(state: &mut ScreenState) {
    let text = state.editor.text().trim().to_owned();
    if text.is_empty() {
        return;
    }
    let Some(turn) = &state.turn else { return start(state, None) };
    let request = ChatSteerRequest { task: turn.task.clone(), text: text.clone() };
    state.send(RpcCall::ChatSteer(request), Purpose::Steer { text: text.clone() });
    state.history.push(&text);
    state.editor.take();
    state.pasted.clear();
    state.completion = None;
    state.flash(Role::Faint, "Sent: the agent receives it with its next step");
}

pub(super) fn stop(state: &mut ScreenState) -> bool {
    let Some(turn) = state.turn.as_mut().filter(|turn| !turn.is_stopping) else { return false };
    turn.is_stopping = true;
    let task = turn.task.clone();
    state.send(RpcCall::ChatAbort(TaskRef { task }), Purpose::Abort);
    true
}

pub(super) fn take_back(state: &mut ScreenState) {
    let Some(idx) = state.prompts.iter().rposition(Prompt::is_waiting) else {
        state.flash(Role::Faint, "Nothing is queued");
        return;
    };
    withdraw(state, idx);
}

/// Moves all queued prompts back into the input. Returns `false` if there are none.
pub(super) fn take_back_all(state: &mut ScreenState) -> bool {
    let mut has_any = false;
    while let Some(idx) = state.prompts.iter().rposition(Prompt::is_waiting) {
        withdraw(state, idx);
        has_any = true;
    }
    has_any
}

fn withdraw(state: &mut ScreenState, idx: usize) {
    let prompt = &mut state.prompts[idx];
    prompt.is_withdrawn = true;
    let (text, task) = (prompt.text.clone(), prompt.task.clone());
    let written = state.editor.take();
    let joined = if written.is_empty() { text } else { format!("{text}\n\n{written}") };
    state.editor.set(&joined);
    // If the task's id is not known yet, `adopt` will abort the task once it is.
    if let Some(task) = task {
        state.send(RpcCall::ChatAbort(TaskRef { task }), Purpose::Abort);
    }
}
