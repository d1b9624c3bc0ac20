//! A list or a text over the transcript.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

use super::{put, put_rule, put_text, row};
use crate::tui::state::panel::{ListKind, ListPanel, PagePanel, Panel};
use crate::tui::text::{cut, width};
use crate::tui::theme::{Role, Theme};

pub(super) fn draw(panel: &Panel, area: Rect, theme: Theme, buffer: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let n_rows = usize::from(area.height.saturating_sub(2));
    match panel {
        Panel::List(list) => draw_list(list, area, n_rows, theme, buffer),
        Panel::Page(page) => draw_page(page, area, n_rows, theme, buffer),
    }
}

fn draw_list(list: &ListPanel, area: Rect, n_rows: usize, theme: Theme, buffer: &mut Buffer) {
    put_rule(buffer, area, 0, (&list.title, ""), theme);
    let columns = usize::from(area.width);
    if list.rows.is_empty() {
        put_text(buffer, area, 1, &format!("  {}", list.empty), theme.style(Role::Faint));
    }
    for (at, (idx, entry)) in list.rows.iter().enumerate().skip(list.first).take(n_rows).enumerate()
    {
        let detail = cut(&entry.detail, columns / 2);
        let room = columns.saturating_sub(width(&detail) + 6);
        let text = cut(&entry.text, room);
        let pad = " ".repeat(room.saturating_sub(width(&text)));
        let role = if idx == list.selected { Role::Selected } else { Role::Text };
        let line = format!("  {text}{pad}  {detail}  ");
        put_text(buffer, area, row(at + 1), &cut(&line, columns), theme.style(role));
    }
    let keys = match list.kind {
        ListKind::Sessions | ListKind::Hits => "Enter resumes it · Esc closes",
        ListKind::Memories => "Enter opens it · e corrects it · Esc closes",
        ListKind::Skills => "Enter takes it · Esc closes",
    };
    put_text(
        buffer,
        area,
        area.height.saturating_sub(1),
        &format!("  {keys}"),
        theme.style(Role::Faint),
    );
}

fn draw_page(page: &PagePanel, area: Rect, n_rows: usize, theme: Theme, buffer: &mut Buffer) {
    put_rule(buffer, area, 0, (&page.title, ""), theme);
    let inner = Rect { x: area.x + 2.min(area.width), width: area.width.saturating_sub(4), ..area };
    for (at, line) in page.lines.iter().skip(page.scroll).take(n_rows).enumerate() {
        put(buffer, inner, row(at + 1), line);
    }
    let below = page.lines.len().saturating_sub(page.scroll + n_rows);
    let rest = if below > 0 { format!("{below} more lines · ") } else { String::new() };
    let keys = format!("  {rest}Up, Down, PageUp, PageDown · Esc closes");
    put_text(buffer, area, area.height.saturating_sub(1), &keys, theme.style(Role::Faint));
}
