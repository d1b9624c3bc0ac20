//! The last line: what the agent does, which keys matter now, and what it costs.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::text::{Line, Span};

use super::put;
use crate::tui::state::State;
use crate::tui::state::cell::Tone;
use crate::tui::state::prompt::Turn;
use crate::tui::state::usage::dollars;
use crate::tui::text::{clean_line, cut, duration, width};
use crate::tui::theme::Role;

/// Less of the right side says nothing.
const MIN_RIGHT: usize = 8;

const SPINNER: [&str; 4] = ["|", "/", "-", "\\"];

pub(super) fn draw(state: &State, area: Rect, buffer: &mut Buffer) {
    let columns = usize::from(area.width);
    let (left, role) = left(state);
    let right = right(state);
    let room = columns.saturating_sub(1);
    // What happens is worth more than what it costs.
    let rest = room.saturating_sub(width(&left) + 2);
    let right = if rest < MIN_RIGHT { String::new() } else { cut(&right, rest) };
    let left = cut(&left, room.saturating_sub(width(&right) + 2));
    let pad = " ".repeat(room.saturating_sub(width(&left) + width(&right)));
    let line = Line::from(vec![
        Span::styled(left, state.theme.style(role)),
        Span::raw(pad),
        Span::styled(right, state.theme.style(Role::Faint)),
    ]);
    put(buffer, area, 0, &line);
}

fn left(state: &State) -> (String, Role) {
    if let Some(flash) = &state.flash {
        let role = match flash.tone {
            Tone::Faint => Role::Text,
            Tone::Good => Role::Good,
            Tone::Warning => Role::Warning,
            Tone::Bad => Role::Bad,
        };
        return (format!(" {}", flash.text), role);
    }
    if state.is_closed {
        return (" the agent is gone · /quit leaves".to_owned(), Role::Bad);
    }
    if state.browsed.is_some() {
        let keys = " Enter unfolds · a all · z fold all · Esc back to the input";
        return (keys.to_owned(), Role::Accent);
    }
    match &state.turn {
        Some(turn) => (working(turn, state.now), Role::Accent),
        None if state.session.is_none() => (" opening the session".to_owned(), Role::Faint),
        None => (" Enter sends · Alt-Enter new line · /help".to_owned(), Role::Faint),
    }
}

fn working(turn: &Turn, now: u64) -> String {
    let since = now.saturating_sub(turn.since);
    let time = match since / 1_000 {
        seconds @ 0..60 => format!("{seconds}s"),
        _ => duration(since),
    };
    if turn.is_stopping {
        return format!(" stopping after {time}");
    }
    let frame = usize::try_from(since / 500).unwrap_or(0) % SPINNER.len();
    let step = if turn.step > 0 { format!(" · step {}", turn.step) } else { String::new() };
    format!(" {} working {time} · Enter queues · Ctrl-S steers · Esc stops{step}", SPINNER[frame])
}

fn right(state: &State) -> String {
    let Some(session) = &state.session else { return String::new() };
    let model = state.turn.as_ref().map(|turn| turn.model.clone());
    let mut parts: Vec<String> = Vec::new();
    parts.extend(model.or_else(|| session.model.as_deref().map(clean_line)));
    parts.push(session.policy.as_str().to_owned());
    parts.extend(state.usage.context_percent().map(|percent| format!("{percent}% full")));
    parts.extend(state.usage.cost().map(dollars));
    parts.join(" · ")
}
