//! Renders Markdown for the terminal.
//!
//! While an answer is streamed, its text may be incomplete, so everything after an unclosed fence
//! is shown as code. HTML is shown as text, and links are shown with their URL.

use super::highlight::Highlighter;
use super::text::{cut, width};
use super::theme::{Role, Theme};
use super::wrap::{Break, Indent, wrap};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use ratatui_core::style::{Modifier, Style};
use ratatui_core::text::{Line, Span};

/// Lists nested deeper than this are not indented further.
const MAX_DEPTH: usize = 12;

pub(super) fn lines(text: &str, columns: usize, theme: Theme) -> Vec<Line<'static>> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut page = Page { columns, theme, ..Page::default() };
    for event in Parser::new_ext(text, options) {
        page.take(event);
    }
    page.end_block();
    page.lines
}

#[derive(Default)]
struct Page {
    columns: usize,
    theme: Theme,
    lines: Vec<Line<'static>>,
    spans: Vec<Span<'static>>,
    styles: Vec<Style>,
    /// The next item number in each open list; `None` for unordered lists.
    lists: Vec<Option<u64>>,
    /// The marker of a list item that has not been drawn yet. It appears at the start of the next
    /// line.
    mark: Option<String>,
    n_quotes: usize,
    code: Option<(Highlighter, String)>,
    table: Option<Vec<Vec<String>>>,
    link: Option<String>,
    wants_gap: bool,
}

