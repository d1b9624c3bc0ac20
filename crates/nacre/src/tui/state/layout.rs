//! Lays out cells as lines.
//!
//! Only visible cells are laid out. Answers are laid out incrementally: complete Markdown blocks
//! are not parsed again as more text arrives.

use nacre_types::{FilePatch, ToolOutcome};
use ratatui_core::text::{Line, Span};

use super::cell::{Cell, CellKind, ToolCell};
use crate::tui::highlight::{diff_counts, diff_lines};
use crate::tui::markdown;
use crate::tui::text::{cut, duration, width};
use crate::tui::theme::{Role, Theme};
use crate::tui::wrap::{Break, Indent, wrap, wrap_text};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Paper {
    pub(crate) columns: usize,
    pub(crate) theme: Theme,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct CellLayout {
    paper: Paper,
    revision: u32,
    is_open: bool,
    pub(crate) lines: Vec<Line<'static>>,
    /// Number of bytes at the start of the text whose layout is final.
    settled_bytes: usize,
    settled_lines: usize,
    /// The number of the last frame that used these lines.
    pub(crate) wanted: u64,
}

impl CellLayout {
    pub(crate) fn new(paper: Paper) -> Self {
        Self { paper, revision: u32::MAX, ..Self::default() }
    }

    /// Updates the lines if the cell, the width or the theme changed.
    pub(crate) fn refresh(&mut self, cell: &Cell, paper: Paper) {
        let is_current =
            self.paper == paper && self.revision == cell.revision && self.is_open == cell.is_open;
        if is_current {
            return;
        }
        if self.paper != paper {
            *self = Self { wanted: self.wanted, ..Self::new(paper) };
        }
        self.revision = cell.revision;
        self.is_open = cell.is_open;
        match &cell.kind {
            CellKind::Assistant { text, is_interrupted } => {
                self.lay_markdown(text, *is_interrupted);
            }
            CellKind::User { text, attachments, is_steering } => {
                self.lines = user(text, attachments, *is_steering, paper);
            }
            CellKind::Reasoning { text } => self.lines = reasoning(text, cell.is_open, paper),
            CellKind::Tool(tool) => self.lines = tool_lines(tool, cell.is_open, paper),
            CellKind::Notice { text, tone } => {
                let style = paper.theme.style(*tone);
                let indent = Indent::default();
                self.lines = wrap_text(text, style, paper.columns, &indent, Break::Words);
            }
        }
    }

    fn lay_markdown(&mut self, text: &str, is_interrupted: bool) {
        // The text was replaced by a shorter one.
        if text.len() < self.settled_bytes {
            (self.settled_bytes, self.settled_lines) = (0, 0);
        }
        self.lines.truncate(self.settled_lines);
        let settled = find_settled_end(&text[self.settled_bytes..]);
        if settled > 0 {
            let until = self.settled_bytes + settled;
            self.append(&text[self.settled_bytes..until]);
            self.settled_bytes = until;
            self.settled_lines = self.lines.len();
        }
        self.append(&text[self.settled_bytes..]);
        if is_interrupted {
            let style = self.paper.theme.style(Role::Warning);
            self.lines.push(Line::styled("(stopped here)", style));
        }
    }

    fn append(&mut self, text: &str) {
        let lines = markdown::lines(text, self.paper.columns, self.paper.theme);
        if !self.lines.is_empty() && !lines.is_empty() {
            self.lines.push(Line::default());
        }
        self.lines.extend(lines);
    }
}

/// Returns the start of the last block that follows an empty line. Appended text cannot change the
/// layout of anything before this point.
fn find_settled_end(text: &str) -> usize {
    let mut settled = 0;
    let mut fence: Option<&str> = None;
    let mut is_after_gap = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        let opens_block = fence.is_none() && is_after_gap && opens_block(line);
        if opens_block {
            settled = at;
        }
        fence = match (fence, mark) {
            (None, mark) => mark,
            (Some(open), Some(mark)) if open == mark => None,
            (Some(open), _) => Some(open),
        };
        is_after_gap = line.trim().is_empty();
        at += line.len();
    }
    settled
}

