//! Keys inside the transcript, and what moves it.

use nacre_api::wire::{RpcCall, SessionItemsRequest};

use crate::tui::keys::Action;
use crate::tui::state::Scroll;
use crate::tui::state::State;
use crate::tui::state::cell::{Cell, CellId, Tone};
use crate::tui::state::requests::Purpose;

/// Items that are fetched at once when the person reads further up.
const EARLIER_ITEMS: u64 = 200;

/// Selects the last call that can be unfolded.
pub(super) fn begin(state: &mut State) {
    let last = state.transcript.cells().rev().find(|cell| cell.kind.can_fold());
    match last.map(|cell| cell.id) {
        Some(id) => {
            state.completion = None;
            select(state, id);
        }
        None => state.flash(Tone::Faint, "There is nothing to unfold yet"),
    }
}

fn select(state: &mut State, id: CellId) {
    state.browsed = Some(id);
    state.transcript.reveal(id);
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a place has only its own keys")]
pub(super) fn act(state: &mut State, action: Action) {
    let page = state.transcript.height().saturating_sub(2).max(1);
    match action {
        Action::Up => step(state, true),
        Action::Down => step(state, false),
        Action::Fold => {
            if let Some(id) = state.browsed {
                state.transcript.toggle(id);
                state.transcript.reveal(id);
            }
        }
        Action::UnfoldAll => set_all_open(state, true),
        Action::FoldAll => set_all_open(state, false),
        Action::PageUp => scroll_up(state, page),
        Action::PageDown => state.transcript.scroll_down(page),
        Action::ScrollUp => scroll_up(state, 1),
        Action::ScrollDown => state.transcript.scroll_down(1),
        Action::Top => scroll_up(state, usize::MAX / 2),
        Action::Bottom => follow(state),
        Action::Close => {
            state.browsed = None;
            follow(state);
        }
        _ => {}
    }
}

fn set_all_open(state: &mut State, is_open: bool) {
    state.transcript.set_all_open(is_open);
    if let Some(id) = state.browsed {
        state.transcript.reveal(id);
    }
}

/// Selects the call before or after.
fn step(state: &mut State, is_up: bool) {
    let Some(current) = state.browsed else { return };
    let can_fold = |cell: &&Cell| cell.kind.can_fold();
    let next = if is_up {
        state.transcript.cells().rev().filter(can_fold).find(|cell| cell.id < current)
    } else {
        state.transcript.cells().filter(can_fold).find(|cell| cell.id > current)
    };
    match next.map(|cell| cell.id) {
        Some(id) => select(state, id),
        None if is_up => scroll_up(state, 1),
        None => state.transcript.scroll_down(1),
    }
}

pub(super) fn follow(state: &mut State) {
    state.transcript.scroll = Scroll::Follow;
}

/// Moves up; at the beginning what was before it is fetched.
pub(super) fn scroll_up(state: &mut State, by: usize) {
    let is_at_top = state.transcript.scroll_up(by);
    let first = state.transcript.first_sequence().filter(|first| *first > 1);
    let (true, Some(first), Some(session)) = (is_at_top, first, state.session_id()) else { return };
    if state.requests.is_open(&Purpose::EarlierItems) {
        return;
    }
    let after = (first - 1).saturating_sub(EARLIER_ITEMS);
    let limit = usize::try_from(first - 1 - after).ok();
    let request = SessionItemsRequest { session, after, limit };
    state.send(RpcCall::SessionItems(request), Purpose::EarlierItems);
}
