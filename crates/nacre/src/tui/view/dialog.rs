//! A question of the agent: what it wants to do, and the keys that answer.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

use super::{put, put_rule, put_text, row};
use crate::tui::state::State;
use crate::tui::text::cut;
use crate::tui::theme::Role;

pub(super) fn draw(state: &State, area: Rect, buffer: &mut Buffer) {
    let Some(asked) = state.approvals.front().filter(|_| !area.is_empty()) else { return };
    let theme = state.theme;
    let columns = usize::from(area.width);
    let more = match state.approvals.len() {
        1 => String::new(),
        n => format!("{} more after this", n - 1),
    };
    put_rule(buffer, area, 0, (&format!("The agent asks: {}", asked.tool), &more), theme);
    let summary = cut(&format!("  {}", asked.summary), columns);
    put_text(buffer, area, 1, &summary, theme.style(Role::Warning));
    let n_rows = usize::from(area.height.saturating_sub(4));
    let inner = Rect { x: area.x + 2.min(area.width), width: area.width.saturating_sub(4), ..area };
    for (idx, line) in asked.lines.iter().skip(asked.scroll).take(n_rows).enumerate() {
        put(buffer, inner, row(idx + 2), line);
    }
    let below = asked.lines.len().saturating_sub(asked.scroll + n_rows);
    let rest = match (below, asked.scroll) {
        (0, 0) => String::new(),
        (0, _) => "end; Up shows what is above".to_owned(),
        (below, _) => format!("{below} more lines: Down"),
    };
    put_rule(buffer, area, area.height.saturating_sub(2), ("", &rest), theme);
    let is_armed = asked.is_armed(state.now, state.last_key);
    let keys = match (&asked.reason, is_armed) {
        (None, true) if !asked.was_end_seen => {
            "  Down or End to the end, then y and s · n no · e no, and say why · Esc stops the agent"
        }
        (None, true) => {
            "  y once · s in this session · n no · e no, and say why · Esc stops the agent"
        }
        (None, false) => "  Half a second without typing, then keys answer · Esc stops the agent",
        (Some(_), _) => "  Say why not. Enter sends it · Esc goes back",
    };
    let last = area.height.saturating_sub(1);
    put_text(buffer, area, last, &cut(keys, columns), theme.style(Role::Heading));
}
