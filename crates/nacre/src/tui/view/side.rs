//! Between transcript and input: the agent's plan, and what is queued.

use nacre_api::wire::ChecklistState;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

use super::{put_rule, put_text, row};
use crate::tui::state::State;
use crate::tui::state::areas::{MAX_PLAN, MAX_QUEUE};
use crate::tui::text::{clean_line, cut};
use crate::tui::theme::Role;

pub(super) fn draw_plan(state: &State, area: Rect, buffer: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let is_done = |state: ChecklistState| state == ChecklistState::Done;
    let n_done = state.plan.iter().filter(|item| is_done(item.state)).count();
    let title = format!("Plan: {n_done} of {} done", state.plan.len());
    put_rule(buffer, area, 0, (&title, "Ctrl-T hides it"), state.theme);
    // The line that is worked on is in sight.
    let current = state.plan.iter().position(|item| !is_done(item.state)).unwrap_or(0);
    let first = current.saturating_sub(MAX_PLAN / 2).min(state.plan.len().saturating_sub(MAX_PLAN));
    for (idx, item) in state.plan.iter().skip(first).take(MAX_PLAN).enumerate() {
        let (mark, role) = match item.state {
            ChecklistState::Pending => ("[ ]", Role::Text),
            ChecklistState::InProgress => ("[>]", Role::Accent),
            ChecklistState::Done => ("[x]", Role::Faint),
            ChecklistState::Failed => ("[!]", Role::Bad),
        };
        let text = cut(&format!("  {mark} {}", item.label), usize::from(area.width));
        put_text(buffer, area, row(idx + 1), &text, state.theme.style(role));
    }
}

pub(super) fn draw_queue(state: &State, area: Rect, buffer: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let style = state.theme.style(Role::Faint);
    let waiting: Vec<_> = state.prompts.iter().filter(|prompt| prompt.is_waiting()).collect();
    for (idx, prompt) in waiting.iter().take(MAX_QUEUE).enumerate() {
        let text = format!("  queued {}: {}", idx + 1, clean_line(&prompt.text));
        put_text(buffer, area, row(idx), &cut(&text, usize::from(area.width)), style);
    }
    if waiting.len() > MAX_QUEUE {
        let text = format!("  and {} more", waiting.len() - MAX_QUEUE);
        put_text(buffer, area, row(MAX_QUEUE), &text, style);
    }
}