impl Page {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text, self.style()),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.text(&text, self.style().patch(self.theme.style(Role::Code)));
            }
            Event::Html(text) | Event::InlineHtml(text) => {
                self.text(text.trim_end_matches('\n'), self.theme.style(Role::Faint));
            }
            Event::FootnoteReference(name) => self.text(&format!("[^{name}]"), self.style()),
            Event::SoftBreak => self.text(" ", self.style()),
            Event::HardBreak => self.flush(),
            Event::Rule => {
                self.end_block();
                let rule = "─".repeat(self.columns.min(40));
                self.lines.push(Line::styled(rule, self.theme.style(Role::Faint)));
                self.wants_gap = true;
            }
            Event::TaskListMarker(is_done) => {
                self.mark = Some(if is_done { "[x] ".to_owned() } else { "[ ] ".to_owned() });
            }
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "other tags have no style")]
    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph if self.mark.is_none() => self.begin_block(),
            Tag::Heading { level, .. } => {
                self.begin_block();
                let style = self.theme.style(Role::Heading);
                let is_top = matches!(level, HeadingLevel::H1);
                self.styles.push(if is_top {
                    style.add_modifier(Modifier::UNDERLINED)
                } else {
                    style
                });
            }
            Tag::BlockQuote(_) => {
                self.begin_block();
                self.n_quotes += 1;
            }
            Tag::CodeBlock(kind) => {
                self.begin_block();
                let language = match &kind {
                    CodeBlockKind::Fenced(language) => language.as_ref(),
                    CodeBlockKind::Indented => "",
                };
                self.code = Some((Highlighter::new(language, self.theme), String::new()));
            }
            Tag::List(first) => {
                if self.lists.is_empty() {
                    self.begin_block();
                } else {
                    self.flush();
                }
                self.lists.push(first);
            }
            Tag::Item => {
                self.flush();
                self.mark = Some(self.item_mark());
                self.wants_gap = false;
            }
            Tag::Table(_) => {
                self.begin_block();
                self.table = Some(Vec::new());
            }
            Tag::TableHead | Tag::TableRow => {
                self.table.iter_mut().for_each(|rows| rows.push(Vec::new()));
            }
            Tag::Emphasis => self.styles.push(Style::new().add_modifier(Modifier::ITALIC)),
            Tag::Strong => self.styles.push(Style::new().add_modifier(Modifier::BOLD)),
            Tag::Strikethrough => {
                self.styles.push(Style::new().add_modifier(Modifier::CROSSED_OUT));
            }
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.link = Some(dest_url.into_string());
                self.styles.push(self.theme.style(Role::Link));
            }
            _ => {}
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "other tags have no style")]
    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.end_block(),
            TagEnd::Heading(_) => {
                self.end_block();
                self.styles.pop();
            }
            TagEnd::BlockQuote(_) => {
                self.end_block();
                self.n_quotes = self.n_quotes.saturating_sub(1);
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
                self.wants_gap = self.lists.is_empty();
            }
            TagEnd::Item => {
                self.flush();
                // An empty item also needs its marker.
                if let Some(mark) = self.mark.take() {
                    self.put(&[Span::raw(mark)], Break::Words);
                }
                self.wants_gap = false;
            }
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    self.lines.extend(table_lines(&table, self.columns, self.theme));
                }
                self.wants_gap = true;
            }
            TagEnd::TableCell => {
                let spans = std::mem::take(&mut self.spans);
                let text = spans.iter().map(|span| span.content.as_ref()).collect();
                if let Some(row) = self.table.as_mut().and_then(|rows| rows.last_mut()) {
                    row.push(text);
                }
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => self.end_link(),
            _ => {}
        }
    }

    fn style(&self) -> Style {
        let base = if self.n_quotes > 0 { self.theme.style(Role::Quote) } else { Style::new() };
        self.styles.iter().fold(base, |style, next| style.patch(*next))
    }

    fn text(&mut self, text: &str, style: Style) {
        if let Some((_, code)) = &mut self.code {
            code.push_str(text);
            return;
        }
        for (idx, line) in text.split('\n').enumerate() {
            if idx > 0 {
                self.flush();
            }
            if !line.is_empty() {
                self.spans.push(Span::styled(line.to_owned(), style));
            }
        }
    }

    fn item_mark(&mut self) -> String {
        match self.lists.last_mut() {
            Some(Some(number)) => {
                let mark = format!("{number}. ");
                *number = number.saturating_add(1);
                mark
            }
            Some(None) | None => "• ".to_owned(),
        }
    }

    /// Adds a link's URL, unless the link text is the same.
    fn end_link(&mut self) {
        self.styles.pop();
        let Some(target) = self.link.take() else { return };
        let is_said = self.spans.last().is_some_and(|span| span.content == target.as_str());
        if !is_said && !target.is_empty() {
            self.text(&format!(" ({target})"), self.theme.style(Role::Faint));
        }
    }

    fn end_code(&mut self) {
        let Some((mut highlighter, code)) = self.code.take() else { return };
        let indent = self.indent(None, 2);
        for line in code.strip_suffix('\n').unwrap_or(&code).split('\n') {
            let spans = highlighter.line(line);
            self.lines.extend(wrap(&spans, self.columns, &indent, Break::Anywhere));
        }
        self.wants_gap = true;
    }

    fn begin_block(&mut self) {
        self.flush();
        if self.wants_gap && !self.lines.is_empty() {
            let quote = self.quote_mark();
            self.lines.push(Line::from(quote));
        }
        self.wants_gap = false;
    }

    fn end_block(&mut self) {
        self.flush();
        self.wants_gap = true;
    }

    fn flush(&mut self) {
        if !self.spans.is_empty() && self.table.is_none() {
            let spans = std::mem::take(&mut self.spans);
            self.put(&spans, Break::Words);
        }
    }

    fn put(&mut self, spans: &[Span<'static>], breaks: Break) {
        let mark = self.mark.take();
        let indent = self.indent(mark.as_deref(), 0);
        self.lines.extend(wrap(spans, self.columns, &indent, breaks));
    }

    fn quote_mark(&self) -> Vec<Span<'static>> {
        let bars = "│ ".repeat(self.n_quotes.min(MAX_DEPTH));
        if bars.is_empty() {
            return Vec::new();
        }
        vec![Span::styled(bars, self.theme.style(Role::Faint))]
    }

    fn indent(&self, mark: Option<&str>, extra: usize) -> Indent {
        let depth = self.lists.len().min(MAX_DEPTH);
        let outer = 2 * depth.saturating_sub(1);
        let own = mark.map_or(if depth > 0 { 2 } else { 0 }, width);
        let mut first = self.quote_mark();
        let mut rest = first.clone();
        match mark {
            Some(mark) => {
                first.push(Span::raw(" ".repeat(outer)));
                first.push(Span::styled(mark.to_owned(), self.theme.style(Role::Accent)));
            }
            None => first.push(Span::raw(" ".repeat(outer + own + extra))),
        }
        rest.push(Span::raw(" ".repeat(outer + own + extra)));
        // A narrow screen has no room for indentation.
        let used: usize = first.iter().map(|span| width(&span.content)).sum();
        if used + 8 > self.columns && mark.is_none() {
            return Indent::default();
        }
        Indent { first, rest }
    }
}

