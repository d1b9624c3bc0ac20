//! Keys while the agent asks.

use crossterm::event::KeyEvent;
use nacre_api::wire::{ApprovalAnswer, ApprovalAnswerRequest, RpcCall};

use super::composing;
use crate::tui::editor::Editor;
use crate::tui::event::Effect;
use crate::tui::keys::{self, Action, Place};
use crate::tui::state::State;
use crate::tui::state::requests::Purpose;

pub(super) fn press(state: &mut State, key: KeyEvent) {
    let Some(asked) = state.approvals.front() else { return };
    let is_armed = asked.is_armed(state.now, state.last_key);
    let action = keys::action(Place::Approval, key);
    let is_yes = matches!(action, Some(Action::AllowOnce | Action::AllowSession));
    let is_answer = is_yes || matches!(action, Some(Action::Deny | Action::DenyWithReason));
    // Who is in the middle of a word continues to write it.
    let is_typing = keys::typed(key).is_some() && !is_armed;
    match action {
        Some(_) if is_armed && is_yes && !asked.was_end_seen => {}
        Some(action) if !is_typing && (is_armed || !is_answer) => act(state, action),
        Some(_) | None => composing::press(state, key),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a place has only its own keys")]
fn act(state: &mut State, action: Action) {
    let page = usize::from(state.rows / 3).max(1);
    match action {
        Action::AllowOnce => answer(state, ApprovalAnswer::Once),
        Action::AllowSession => answer(state, ApprovalAnswer::Session),
        Action::Deny => answer(state, ApprovalAnswer::Deny { reason: String::new() }),
        Action::DenyWithReason => {
            if let Some(asked) = state.approvals.front_mut() {
                asked.reason = Some(Editor::default());
            }
        }
        Action::ScrollUp => scroll(state, |at| at.saturating_sub(1)),
        Action::ScrollDown => scroll(state, |at| at.saturating_add(1)),
        Action::PageUp => scroll(state, |at| at.saturating_sub(page)),
        Action::PageDown => scroll(state, |at| at.saturating_add(page)),
        Action::Bottom => scroll(state, |_| usize::MAX),
        Action::Stop => composing::escape(state),
        Action::Interrupt => composing::interrupt(state),
        Action::Redraw => state.effects.push(Effect::Redraw),
        _ => {}
    }
}

fn scroll(state: &mut State, to: impl FnOnce(usize) -> usize) {
    if let Some(asked) = state.approvals.front_mut() {
        asked.scroll = to(asked.scroll);
    }
}

fn answer(state: &mut State, answer: ApprovalAnswer) {
    let Some(asked) = state.approvals.pop_front() else { return };
    let request = ApprovalAnswerRequest { approval: asked.approval, answer };
    let call = RpcCall::ApprovalAnswer(request);
    state.send(call, Purpose::Answer);
}

/// Keys while the person writes why not.
pub(super) fn write_reason(state: &mut State, key: KeyEvent) {
    let Some(asked) = state.approvals.front_mut() else { return };
    let Some(reason) = &mut asked.reason else { return };
    match (keys::action(Place::Input, key), keys::typed(key)) {
        (Some(Action::Send), _) => {
            let reason = reason.take().trim().to_owned();
            answer(state, ApprovalAnswer::Deny { reason });
        }
        (Some(Action::Stop), _) => asked.reason = None,
        (Some(Action::Interrupt), _) => composing::interrupt(state),
        (Some(action), _) => {
            reason.edit(action, &[]);
        }
        (None, Some(c)) => {
            reason.insert(c.encode_utf8(&mut [0; 4]));
        }
        (None, None) => {}
    }
}
