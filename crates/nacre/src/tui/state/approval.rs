//! A question of the agent, as it is shown.

use nacre_api::wire::{ApprovalRequest, FilePatch};
use ratatui_core::text::{Line, Span};

use super::cell::{bounded, clean_patch};
use super::layout::Paper;
use crate::tui::diff;
use crate::tui::editor::Editor;
use crate::tui::text::{clean, clean_line};
use crate::tui::theme::Role;
use crate::tui::wrap::{Break, Indent, wrap};

/// Whoever is typing when a question comes up does not answer it with the next letter.
pub(crate) const QUIET_MS: u64 = 500;

/// Of a command with more lines, the start and the end are shown together, and all of it below.
const MAX_WHOLE: usize = 8;

/// A question, and where the person is with it.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) approval: String,
    pub(crate) task: String,
    pub(crate) tool: String,
    pub(crate) summary: String,
    action: Action,
    /// When it was drawn first.
    pub(crate) drawn_at: Option<u64>,
    /// Whether its last line was on the screen.
    pub(crate) was_end_seen: bool,
    /// Why not, while the person writes it.
    pub(crate) reason: Option<Editor>,
    pub(crate) scroll: usize,
    pub(crate) lines: Vec<Line<'static>>,
    paper: Option<Paper>,
}

impl Asked {
    pub(crate) fn new(request: &ApprovalRequest, task: &str) -> Self {
        Self {
            approval: request.approval.clone(),
            task: task.to_owned(),
            tool: clean_line(&request.tool),
            summary: clean_line(&bounded(&request.summary)),
            action: Action::of(request),
            drawn_at: None,
            was_end_seen: false,
            reason: None,
            scroll: 0,
            lines: Vec::new(),
            paper: None,
        }
    }

    /// Whether a key answers it: not before the person had time to see it, and not in the middle of typing.
    pub(crate) fn is_armed(&self, now: u64, last_key: Option<u64>) -> bool {
        self.armed_at(last_key).is_some_and(|armed| armed <= now)
    }

    /// From when on a key answers it; never before it was drawn.
    pub(crate) fn armed_at(&self, last_key: Option<u64>) -> Option<u64> {
        Some(last_key.unwrap_or(0).max(self.drawn_at?).saturating_add(QUIET_MS))
    }

    pub(crate) fn lay_out(&mut self, paper: Paper) {
        if self.paper == Some(paper) {
            return;
        }
        self.paper = Some(paper);
        self.lines = action_lines(&self.action, paper);
    }

    /// Fits it into so many rows, which are drawn now.
    pub(crate) fn show(&mut self, rows: usize, now: u64) {
        self.scroll = self.scroll.min(self.lines.len().saturating_sub(rows));
        self.drawn_at.get_or_insert(now);
        self.was_end_seen |= self.lines.len() <= self.scroll + rows;
    }
}

/// What a call is about to do, clean to be shown.
#[derive(Clone, Debug)]
struct Action {
    touches: Vec<String>,
    command: Option<String>,
    host: Option<String>,
    diff: Option<String>,
    is_diff_cut: bool,
}

impl Action {
    fn of(request: &ApprovalRequest) -> Self {
        let patch = |diff: &String| {
            let diff = diff.clone();
            clean_patch(&FilePatch { path: String::new(), diff, added: 0, removed: 0 }).diff
        };
        Self {
            touches: request.touches.iter().take(100).map(|line| clean_line(line)).collect(),
            // What is run is shown to the last byte: a color sequence is not taken out of it.
            command: request.command.as_deref().map(clean),
            host: request.host.as_deref().map(clean_line),
            diff: request.diff.as_ref().map(patch),
            is_diff_cut: request.is_diff_cut,
        }
    }
}

fn action_lines(action: &Action, paper: Paper) -> Vec<Line<'static>> {
    let words = |text: &str, role: Role| {
        let style = paper.theme.style(role);
        let lines = text.lines().flat_map(|line| {
            let span = Span::styled(line.to_owned(), style);
            wrap(&[span], paper.columns, &Indent::default(), Break::Anywhere)
        });
        lines.collect::<Vec<_>>()
    };
    let mut lines = Vec::new();
    let mut command = action
        .command
        .as_ref()
        .map_or_else(Vec::new, |command| words(&format!("$ {command}"), Role::Heading));
    if command.len() <= MAX_WHOLE {
        lines.append(&mut command);
    } else {
        let n = command.len();
        lines.extend_from_slice(&command[..MAX_WHOLE / 2]);
        lines.extend(words(&format!("… {n} lines, all of them below …"), Role::Warning));
        lines.extend_from_slice(&command[n - MAX_WHOLE / 2..]);
    }
    if let Some(host) = &action.host {
        lines.extend(words(&format!("Connects to {host}"), Role::Heading));
    }
    lines.extend(words(&action.touches.join("\n"), Role::Text));
    if let Some(diff) = &action.diff {
        lines.extend(diff::lines(diff, paper.columns, &Indent::default(), paper.theme));
    }
    if action.is_diff_cut {
        lines.extend(words("The rest of the change is not shown.", Role::Warning));
    }
    lines.append(&mut command);
    lines
}
