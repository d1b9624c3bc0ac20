//! Words to the agent: at once, queued, or into the turn that runs.

use nacre_api::wire::{Attachment, ChatAbortRequest, ChatStartRequest, ChatSteerRequest, RpcCall};

use crate::tui::state::State;
use crate::tui::state::cell::{CellKind, Tone, bounded};
use crate::tui::state::prompt::{Prompt, labels};
use crate::tui::state::requests::Purpose;
use crate::tui::text::clean;

/// Sends what was written, as the next turn. The server queues it where one runs.
pub(super) fn start(state: &mut State, skill: Option<String>) {
    let text = state.editor.text().trim().to_owned();
    send_prompt(state, &text, skill);
}

/// Sends a text as the next turn.
pub(super) fn send_prompt(state: &mut State, text: &str, skill: Option<String>) {
    let Some(session) = state.session_id() else {
        let hint =
            if state.is_closed { "The agent is gone" } else { "The session is being opened" };
        state.flash(Tone::Warning, hint);
        return;
    };
    if state.is_closed {
        state.flash(Tone::Bad, "The agent is gone; `/quit` leaves");
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
        request: Some(state.requests.last()),
        task: None,
        text: text.to_owned(),
        attachments,
        position: None,
        is_shown: false,
        is_withdrawn: false,
    });
    if is_first {
        let last = state.prompts.len() - 1;
        show_prompt(state, last);
    }
    state.history.push(text);
    state.editor.take();
    state.pasted.clear();
    state.completion = None;
    super::browsing::follow(state);
}

/// Puts the words of a prompt into the transcript, once.
pub(super) fn show_prompt(state: &mut State, idx: usize) {
    let Some(prompt) = state.prompts.get_mut(idx).filter(|prompt| !prompt.is_shown) else { return };
    prompt.is_shown = true;
    let kind = CellKind::User {
        text: bounded(&clean(&prompt.text)),
        attachments: labels(&prompt.text, &prompt.attachments),
        is_steering: false,
    };
    state.transcript.push(kind);
}

/// Pasted things whose mark is still in the text, and files that it names.
fn attachments(state: &State, text: &str) -> Vec<Attachment> {
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

/// Tells the turn that runs at once; without one it is an ordinary prompt.
pub(super) fn steer(state: &mut State) {
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
    state.flash(Tone::Faint, "Sent: it is taken up with the next step");
}

/// Stops the turn that runs. Whether there was one to stop.
pub(super) fn stop(state: &mut State) -> bool {
    let Some(turn) = state.turn.as_mut().filter(|turn| !turn.is_stopping) else { return false };
    turn.is_stopping = true;
    let task = turn.task.clone();
    state.send(RpcCall::ChatAbort(ChatAbortRequest { task }), Purpose::Abort);
    true
}

/// Takes the last queued prompt back into the input.
pub(super) fn take_back(state: &mut State) {
    let Some(idx) = state.prompts.iter().rposition(Prompt::is_waiting) else {
        state.flash(Tone::Faint, "Nothing is queued");
        return;
    };
    withdraw(state, idx);
}

/// Takes all queued prompts back into the input. Whether there were any.
pub(super) fn take_back_all(state: &mut State) -> bool {
    let mut has_any = false;
    while let Some(idx) = state.prompts.iter().rposition(Prompt::is_waiting) {
        withdraw(state, idx);
        has_any = true;
    }
    has_any
}

fn withdraw(state: &mut State, idx: usize) {
    let prompt = &mut state.prompts[idx];
    prompt.is_withdrawn = true;
    let (text, task) = (prompt.text.clone(), prompt.task.clone());
    let written = state.editor.take();
    let joined = if written.is_empty() { text } else { format!("{text}\n\n{written}") };
    state.editor.set(&joined);
    // One whose task is not known yet is stopped when it is.
    if let Some(task) = task {
        state.send(RpcCall::ChatAbort(ChatAbortRequest { task }), Purpose::Abort);
    }
}
