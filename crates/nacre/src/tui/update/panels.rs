//! Handles scrolling in the transcript and in the panels over it.

use nacre_types::{FilePatch, RecalledNote, RpcCall, SessionItemsRequest, SessionRequest};

use super::sending;
use crate::tui::event::{Effect, Outside};
use crate::tui::keys::Action;
use crate::tui::state::areas::Areas;
use crate::tui::state::cell::{Cell, CellId};
use crate::tui::state::panel::{ListKind, ListPanel, ListRow, PageBody, PagePanel, Panel};
use crate::tui::state::turn::Purpose;
use crate::tui::state::{ScreenState, Scroll};
use crate::tui::text::{clean_line, count};
use crate::tui::theme::Role;

const EARLIER_ITEMS: u64 = 200;

pub(super) fn browse(state: &mut ScreenState) {
    let last = state.transcript.cells().rev().find(|cell| cell.kind.can_fold());
    match last.map(|cell| cell.id) {
        Some(id) => {
            state.completion = None;
            select(state, id);
        }
        None => state.flash(Role::Faint, "No tool calls to expand yet"),
    }
}

fn select(state: &mut ScreenState, id: CellId) {
    state.browsed = Some(id);
    state.transcript.reveal(id);
}

#[expect(clippy::wildcard_enum_match_arm, reason = "each context has only its own keys")]
pub(super) fn act_browsing(state: &mut ScreenState, action: Action) {
    match action {
        Action::Up => select_next(state, true),
        Action::Down => select_next(state, false),
        Action::Fold => {
            if let Some(id) = state.browsed {
                state.transcript.toggle(id);
                state.transcript.reveal(id);
            }
        }
        Action::UnfoldAll => set_all_open(state, true),
        Action::FoldAll => set_all_open(state, false),
        Action::Close => {
            state.browsed = None;
            follow(state);
        }
        action => scroll(state, action),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "other keys do not scroll")]
pub(super) fn scroll(state: &mut ScreenState, action: Action) {
    let page = state.transcript.height.saturating_sub(2).max(1);
    match action {
        Action::PageUp => scroll_up(state, page),
        Action::PageDown => state.transcript.scroll_down(page),
        Action::ScrollUp => scroll_up(state, 1),
        Action::ScrollDown => state.transcript.scroll_down(1),
        Action::Top => scroll_up(state, usize::MAX / 2),
        Action::Bottom => follow(state),
        _ => {}
    }
}

fn set_all_open(state: &mut ScreenState, is_open: bool) {
    state.transcript.set_all_open(is_open);
    if let Some(id) = state.browsed {
        state.transcript.reveal(id);
    }
}

fn select_next(state: &mut ScreenState, is_up: bool) {
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

pub(super) fn follow(state: &mut ScreenState) {
    state.transcript.scroll = Scroll::Follow;
}

fn scroll_up(state: &mut ScreenState, by: usize) {
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

#[expect(clippy::wildcard_enum_match_arm, reason = "each context has only its own keys")]
pub(super) fn act(state: &mut ScreenState, action: Action) {
    let page = Areas::of(state).panel_rows().saturating_sub(1).max(1);
    match (&mut state.panel, action) {
        (_, Action::Close) => state.panel = None,
        (Some(Panel::List(list)), action) => {
            let rows = isize::try_from(page).unwrap_or(1);
            match action {
                Action::Up => list.select(-1),
                Action::Down => list.select(1),
                Action::PageUp => list.select(-rows),
                Action::PageDown => list.select(rows),
                Action::Choose => choose(state),
                Action::Edit => {
                    if let Some((ListKind::Memories, id)) = find_selected_id(state) {
                        state.effects.push(Effect::Outside(Outside::EditMemory { id }));
                    }
                }
                _ => {}
            }
        }
        (Some(Panel::Page(text)), action) => {
            text.scroll = scroll_position(text.scroll, action, page);
        }
        (None, _) => {}
    }
}

/// Returns the new top visible line. It is limited to the text's length when drawn.
#[expect(clippy::wildcard_enum_match_arm, reason = "other keys do not scroll")]
pub(super) fn scroll_position(at: usize, action: Action, page: usize) -> usize {
    match action {
        Action::ScrollUp => at.saturating_sub(1),
        Action::ScrollDown => at.saturating_add(1),
        Action::PageUp => at.saturating_sub(page),
        Action::PageDown => at.saturating_add(page),
        Action::Top => 0,
        Action::Bottom => usize::MAX,
        _ => at,
    }
}

fn find_selected_id(state: &ScreenState) -> Option<(ListKind, String)> {
    match &state.panel {
        Some(Panel::List(list)) => {
            list.rows.get(list.selected).map(|row| (list.kind, row.id.clone()))
        }
        Some(Panel::Page(_)) | None => None,
    }
}

fn choose(state: &mut ScreenState) {
    let Some((kind, id)) = find_selected_id(state) else { return };
    match kind {
        ListKind::Sessions | ListKind::Hits => {
            state.panel = None;
            let request = SessionRequest { session: Some(id), workspace: None };
            state.send(RpcCall::SessionGet(request), Purpose::Open);
        }
        ListKind::Memories => state.effects.push(Effect::Outside(Outside::OpenMemory { id })),
        ListKind::Skills => {
            state.panel = None;
            state.editor.set(&format!("/{id} "));
        }
    }
}

pub(super) fn open_list(
    state: &mut ScreenState,
    kind: ListKind,
    title: String,
    rows: Vec<ListRow>,
) {
    let empty = match kind {
        ListKind::Sessions => "No sessions in this directory yet.",
        ListKind::Hits => "Nothing was found.",
        ListKind::Memories => {
            "Apart from its briefing, the agent has not received any memories yet."
        }
        ListKind::Skills => "No skills found.",
    };
    state.completion = None;
    state.panel = Some(Panel::List(ListPanel { kind, title, rows, selected: 0, first: 0, empty }));
}

pub(super) fn open_page(state: &mut ScreenState, title: &str, body: PageBody) {
    state.completion = None;
    state.panel = Some(Panel::Page(PagePanel::new(title, body)));
}

pub(super) fn open_help(state: &mut ScreenState) {
    open_page(state, "Keys and commands", PageBody::Help);
}

pub(super) fn open_memories(state: &mut ScreenState) {
    let row = |note: &RecalledNote| ListRow {
        id: note.id.clone(),
        text: note.title.clone(),
        detail: clean_line(&note.id),
    };
    let rows: Vec<ListRow> = state.recalled.iter().map(row).collect();
    let title = format!("Memories in this session: {}", rows.len());
    open_list(state, ListKind::Memories, title, rows);
}

pub(super) fn open_diff(state: &mut ScreenState, is_whole_session: bool) {
    let patches: Vec<FilePatch> = state.transcript.patches(is_whole_session);
    let of = if is_whole_session { "this session" } else { "the last turn" };
    if patches.is_empty() {
        state.flash(Role::Faint, &format!("No file changes in {of}"));
        return;
    }
    let title = format!("Changes in {of}: {}", count(patches.len(), "change"));
    open_page(state, &title, PageBody::Patches(patches));
}

pub(super) fn start_skill(state: &mut ScreenState, name: &str, words: &str) -> bool {
    if !state.skills.iter().any(|skill| skill.name == name) {
        return false;
    }
    sending::send_prompt(state, words, Some(name.to_owned()));
    follow(state);
    true
}
