//! The state as a frame. Drawing reads and decides nothing: what is where was settled before.

mod dialog;
mod input;
mod panel;
mod side;
mod status;
mod transcript;

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Position, Rect};
use ratatui_core::style::Style;
use ratatui_core::text::{Line, Span};

use super::state::State;
use super::state::areas::Areas;
use super::text::{cut, width};
use super::theme::{Role, Theme};

/// Draws a settled state; where the cursor is, if it is seen.
pub(crate) fn view(state: &State, areas: &Areas, buffer: &mut Buffer) -> Option<Position> {
    if buffer.area.is_empty() {
        return None;
    }
    status::draw(state, areas.status, buffer);
    if let Some(panel) = &state.panel {
        panel::draw(panel, areas.panel, state.theme, buffer);
        return None;
    }
    transcript::draw(state, areas.transcript, buffer);
    side::draw_plan(state, areas.plan, buffer);
    side::draw_queue(state, areas.queue, buffer);
    dialog::draw(state, areas.dialog, buffer);
    let cursor = input::draw(state, areas.input, buffer);
    input::draw_completion(state, areas.input, buffer);
    if state.browsed.is_some() { None } else { cursor }
}

/// Writes a line into a row of an area; what does not fit is cut.
fn put(buffer: &mut Buffer, area: Rect, row: u16, line: &Line<'_>) {
    if row < area.height {
        buffer.set_line(area.x, area.y + row, line, area.width);
    }
}

/// Writes a text into a row of an area.
fn put_text(buffer: &mut Buffer, area: Rect, row: u16, text: &str, style: Style) {
    put(buffer, area, row, &Line::from(Span::styled(text, style)));
}

/// A rule across an area, with words on its left and on its right.
fn put_rule(buffer: &mut Buffer, area: Rect, row: u16, words: (&str, &str), theme: Theme) {
    let columns = usize::from(area.width);
    let right = cut(words.1, columns.saturating_sub(6));
    let left = cut(words.0, columns.saturating_sub(width(&right) + 8));
    let spaced = |text: &str| if text.is_empty() { String::new() } else { format!(" {text} ") };
    let (left, right) = (spaced(&left), spaced(&right));
    let fill = columns.saturating_sub(width(&left) + width(&right) + 4);
    let text = format!("──{left}{}{right}──", "─".repeat(fill));
    put_text(buffer, area, row, &text, theme.style(Role::Faint));
}

/// The rows of an area, with their numbers.
fn row(n: usize) -> u16 {
    u16::try_from(n).unwrap_or(u16::MAX)
}
