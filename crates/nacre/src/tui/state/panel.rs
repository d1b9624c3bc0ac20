//! What lies over the transcript: a list to choose from, or a text to read.

use nacre_api::wire::FilePatch;
use ratatui_core::text::{Line, Span};

use super::layout::{Paper, patch_lines};
use crate::tui::commands::COMMANDS;
use crate::tui::keys::{BINDINGS, Place};
use crate::tui::text::width;
use crate::tui::theme::Role;
use crate::tui::wrap::{Break, Indent, wrap};

/// A list or a text.
#[derive(Clone, Debug)]
pub(crate) enum Panel {
    List(ListPanel),
    Page(PagePanel),
}

/// What a list is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListKind {
    Sessions,
    Hits,
    Memories,
    Skills,
}

/// Something to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListRow {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) detail: String,
}

/// A list, and what is chosen of it.
#[derive(Clone, Debug)]
pub(crate) struct ListPanel {
    pub(crate) kind: ListKind,
    pub(crate) title: String,
    pub(crate) rows: Vec<ListRow>,
    pub(crate) selected: usize,
    /// The first row on the screen.
    pub(crate) first: usize,
    /// What is said where there are no rows.
    pub(crate) empty: &'static str,
}

impl ListPanel {
    pub(crate) fn new(
        kind: ListKind,
        title: &str,
        rows: Vec<ListRow>,
        empty: &'static str,
    ) -> Self {
        Self { kind, title: title.to_owned(), rows, selected: 0, first: 0, empty }
    }

    pub(crate) fn select(&mut self, by: isize) {
        let last = self.rows.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(by).min(last);
    }

    pub(crate) fn chosen(&self) -> Option<&ListRow> {
        self.rows.get(self.selected)
    }
}

/// What a page shows.
#[derive(Clone, Debug)]
pub(crate) enum PageBody {
    Help,
    Patches(Vec<FilePatch>),
    Text(String),
}

/// A text, and where the person reads.
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
            PageBody::Text(text) => text
                .lines()
                .flat_map(|line| {
                    let span = Span::raw(line.to_owned());
                    wrap(&[span], paper.columns, &Indent::default(), Break::Words)
                })
                .collect(),
        };
    }
}

impl Panel {
    /// Keeps what is shown inside of what there is.
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

/// Keys and commands, from their tables.
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
    for place in Place::ALL {
        lines.push(Line::default());
        lines.push(heading(place.title()));
        for binding in BINDINGS.iter().filter(|binding| binding.place == place) {
            lines.extend(row(binding.keys, column, binding.help));
        }
    }
    lines
}
