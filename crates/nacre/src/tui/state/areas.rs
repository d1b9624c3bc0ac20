//! The screen's layout: transcript, plan, queue, question, input and status line.

use ratatui_core::layout::Rect;

use super::ScreenState;
use crate::tui::editor;

pub(crate) const INPUT_MARK: u16 = 2;

pub(crate) const MAX_PLAN: usize = 8;

pub(crate) const MAX_QUEUE: usize = 3;

/// Lines that a question needs in addition to its text: two rules, a summary and the keys.
const DIALOG_FRAME: u16 = 4;

/// Lines that a panel needs in addition to its content: the title and the keys.
const PANEL_FRAME: u16 = 2;

/// The areas from top to bottom. An area of height zero is hidden.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Areas {
    pub(crate) transcript: Rect,
    pub(crate) plan: Rect,
    pub(crate) queue: Rect,
    pub(crate) dialog: Rect,
    /// Includes the rule above the input.
    pub(crate) input: Rect,
    pub(crate) status: Rect,
    /// All rows except the last.
    pub(crate) panel: Rect,
}

impl Areas {
    pub(crate) fn of(state: &ScreenState) -> Self {
        let mut left = Rect::new(0, 0, state.columns, state.rows);
        let status = take_bottom(&mut left, 1);
        let panel = left;
        let room = left.height;
        let input = take_bottom(&mut left, input_rows(state, room));
        let dialog_height = dialog_rows(state, left.height);
        let dialog = take_bottom(&mut left, dialog_height);
        // On a screen with few rows, the transcript gets all the remaining space.
        let is_low = left.height < 8;
        let queue = take_bottom(&mut left, if is_low { 0 } else { queue_rows(state) });
        let plan = take_bottom(&mut left, if is_low { 0 } else { plan_rows(state) });
        Self { transcript: left, plan, queue, dialog, input, status, panel }
    }

    pub(crate) fn panel_rows(&self) -> usize {
        usize::from(self.panel.height.saturating_sub(PANEL_FRAME))
    }

    pub(crate) fn dialog_rows(&self) -> usize {
        usize::from(self.dialog.height.saturating_sub(DIALOG_FRAME))
    }
}

pub(crate) fn input_columns(state: &ScreenState) -> usize {
    usize::from(state.columns.saturating_sub(INPUT_MARK).max(2))
}

fn take_bottom(left: &mut Rect, height: u16) -> Rect {
    let height = height.min(left.height);
    left.height -= height;
    Rect::new(left.x, left.y + left.height, left.width, height)
}

fn rows(n: usize) -> u16 {
    u16::try_from(n).unwrap_or(u16::MAX)
}

fn input_rows(state: &ScreenState, room: u16) -> u16 {
    let question = state.approvals.front().and_then(|question| question.reason.as_ref());
    let text = question.unwrap_or(&state.editor).text();
    let n_rows = rows(editor::rows(text, input_columns(state)).len());
    let rule = u16::from(room > 3);
    n_rows.clamp(1, (room / 3).max(1)) + rule
}

fn dialog_rows(state: &ScreenState, room: u16) -> u16 {
    let Some(question) = state.approvals.front() else { return 0 };
    let wanted = rows(question.lines.len()).saturating_add(DIALOG_FRAME);
    let most = (u32::from(room) * 2 / 3).max(u32::from(DIALOG_FRAME + 1));
    wanted.min(u16::try_from(most).unwrap_or(u16::MAX)).min(room)
}

fn queue_rows(state: &ScreenState) -> u16 {
    let n_waiting = state.prompts.iter().filter(|prompt| prompt.is_waiting()).count();
    rows(n_waiting.min(MAX_QUEUE) + usize::from(n_waiting > MAX_QUEUE))
}

fn plan_rows(state: &ScreenState) -> u16 {
    if state.is_plan_hidden || state.plan.is_empty() {
        return 0;
    }
    rows(state.plan.len().min(MAX_PLAN) + 1)
}
