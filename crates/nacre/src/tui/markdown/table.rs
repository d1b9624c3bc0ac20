//! Tables of Markdown: columns as wide as their words, cut where the screen ends.

use ratatui_core::text::{Line, Span};

use super::super::text::{cut, width};
use super::super::theme::{Role, Theme};

/// Between two columns.
const GAP: usize = 2;

/// A column is not made narrower than this.
const MIN_COLUMN: usize = 3;

/// The rows that were read so far; the first is the heading.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn begin_row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub(super) fn add_cell(&mut self, spans: &[Span<'static>]) {
        let text = spans.iter().map(|span| span.content.as_ref()).collect();
        if let Some(row) = self.rows.last_mut() {
            row.push(text);
        }
    }

    pub(super) fn lines(&self, columns: usize, theme: Theme) -> Vec<Line<'static>> {
        let widths = self.widths(columns);
        let mut lines = Vec::new();
        for (idx, row) in self.rows.iter().enumerate() {
            let style = theme.style(if idx == 0 { Role::Heading } else { Role::Text });
            lines.push(Line::styled(line(row, &widths), style));
            if idx == 0 {
                let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(Line::styled(line(&rules, &widths), theme.style(Role::Faint)));
            }
        }
        lines
    }

    /// How wide each column is. The widest give way until all fit.
    fn widths(&self, columns: usize) -> Vec<usize> {
        let n_columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widest = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell)).max()
        };
        let mut widths: Vec<usize> =
            (0..n_columns).map(|column| widest(column).unwrap_or(0).clamp(1, 200)).collect();
        let room = columns.saturating_sub(GAP * n_columns.saturating_sub(1));
        while widths.iter().sum::<usize>() > room {
            let Some(widest) = widths.iter_mut().max().filter(|width| **width > MIN_COLUMN) else {
                break;
            };
            *widest -= 1;
        }
        widths
    }
}

fn line(row: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for (cell, column) in row.iter().zip(widths) {
        let cell = cut(cell, *column);
        line.push_str(&cell);
        line.push_str(&" ".repeat(column - width(&cell) + GAP));
    }
    line.truncate(line.trim_end().len());
    line
}
