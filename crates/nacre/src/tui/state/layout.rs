//! Cells as lines of the screen.
//!
//! Only what is on the screen is laid out. What an agent is writing is laid out piece by piece: a block of Markdown that is complete is
//! not read again while the next one grows.

use nacre_api::wire::ToolOutcome;
use ratatui_core::text::{Line, Span};

use super::super::text::{cut, duration, width};
use super::super::theme::{Role, Theme};
use super::super::wrap::{Break, Indent, wrap};
use super::super::{diff, markdown};
use super::cell::{Cell, CellKind, Tone, ToolCell};

/// What lines depend on besides the cell itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Paper {
    pub(crate) columns: usize,
    pub(crate) theme: Theme,
}

/// The lines of a cell, and what they were made of.
#[derive(Clone, Debug)]
pub(crate) struct Laid {
    paper: Paper,
    revision: u32,
    is_open: bool,
    pub(crate) lines: Vec<Line<'static>>,
    /// How much of the text is in lines that stay.
    settled_bytes: usize,
    settled_lines: usize,
    /// When it was last wanted.
    pub(crate) wanted: u64,
}

impl Laid {
    pub(crate) fn new(paper: Paper) -> Self {
        Self {
            paper,
            revision: u32::MAX,
            is_open: false,
            lines: Vec::new(),
            settled_bytes: 0,
            settled_lines: 0,
            wanted: 0,
        }
    }

    /// Makes the lines those of the cell as it is now.
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
            CellKind::Notice { text, tone } => self.lines = notice(text, *tone, paper),
        }
    }

    fn lay_markdown(&mut self, text: &str, is_interrupted: bool) {
        // A text that was replaced by a shorter one is read from its beginning.
        if text.len() < self.settled_bytes {
            (self.settled_bytes, self.settled_lines) = (0, 0);
        }
        self.lines.truncate(self.settled_lines);
        let settled = settled_until(&text[self.settled_bytes..]);
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

/// Up to where no words that follow can change what a text looks like: the last beginning of a block after an empty line.
fn settled_until(text: &str) -> usize {
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

/// Whether a line after an empty one belongs to nothing before it: it is no part of a list or of a quote.
fn opens_block(line: &str) -> bool {
    let is_item = |line: &str| {
        let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let has_number = digits.len() < line.len();
        line.starts_with(['-', '*', '+', '>', '|'])
            || (has_number && digits.starts_with(['.', ')']))
    };
    !line.starts_with([' ', '\n']) && !is_item(line)
}

/// The line that opens the fence in which a text ends.
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
    let mut indent = Indent { first: vec![Span::styled(mark, style)], rest: vec![Span::raw("  ")] };
    let mut lines = Vec::new();
    for line in text.lines() {
        let span = Span::styled(line.to_owned(), style);
        lines.extend(wrap(&[span], paper.columns, &indent, Break::Words));
        indent = Indent::spaces(2);
    }
    for attachment in attachments {
        let span = Span::styled(attachment.clone(), paper.theme.style(Role::Faint));
        lines.extend(wrap(&[span], paper.columns, &Indent::spaces(2), Break::Words));
    }
    lines
}

fn reasoning(text: &str, is_open: bool, paper: Paper) -> Vec<Line<'static>> {
    let style = paper.theme.style(Role::Faint);
    if !is_open {
        let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        return vec![Line::styled(cut(&format!("▸ thinking: {last}"), paper.columns), style)];
    }
    let mut lines = vec![Line::styled("▾ thinking", style)];
    for line in text.lines() {
        let span = Span::styled(line.to_owned(), style);
        lines.extend(wrap(&[span], paper.columns, &Indent::spaces(2), Break::Words));
    }
    lines
}

fn tool_lines(tool: &ToolCell, is_open: bool, paper: Paper) -> Vec<Line<'static>> {
    let mut lines = vec![tool_heading(tool, is_open, paper)];
    if !is_open {
        return lines;
    }
    let indent = Indent::spaces(4);
    let style = paper.theme.style(Role::Faint);
    if width(&tool.summary) + tool.tool.len() + 24 > paper.columns {
        let summary = Span::raw(tool.summary.clone());
        lines.extend(wrap(&[summary], paper.columns, &indent, Break::Anywhere));
    }
    for line in tool.text.lines() {
        let span = Span::styled(line.to_owned(), style);
        lines.extend(wrap(&[span], paper.columns, &indent, Break::Anywhere));
    }
    for patch in &tool.patches {
        lines.extend(patch_lines(patch, paper, 2));
    }
    lines
}

/// A changed file: its path, how much changed, and the diff.
pub(crate) fn patch_lines(
    patch: &nacre_api::wire::FilePatch,
    paper: Paper,
    indent: usize,
) -> Vec<Line<'static>> {
    let room = paper.columns.saturating_sub(indent + 16);
    let mut heading = vec![Span::raw(" ".repeat(indent)), Span::raw(cut(&patch.path, room))];
    heading.push(Span::raw("  "));
    heading.extend(diff::counts(patch.added, patch.removed, paper.theme));
    let mut lines = vec![Line::from(heading)];
    lines.extend(diff::lines(&patch.diff, paper.columns, &Indent::spaces(indent + 2), paper.theme));
    lines
}

/// A call on one line: what, on what, and how it went.
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
        end.extend(diff::counts(added, removed, theme));
    }
    end.push(Span::raw("  "));
    end.push(Span::styled(outcome, theme.style(role)));
    if let Some(ms) = tool.duration_ms {
        end.push(Span::styled(format!(" {}", duration(ms)), theme.style(Role::Faint)));
    }
    let used: usize = end.iter().map(|span| width(&span.content)).sum();
    let room = paper.columns.saturating_sub(used + 2);
    let mark = if is_open { "▾ " } else { "▸ " };
    let name = cut(&tool.tool, room);
    let summary = cut(&tool.summary, room.saturating_sub(width(&name) + 1));
    let mut spans = vec![
        Span::styled(mark, theme.style(Role::Faint)),
        Span::styled(name, theme.style(Role::Heading)),
        Span::raw(" "),
        Span::raw(summary),
    ];
    spans.extend(end);
    Line::from(spans)
}

fn notice(text: &str, tone: Tone, paper: Paper) -> Vec<Line<'static>> {
    let style = paper.theme.style(match tone {
        Tone::Faint => Role::Faint,
        Tone::Good => Role::Good,
        Tone::Warning => Role::Warning,
        Tone::Bad => Role::Bad,
    });
    let indent = Indent::default();
    let line = |line: &str| {
        wrap(&[Span::styled(line.to_owned(), style)], paper.columns, &indent, Break::Words)
    };
    text.lines().flat_map(line).collect()
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
        let mut laid = Laid::new(paper);
        laid.refresh(&cell(text, 0), paper);
        laid.lines.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_is_written_piece_by_piece_looks_as_if_it_came_at_once() {
        let paper = Paper { columns: 40, theme: Theme::default() };
        let mut growing = Laid::new(paper);
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
            let mut growing = Laid::new(paper);
            for until in cuts.into_iter().chain([TEXT.len()]) {
                growing.refresh(&cell(&TEXT[..until], u32::try_from(until).unwrap()), paper);
            }
            let lines: Vec<String> = growing.lines.iter().map(ToString::to_string).collect();
            prop_assert_eq!(lines, laid(TEXT));
        }
    }
}
