//! Panels over the transcript: lists, text, and the agent's questions.

use nacre_types::{ApprovalRequest, FilePatch};
use ratatui_core::style::Style;
use ratatui_core::text::{Line, Span};

use super::cell::{bound_text, clean_patch};
use super::layout::{Paper, patch_lines};
use crate::tui::commands::COMMANDS;
use crate::tui::editor::Editor;
use crate::tui::highlight::diff_lines;
use crate::tui::keys::{BINDINGS, KeyContext};
use crate::tui::text::{clean, clean_line, width};
use crate::tui::theme::Role;
use crate::tui::wrap::{Break, Indent, wrap, wrap_text};

#[derive(Clone, Debug)]
pub(crate) enum Panel {
    List(ListPanel),
    Page(PagePanel),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListKind {
    Sessions,
    Hits,
    Memories,
    Skills,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListRow {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) detail: String,
}

#[derive(Clone, Debug)]
pub(crate) struct ListPanel {
    pub(crate) kind: ListKind,
    pub(crate) title: String,
    pub(crate) rows: Vec<ListRow>,
    pub(crate) selected: usize,
    pub(crate) first: usize,
    pub(crate) empty: &'static str,
}

impl ListPanel {
    pub(crate) fn select(&mut self, by: isize) {
        let last = self.rows.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(by).min(last);
    }
}

#[derive(Clone, Debug)]
pub(crate) enum PageBody {
    Help,
    Patches(Vec<FilePatch>),
    Text(String),
}

#[derive(Clone, Debug)]
pub(crate) struct PagePanel {
    pub(crate) title: String,
    body: PageBody,
    pub(crate) scroll: usize,
    pub(crate) lines: Vec<Line<'static>>,
    paper: Option<Paper>,
}

impl PagePanel {
    pub(crate) fn new(title: &str, body: PageBody) -> Self {
        Self { title: title.to_owned(), body, scroll: 0, lines: Vec::new(), paper: None }
    }

    pub(crate) fn lay_out(&mut self, paper: Paper) {
        if self.paper == Some(paper) {
            return;
        }
        self.paper = Some(paper);
        self.lines = match &self.body {
            PageBody::Help => help(paper),
            PageBody::Patches(patches) => patches
                .iter()
                .flat_map(|patch| {
                    let mut lines = patch_lines(patch, paper, 0);
                    lines.push(Line::default());
                    lines
                })
                .collect(),
            PageBody::Text(text) => {
                let indent = Indent::default();
                wrap_text(text, Style::new(), paper.columns, &indent, Break::Words)
            }
        };
    }
}

impl Panel {
    pub(crate) fn keep_inside(&mut self, rows: usize) {
        match self {
            Self::Page(page) => {
                page.scroll = page.scroll.min(page.lines.len().saturating_sub(rows));
            }
            Self::List(list) => {
                let lowest = list.selected.saturating_sub(rows.saturating_sub(1));
                list.first = list.first.clamp(lowest, list.selected);
            }
        }
    }
}

fn help(paper: Paper) -> Vec<Line<'static>> {
    let theme = paper.theme;
    let heading = |text: &str| Line::styled(text.to_owned(), theme.style(Role::Heading));
    let row = |left: &str, column: usize, right: &str| {
        let pad = " ".repeat(column.saturating_sub(width(left)));
        let name = Span::styled(format!("  {left}{pad}  "), theme.style(Role::Accent));
        let rest = vec![Span::raw(" ".repeat(column + 4))];
        let indent = Indent { first: vec![name], rest };
        wrap(&[Span::raw(right.to_owned())], paper.columns, &indent, Break::Words)
    };
    let mut lines = vec![heading("Commands")];
    let column = COMMANDS.iter().map(|command| width(&command.usage())).max().unwrap_or(0);
    for command in COMMANDS {
        lines.extend(row(&command.usage(), column, command.help));
    }
    let column = BINDINGS.iter().map(|binding| width(binding.keys)).max().unwrap_or(0);
    for place in KeyContext::ALL {
        lines.push(Line::default());
        lines.push(heading(place.title()));
        for binding in BINDINGS.iter().filter(|binding| binding.place == place) {
            lines.extend(row(binding.keys, column, binding.help));
        }
    }
    lines
}