/// Returns whether a line that follows an empty line starts a new block, rather than continuing a
/// list or quote.
fn opens_block(line: &str) -> bool {
    let is_item = |line: &str| {
        let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let has_number = digits.len() < line.len();
        line.starts_with(['-', '*', '+', '>', '|'])
            || (has_number && digits.starts_with(['.', ')']))
    };
    !line.starts_with([' ', '\n']) && !is_item(line)
}

/// Returns the first line of a code fence that is still open at the end of the text.
pub(crate) fn open_fence(text: &str) -> Option<&str> {
    let mut open: Option<&str> = None;
    for line in text.lines().map(str::trim_start) {
        let is_mark = line.starts_with("```") || line.starts_with("~~~");
        open = match open {
            None if is_mark => Some(line),
            Some(fence) if is_mark && line.starts_with(&fence[..3]) => None,
            open => open,
        };
    }
    open
}

fn user(text: &str, attachments: &[String], is_steering: bool, paper: Paper) -> Vec<Line<'static>> {
    let style = paper.theme.style(Role::User);
    let mark = if is_steering { "» " } else { "> " };
    let rest = Indent::spaces(2);
    let first = Indent { first: vec![Span::styled(mark, style)], ..rest.clone() };
    let (head, tail) = text.split_once('\n').unwrap_or((text, ""));
    let mut lines = wrap_text(head, style, paper.columns, &first, Break::Words);
    lines.extend(wrap_text(tail, style, paper.columns, &rest, Break::Words));
    let style = paper.theme.style(Role::Faint);
    lines.extend(wrap_text(&attachments.join("\n"), style, paper.columns, &rest, Break::Words));
    lines
}

fn reasoning(text: &str, is_open: bool, paper: Paper) -> Vec<Line<'static>> {
    let style = paper.theme.style(Role::Faint);
    if !is_open {
        let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        return vec![Line::styled(cut(&format!("▸ thinking: {last}"), paper.columns), style)];
    }
    let mut lines = vec![Line::styled("▾ thinking", style)];
    lines.extend(wrap_text(text, style, paper.columns, &Indent::spaces(2), Break::Words));
    lines
}

fn tool_lines(tool: &ToolCell, is_open: bool, paper: Paper) -> Vec<Line<'static>> {
    let mut lines = vec![tool_heading(tool, is_open, paper)];
    if !is_open {
        return lines;
    }
    let indent = Indent::spaces(4);
    if width(&tool.summary) + tool.tool.len() + 24 > paper.columns {
        let summary = Span::raw(tool.summary.clone());
        lines.extend(wrap(&[summary], paper.columns, &indent, Break::Anywhere));
    }
    let style = paper.theme.style(Role::Faint);
    lines.extend(wrap_text(&tool.text, style, paper.columns, &indent, Break::Anywhere));
    lines.extend(tool.patches.iter().flat_map(|patch| patch_lines(patch, paper, 2)));
    lines
}

pub(crate) fn patch_lines(patch: &FilePatch, paper: Paper, indent: usize) -> Vec<Line<'static>> {
    let room = paper.columns.saturating_sub(indent + 16);
    let mut heading = vec![Span::raw(" ".repeat(indent)), Span::raw(cut(&patch.path, room))];
    heading.push(Span::raw("  "));
    heading.extend(diff_counts(patch.added, patch.removed, paper.theme));
    let mut lines = vec![Line::from(heading)];
    lines.extend(diff_lines(&patch.diff, paper.columns, &Indent::spaces(indent + 2), paper.theme));
    lines
}

