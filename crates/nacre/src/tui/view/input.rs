//! What the person writes, and what completes it.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Position, Rect};

use super::{put_rule, put_text, row};
use crate::tui::editor::{place, rows, shown_row};
use crate::tui::state::areas::{INPUT_MARK, input_columns};
use crate::tui::state::{Scroll, State};
use crate::tui::text::{clean_line, cut, grouped, width};
use crate::tui::theme::Role;

/// Choices that are shown at once.
const MAX_CHOICES: usize = 8;

/// Draws the input; where its cursor is.
pub(super) fn draw(state: &State, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    if area.is_empty() {
        return None;
    }
    let reason = state.approvals.front().and_then(|asked| asked.reason.as_ref());
    let editor = reason.unwrap_or(&state.editor);
    let has_rule = area.height > 1;
    if has_rule {
        put_rule(buffer, area, 0, (&title(state), &news(state)), state.theme);
    }
    let text_area =
        Rect { y: area.y + u16::from(has_rule), height: area.height - u16::from(has_rule), ..area };
    let rows = rows(editor.text(), input_columns(state));
    let (cursor_row, column) = place(editor.text(), &rows, editor.cursor());
    let n_rows = usize::from(text_area.height);
    let first = (cursor_row + 1).saturating_sub(n_rows);
    let mark = if reason.is_some() { "! " } else { "> " };
    put_text(buffer, text_area, 0, mark, state.theme.style(Role::User));
    let inner = Rect {
        x: area.x + INPUT_MARK.min(area.width),
        width: area.width.saturating_sub(INPUT_MARK),
        ..text_area
    };
    for (idx, range) in rows.iter().skip(first).take(n_rows).enumerate() {
        let shown = shown_row(&editor.text()[range.clone()]);
        put_text(buffer, inner, row(idx), &shown, state.theme.style(Role::Text));
    }
    let x = inner.x.saturating_add(row(column)).min(area.right().saturating_sub(1));
    Some(Position::new(x, text_area.y + row(cursor_row - first)))
}

fn title(state: &State) -> String {
    state.session.as_ref().map(|session| clean_line(&session.title)).unwrap_or_default()
}

/// What the person does not see.
fn news(state: &State) -> String {
    let transcript = &state.transcript;
    if transcript.scroll == Scroll::Follow {
        return String::new();
    }
    let is_at_top = transcript.shown.first().is_some_and(|shown| shown.idx == 0);
    let is_cut = transcript.n_dropped > 0 && transcript.first_sequence().is_none();
    match (is_at_top && is_cut, transcript.has_news) {
        (true, _) => {
            let n_dropped = grouped(transcript.n_dropped as u64);
            format!("{n_dropped} earlier items: /resume shows them")
        }
        (false, true) => "new below: Ctrl-End".to_owned(),
        (false, false) => "more below: Ctrl-End".to_owned(),
    }
}

/// Draws the choices above the input.
pub(super) fn draw_completion(state: &State, input: Rect, buffer: &mut Buffer) {
    let Some(completion) = state.completion.as_ref().filter(|_| state.approvals.is_empty()) else {
        return;
    };
    let n_rows = completion.choices.len().min(MAX_CHOICES).min(usize::from(input.y));
    let first = (completion.selected + 1).saturating_sub(n_rows);
    let shown = completion.choices.iter().enumerate().skip(first).take(n_rows);
    let names = shown.clone().map(|(_, choice)| width(choice.text.trim_end())).max().unwrap_or(0);
    let columns = usize::from(input.width).saturating_sub(2);
    let names = names.min(columns / 2);
    let area = Rect { y: input.y - row(n_rows), height: row(n_rows), ..input };
    for (at, (idx, choice)) in shown.enumerate() {
        let name =
            cut(choice.text.trim_end(), if choice.help.is_empty() { columns } else { names });
        let pad = " ".repeat(names.saturating_sub(width(&name)));
        let text = cut(&format!("{name}{pad}  {}", choice.help), columns);
        let fill = " ".repeat(columns.saturating_sub(width(&text)));
        let role = if idx == completion.selected { Role::Selected } else { Role::Accent };
        put_text(buffer, area, row(at), &format!("  {text}{fill}"), state.theme.style(role));
    }
}