const GAP: usize = 2;

const MIN_COLUMN: usize = 3;

fn table_lines(rows: &[Vec<String>], columns: usize, theme: Theme) -> Vec<Line<'static>> {
    let widths = table_widths(rows, columns);
    let mut lines = Vec::new();
    for (idx, row) in rows.iter().enumerate() {
        let style = theme.style(if idx == 0 { Role::Heading } else { Role::Text });
        lines.push(Line::styled(table_line(row, &widths), style));
        if idx == 0 {
            let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
            lines.push(Line::styled(table_line(&rules, &widths), theme.style(Role::Faint)));
        }
    }
    lines
}

/// Computes the column widths. The widest columns are narrowed until the table fits.
fn table_widths(rows: &[Vec<String>], columns: usize) -> Vec<usize> {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell)).max();
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

fn table_line(row: &[String], widths: &[usize]) -> String {
    let mut line = String::new();
    for (cell, column) in row.iter().zip(widths) {
        let cell = cut(cell, *column);
        line.push_str(&cell);
        line.push_str(&" ".repeat(column - width(&cell) + GAP));
    }
    line.truncate(line.trim_end().len());
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tui::text::clean;

    fn check(text: &str, expected: &[&str]) {
        let lines = lines(text, 30, Theme::default());
        let lines: Vec<String> =
            lines.iter().map(|line| line.to_string().trim_end().to_owned()).collect();
        assert_eq!(lines, expected, "{text}");
    }

    #[test]
    fn blocks_are_lines() {
        check(
            "# Title\n\nOne **two** `three`.\n\nFour",
            &["Title", "", "One two three.", "", "Four"],
        );
        check("- a\n- b\n  - c\n\nend", &["• a", "• b", "  • c", "", "end"]);
        check("3. a\n4. b", &["3. a", "4. b"]);
        check("- [x] done\n- [ ] open", &["[x] done", "[ ] open"]);
        check("> said\n> so\n\nyes", &["│ said so", "", "yes"]);
        check("```rust\nfn a() {\n}\n```\nafter", &["  fn a() {", "  }", "", "after"]);
        check("[docs](https://a.b) and <https://c.d>", &["docs (https://a.b) and", "https://c.d"]);
        check("a\n\n---\n\nb", &["a", "──────────────────────────────", "", "b"]);
        check("<b>bold</b>", &["<b>bold</b>"]);
    }

    #[test]
    fn an_open_fence_is_code() {
        check("```sh\necho **a**", &["  echo **a**"]);
    }

    #[test]
    fn tables_have_columns() {
        check(
            "| name | n |\n|---|---|\n| a | 1 |\n| longer | 22 |",
            &["name    n", "──────  ──", "a       1", "longer  22"],
        );
    }

    proptest! {
        #[test]
        fn any_text_fits(text in "[-a-z0-9#>*_`~|\\[\\]()<>! \n\t日🙂]{0,200}", columns in 4usize..60) {
            for line in lines(&clean(&text), columns, Theme::default()) {
                prop_assert!(width(&line.to_string()) <= columns.max(30) + 2);
            }
        }
    }
}