fn tool_heading(tool: &ToolCell, is_open: bool, paper: Paper) -> Line<'static> {
    let theme = paper.theme;
    let (outcome, role) = match tool.outcome {
        None => ("running", Role::Accent),
        Some(ToolOutcome::Done) => ("done", Role::Good),
        Some(ToolOutcome::Failed) => ("failed", Role::Bad),
        Some(ToolOutcome::Denied) => ("denied", Role::Warning),
    };
    let mut end = Vec::new();
    if !tool.patches.is_empty() {
        let added = tool.patches.iter().map(|patch| patch.added).fold(0, u32::saturating_add);
        let removed = tool.patches.iter().map(|patch| patch.removed).fold(0, u32::saturating_add);
        end.push(Span::raw("  "));
        end.extend(diff_counts(added, removed, theme));
    }
    end.push(Span::raw("  "));
    end.push(Span::styled(outcome, theme.style(role)));
    if let Some(ms) = tool.duration_ms {
        end.push(Span::styled(format!(" {}", duration(ms)), theme.style(Role::Faint)));
    }
    let used: usize = end.iter().map(|span| width(&span.content)).sum();
    let room = paper.columns.saturating_sub(used + 2);
    let mark = if is_open { "▾ " } else { "▸ " };
    // Limit the tool name to leave room for the summary.
    let name = cut(&tool.tool, room.min((room / 2).max(16)));
    let summary = cut(&tool.summary, room.saturating_sub(width(&name) + 1));
    let gap = if summary.is_empty() { "" } else { " " };
    let mut spans = vec![
        Span::styled(mark, theme.style(Role::Faint)),
        Span::styled(name, theme.style(Role::Heading)),
        Span::raw(gap),
        Span::raw(summary),
    ];
    spans.extend(end);
    Line::from(spans)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "# One\n\nTwo three\nfour\n\n- a\n- b\n\n- c\n\n```rust\nfn a() {}\n\nlet b;\n```\n\nEnd of it\n\n> q\n\n| a |\n|---|\n| b |\n";

    fn cell(text: &str, revision: u32) -> Cell {
        let kind = CellKind::Assistant { text: text.to_owned(), is_interrupted: false };
        Cell { id: 0, kind, is_open: false, revision, sequence: None }
    }

    fn laid(text: &str) -> Vec<String> {
        let paper = Paper { columns: 40, theme: Theme::default() };
        let mut laid = CellLayout::new(paper);
        laid.refresh(&cell(text, 0), paper);
        laid.lines.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_is_written_piece_by_piece_looks_as_if_it_came_at_once() {
        let paper = Paper { columns: 40, theme: Theme::default() };
        let mut growing = CellLayout::new(paper);
        for until in 0..=TEXT.len() {
            growing.refresh(&cell(&TEXT[..until], u32::try_from(until).unwrap()), paper);
        }
        assert!(growing.settled_bytes > 0);
        let lines: Vec<String> = growing.lines.iter().map(ToString::to_string).collect();
        assert_eq!(lines, laid(TEXT));
        let whole = markdown::lines(TEXT, 40, Theme::default());
        assert_eq!(lines, whole.iter().map(ToString::to_string).collect::<Vec<_>>());
    }

    #[test]
    fn an_open_fence_is_found() {
        assert_eq!(open_fence("a\n```rust\nb"), Some("```rust"));
        assert_eq!(open_fence("a\n```rust\nb\n```\n"), None);
    }

    proptest! {
        #[test]
        fn text_may_grow_by_any_pieces(cuts in prop::collection::vec(0..TEXT.len(), 0..12)) {
            let mut cuts = cuts;
            cuts.sort_unstable();
            let paper = Paper { columns: 40, theme: Theme::default() };
            let mut growing = CellLayout::new(paper);
            for until in cuts.into_iter().chain([TEXT.len()]) {
                growing.refresh(&cell(&TEXT[..until], u32::try_from(until).unwrap()), paper);
            }
            let lines: Vec<String> = growing.lines.iter().map(ToString::to_string).collect();
            prop_assert_eq!(lines, laid(TEXT));
        }
    }
}
