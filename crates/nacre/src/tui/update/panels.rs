//! Lists and texts over the transcript: opened, moved in, chosen from.

use nacre_api::wire::{FilePatch, RpcCall, SessionRequest};

use super::{browsing, sending};
use crate::tui::event::{Effect, Outside};
use crate::tui::keys::Action;
use crate::tui::state::State;
use crate::tui::state::areas::Areas;
use crate::tui::state::cell::Tone;
use crate::tui::state::panel::{ListKind, ListPanel, ListRow, PageBody, PagePanel, Panel};
use crate::tui::state::requests::Purpose;
use crate::tui::text::count;

#[expect(clippy::wildcard_enum_match_arm, reason = "a place has only its own keys")]
pub(super) fn act(state: &mut State, action: Action) {
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
                Action::Edit => edit(state),
                _ => {}
            }
        }
        (Some(Panel::Page(text)), action) => {
            text.scroll = match action {
                Action::ScrollUp => text.scroll.saturating_sub(1),
                Action::ScrollDown => text.scroll.saturating_add(1),
                Action::PageUp => text.scroll.saturating_sub(page),
                Action::PageDown => text.scroll.saturating_add(page),
                Action::Top => 0,
                Action::Bottom => text.lines.len(),
                _ => text.scroll,
            };
        }
        (None, _) => {}
    }
}

fn chosen(state: &State) -> Option<(ListKind, String)> {
    match &state.panel {
        Some(Panel::List(list)) => list.chosen().map(|row| (list.kind, row.id.clone())),
        Some(Panel::Page(_)) | None => None,
    }
}

fn choose(state: &mut State) {
    let Some((kind, id)) = chosen(state) else { return };
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

fn edit(state: &mut State) {
    if let Some((ListKind::Memories, id)) = chosen(state) {
        state.effects.push(Effect::Outside(Outside::EditMemory { id }));
    }
}

pub(super) fn open_list(state: &mut State, list: ListPanel) {
    state.completion = None;
    state.panel = Some(Panel::List(list));
}

pub(super) fn open_page(state: &mut State, title: &str, body: PageBody) {
    state.completion = None;
    state.panel = Some(Panel::Page(PagePanel::new(title, body)));
}

pub(super) fn open_help(state: &mut State) {
    open_page(state, "Keys and commands", PageBody::Help);
}

pub(super) fn open_memories(state: &mut State) {
    let row = |note: &nacre_api::wire::RecalledNote| ListRow {
        id: note.id.clone(),
        text: note.title.clone(),
        detail: crate::tui::text::clean_line(&note.id),
    };
    let rows: Vec<ListRow> = state.recalled.iter().map(row).collect();
    let empty = "The agent was given no memory in this session yet.";
    let title = format!("Memories in this session: {}", rows.len());
    open_list(state, ListPanel::new(ListKind::Memories, &title, rows, empty));
}

pub(super) fn open_diff(state: &mut State, is_whole_session: bool) {
    let patches: Vec<FilePatch> = state.transcript.patches(is_whole_session);
    let of = if is_whole_session { "this session" } else { "the last turn" };
    if patches.is_empty() {
        state.flash(Tone::Faint, &format!("No file changes in {of}"));
        return;
    }
    let title = format!("Changes in {of}: {}", count(patches.len(), "change"));
    open_page(state, &title, PageBody::Patches(patches));
}

/// Starts a skill by its name. Whether there is one.
pub(super) fn start_skill(state: &mut State, name: &str, words: &str) -> bool {
    if !state.skills.iter().any(|skill| skill.name == name) {
        return false;
    }
    sending::send_prompt(state, words, Some(name.to_owned()));
    browsing::follow(state);
    true
}