/// For this long after a question appears or a key is typed, keys do not count as answers.
pub(crate) const QUIET_MS: u64 = 500;

const MAX_TOUCHES: usize = 100;

/// Commands longer than this are shortened to their first and last lines, with the full text shown
/// below.
const MAX_WHOLE: usize = 8;

/// The agent's question, and how much of it the user has seen.
#[derive(Clone, Debug)]
pub(crate) struct ApprovalDialog {
    /// The request, after cleaning.
    pub(crate) request: ApprovalRequest,
    pub(crate) task: String,
    pub(crate) drawn_at: Option<u64>,
    pub(crate) was_end_seen: bool,
    pub(crate) reason: Option<Editor>,
    pub(crate) scroll: usize,
    pub(crate) lines: Vec<Line<'static>>,
    paper: Option<Paper>,
}

impl ApprovalDialog {
    pub(crate) fn new(request: &ApprovalRequest, task: &str) -> Self {
        let clean_diff = |diff: String| {
            clean_patch(&FilePatch { path: String::new(), diff, added: 0, removed: 0 }).diff
        };
        let request = ApprovalRequest {
            tool: clean_line(&request.tool),
            summary: clean_line(&bound_text(&request.summary)),
            touches: request.touches.iter().take(MAX_TOUCHES).map(|it| clean_line(it)).collect(),
            // Commands must be shown exactly, so color codes are made visible instead of being
            // removed.
            command: request.command.as_deref().map(clean),
            host: request.host.as_deref().map(clean_line),
            diff: request.diff.clone().map(clean_diff),
            ..request.clone()
        };
        Self {
            request,
            task: task.to_owned(),
            drawn_at: None,
            was_end_seen: false,
            reason: None,
            scroll: 0,
            lines: Vec::new(),
            paper: None,
        }
    }

    pub(crate) fn is_armed(&self, now: u64, last_key: Option<u64>) -> bool {
        self.arm_time(last_key).is_some_and(|armed| armed <= now)
    }

    /// Returns when keys start to count as answers, or `None` if the question has not been drawn
    /// yet.
    pub(crate) fn arm_time(&self, last_key: Option<u64>) -> Option<u64> {
        Some(last_key.unwrap_or(0).max(self.drawn_at?).saturating_add(QUIET_MS))
    }

    pub(crate) fn lay_out(&mut self, paper: Paper) {
        if self.paper == Some(paper) {
            return;
        }
        self.paper = Some(paper);
        self.lines = request_lines(&self.request, paper);
    }

    pub(crate) fn show(&mut self, rows: usize, now: u64) {
        self.scroll = self.scroll.min(self.lines.len().saturating_sub(rows));
        self.drawn_at.get_or_insert(now);
        self.was_end_seen |= self.lines.len() <= self.scroll + rows;
    }
}

fn request_lines(request: &ApprovalRequest, paper: Paper) -> Vec<Line<'static>> {
    let words = |text: &str, role: Role| {
        let style = paper.theme.style(role);
        wrap_text(text, style, paper.columns, &Indent::default(), Break::Anywhere)
    };
    let mut lines = Vec::new();
    let mut command = request
        .command
        .as_ref()
        .map_or_else(Vec::new, |command| words(&format!("$ {command}"), Role::Heading));
    if command.len() <= MAX_WHOLE {
        lines.append(&mut command);
    } else {
        let n = command.len();
        lines.extend_from_slice(&command[..MAX_WHOLE / 2]);
        lines.extend(words(&format!("… {n} lines, shown in full below …"), Role::Warning));
        lines.extend_from_slice(&command[n - MAX_WHOLE / 2..]);
    }
    if let Some(host) = &request.host {
        lines.extend(words(&format!("Connects to {host}"), Role::Heading));
    }
    lines.extend(words(&request.touches.join("\n"), Role::Text));
    if let Some(diff) = &request.diff {
        lines.extend(diff_lines(diff, paper.columns, &Indent::default(), paper.theme));
    }
    if request.is_diff_cut {
        lines.extend(words("The end of the change is not shown.", Role::Warning));
    }
    lines.append(&mut command);
    lines
}
