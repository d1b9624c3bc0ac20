//! Which part of the screen is where: transcript, plan, queue, question, input, last line.

use ratatui_core::layout::Rect;

use super::State;
use crate::tui::editor;

/// Columns before the text that is being written.
pub(crate) const INPUT_MARK: u16 = 2;

/// Lines of the plan that are shown at most.
pub(crate) const MAX_PLAN: usize = 8;

/// Queued prompts that are shown at most.
pub(crate) const MAX_QUEUE: usize = 3;

/// Lines of a question besides what it is about: two rules, a summary and the keys.
const DIALOG_FRAME: u16 = 4;

/// Lines of a panel besides its rows: the title, and the line for keys.
const PANEL_FRAME: u16 = 2;

/// The parts, from the top; one without height is not shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Areas {
    pub(crate) transcript: Rect,
    pub(crate) plan: Rect,
    pub(crate) queue: Rect,
    pub(crate) dialog: Rect,
    /// With the rule above it.
    pub(crate) input: Rect,
    pub(crate) status: Rect,
    /// All above the last line, for a list or a text.
    pub(crate) panel: Rect,
}

impl Areas {
    pub(crate) fn of(state: &State) -> Self {
        let mut left = Rect::new(0, 0, state.columns, state.rows);
        let status = take_bottom(&mut left, 1);
        let panel = left;
        let room = left.height;
        let input = take_bottom(&mut left, input_rows(state, room));
        let dialog_height = dialog_rows(state, left.height);
        let dialog = take_bottom(&mut left, dialog_height);
        // On a low screen the transcript is worth more than what surrounds it.
        let is_low = left.height < 8;
        let queue = take_bottom(&mut left, if is_low { 0 } else { queue_rows(state) });
        let plan = take_bottom(&mut left, if is_low { 0 } else { plan_rows(state) });
        Self { transcript: left, plan, queue, dialog, input, status, panel }
    }

    /// Lines of a panel that scroll.
    pub(crate) fn panel_rows(&self) -> usize {
        usize::from(self.panel.height.saturating_sub(PANEL_FRAME))
    }

    /// Lines of a question that scroll.
    pub(crate) fn dialog_rows(&self) -> usize {
        usize::from(self.dialog.height.saturating_sub(DIALOG_FRAME))
    }
}

/// How many columns the text that is being written has.
pub(crate) fn input_columns(state: &State) -> usize {
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

fn input_rows(state: &State, room: u16) -> u16 {
    let asked = state.approvals.front().and_then(|asked| asked.reason.as_ref());
    let text = asked.unwrap_or(&state.editor).text();
    let n_rows = rows(editor::rows(text, input_columns(state)).len());
    let rule = u16::from(room > 3);
    n_rows.clamp(1, (room / 3).max(1)) + rule
}

fn dialog_rows(state: &State, room: u16) -> u16 {
    let Some(asked) = state.approvals.front() else { return 0 };
    let wanted = rows(asked.lines.len()).saturating_add(DIALOG_FRAME);
    let most = (u32::from(room) * 2 / 3).max(u32::from(DIALOG_FRAME + 1));
    wanted.min(u16::try_from(most).unwrap_or(u16::MAX)).min(room)
}

fn queue_rows(state: &State) -> u16 {
    let n_waiting = state.prompts.iter().filter(|prompt| prompt.is_waiting()).count();
    rows(n_waiting.min(MAX_QUEUE) + usize::from(n_waiting > MAX_QUEUE))
}

fn plan_rows(state: &State) -> u16 {
    if state.is_plan_hidden || state.plan.is_empty() {
        return 0;
    }
    rows(state.plan.len().min(MAX_PLAN) + 1)
}
