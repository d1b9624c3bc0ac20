//! A question of the agent, as it is shown.

use nacre_api::wire::{ApprovalRequest, AskedAction, FilePatch};
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

/// A question, and where the person is with it.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) approval: String,
    pub(crate) task: String,
    pub(crate) tool: String,
    pub(crate) summary: String,
    action: AskedAction,
    /// When it came up.
    pub(crate) shown_at: u64,
    /// Why not, while the person writes it.
    pub(crate) reason: Option<Editor>,
    pub(crate) scroll: usize,
    pub(crate) lines: Vec<Line<'static>>,
    paper: Option<Paper>,
}

impl Asked {
    pub(crate) fn new(request: &ApprovalRequest, task: &str, now: u64) -> Self {
        Self {
            approval: request.approval.clone(),
            task: task.to_owned(),
            tool: clean_line(&request.tool),
            summary: clean_line(&bounded(&request.summary)),
            action: clean_action(&request.action),
            shown_at: now,
            reason: None,
            scroll: 0,
            lines: Vec::new(),
            paper: None,
        }
    }

    /// Whether a key answers it: not before the person had time to see it, and not in the middle of typing.
    pub(crate) fn is_armed(&self, now: u64, last_key: Option<u64>) -> bool {
        let last = last_key.unwrap_or(0).max(self.shown_at);
        now.saturating_sub(last) >= QUIET_MS
    }

    pub(crate) fn lay_out(&mut self, paper: Paper) {
        if self.paper == Some(paper) {
            return;
        }
        self.paper = Some(paper);
        self.lines = action_lines(&self.action, paper);
    }

    pub(crate) fn keep_inside(&mut self, rows: usize) {
        self.scroll = self.scroll.min(self.lines.len().saturating_sub(rows));
    }
}

fn clean_action(action: &AskedAction) -> AskedAction {
    match action {
        AskedAction::Change { paths, diff } => {
            let patch = FilePatch { path: String::new(), diff: diff.clone(), added: 0, removed: 0 };
            AskedAction::Change {
                paths: paths.iter().take(100).map(|path| clean_line(path)).collect(),
                diff: clean_patch(&patch).diff,
            }
        }
        // What is run is shown to the last byte: a color sequence is not taken out of it.
        AskedAction::Run { command, network } => {
            AskedAction::Run { command: clean(&bounded(command)), network: *network }
        }
        AskedAction::Connect { host } => AskedAction::Connect { host: clean_line(host) },
        AskedAction::Remember { summary } => {
            AskedAction::Remember { summary: clean(&bounded(summary)) }
        }
    }
}

fn action_lines(action: &AskedAction, paper: Paper) -> Vec<Line<'static>> {
    let words = |text: &str, role: Role| {
        let style = paper.theme.style(role);
        let lines = text.lines().flat_map(|line| {
            let span = Span::styled(line.to_owned(), style);
            wrap(&[span], paper.columns, &Indent::default(), Break::Anywhere)
        });
        lines.collect::<Vec<_>>()
    };
    match action {
        AskedAction::Change { paths, diff } => {
            let mut lines = words(&paths.join("\n"), Role::Heading);
            lines.extend(diff::lines(diff, paper.columns, &Indent::default(), paper.theme));
            lines
        }
        AskedAction::Run { command, network } => {
            let mut lines = words(&format!("$ {command}"), Role::Heading);
            if *network {
                lines.extend(words("It may use the network.", Role::Warning));
            }
            lines
        }
        AskedAction::Connect { host } => words(&format!("Connects to {host}"), Role::Heading),
        AskedAction::Remember { summary } => words(summary, Role::Text),
    }
}
