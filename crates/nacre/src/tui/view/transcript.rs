//! The transcript, with the mark of what is selected.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::text::Line;

use super::{put, put_text, row};
use crate::tui::state::{GUTTER, State};
use crate::tui::theme::Role;

const WELCOME: [&str; 3] = [
    "Say what you want done in this project.",
    "`/help` lists keys and commands, `@` names a file, `/resume` continues the",
    "last session. What the agent asks you for is set by `/policy`.",
];

pub(super) fn draw(state: &State, area: Rect, buffer: &mut Buffer) {
    if state.transcript.is_empty() {
        return draw_welcome(state, area, buffer);
    }
    let gutter = u16::try_from(GUTTER).unwrap_or(0).min(area.width);
    let inner = Rect { x: area.x + gutter, width: area.width - gutter, ..area };
    let shown = &state.transcript.shown;
    // What is short stands at the bottom, beside the input.
    let top = area.height.saturating_sub(row(shown.len()));
    for (idx, shown) in shown.iter().enumerate() {
        let at = top + row(idx);
        let Some(line) = shown.line.and_then(|line| state.transcript.lines(shown.idx).get(line))
        else {
            continue;
        };
        put(buffer, inner, at, line);
        let is_selected = state.transcript.cell(shown.idx).map(|cell| cell.id) == state.browsed;
        if is_selected && state.browsed.is_some() {
            put_text(buffer, area, at, "▌", state.theme.style(Role::Accent));
        }
    }
}

fn draw_welcome(state: &State, area: Rect, buffer: &mut Buffer) {
    let title = Line::styled("Nacre", state.theme.style(Role::Heading));
    put(buffer, area, 0, &title);
    for (idx, text) in WELCOME.iter().enumerate() {
        put_text(buffer, area, row(idx + 1), text, state.theme.style(Role::Faint));
    }
}
