//! Wraps lines to a width, between words where possible.

use ratatui_core::style::Style;
use ratatui_core::text::{Line, Span, StyledGrapheme};

use super::text::{grapheme_width, width};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Break {
    /// At word boundaries, or within a word that is longer than a line.
    Words,
    /// At any character. Used for code and output, whose spaces are preserved.
    Anywhere,
}

/// How far to indent the first line and the lines after it.
#[derive(Clone, Debug, Default)]
pub(super) struct Indent {
    pub(super) first: Vec<Span<'static>>,
    pub(super) rest: Vec<Span<'static>>,
}

impl Indent {
    pub(super) fn spaces(n: usize) -> Self {
        let spaces = || if n == 0 { Vec::new() } else { vec![Span::raw(" ".repeat(n))] };
        Self { first: spaces(), rest: spaces() }
    }
}

pub(super) fn wrap_text(
    text: &str,
    style: Style,
    columns: usize,
    indent: &Indent,
    breaks: Break,
) -> Vec<Line<'static>> {
    let wrap_line =
        |line: &str| wrap(&[Span::styled(line.to_owned(), style)], columns, indent, breaks);
    text.lines().flat_map(wrap_line).collect()
}

/// Wraps a single line, which contains no line breaks.
pub(super) fn wrap<'s>(
    spans: &'s [Span<'static>],
    columns: usize,
    indent: &Indent,
    breaks: Break,
) -> Vec<Line<'static>> {
    let room = |before: &[Span<'static>]| {
        columns.saturating_sub(before.iter().map(|span| width(&span.content)).sum()).max(1)
    };
    let total: usize = spans.iter().map(|span| width(&span.content)).sum();
    if total <= room(&indent.first) {
        let mut line = indent.first.clone();
        line.extend(spans.iter().filter(|span| !span.content.is_empty()).cloned());
        return vec![Line::from(line)];
    }
    let styled = |span: &'s Span<'static>| span.styled_graphemes(Style::default());
    let pieces: Vec<StyledGrapheme<'_>> = spans.iter().flat_map(styled).collect();
    let mut lines = Vec::new();
    let mut at = 0;
    while at < pieces.len() {
        let before = if lines.is_empty() { &indent.first } else { &indent.rest };
        let (end, next) = line_end(&pieces, at, room(before), breaks);
        let mut line = before.clone();
        for run in pieces[at..end].chunk_by(|one, next| one.style == next.style) {
            let text: String = run.iter().map(|piece| piece.symbol).collect();
            line.push(Span::styled(text, run[0].style));
        }
        lines.push(Line::from(line));
        at = next;
    }
    lines
}

fn line_end(
    pieces: &[StyledGrapheme<'_>],
    begin: usize,
    room: usize,
    breaks: Break,
) -> (usize, usize) {
    let mut used = 0;
    let mut word_break = None;
    for (idx, piece) in pieces.iter().enumerate().skip(begin) {
        let width = grapheme_width(piece.symbol);
        used += width;
        if used > room && idx > begin {
            return match (breaks, word_break) {
                (Break::Words, _) if piece.symbol == " " => (idx, idx + 1),
                (Break::Words, Some(end)) => end,
                (Break::Words, None) | (Break::Anywhere, _) => (idx, idx),
            };
        }
        if piece.symbol == " " {
            word_break = Some((idx, idx + 1));
        } else if width == 2 || piece.symbol == "-" {
            word_break = Some((idx + 1, idx + 1));
        }
    }
    (pieces.len(), pieces.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, columns: usize, breaks: Break, expected: &[&str]) {
        let lines = wrap(&[Span::raw(text.to_owned())], columns, &Indent::default(), breaks);
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        assert_eq!(lines, expected, "{text}");
    }

    #[test]
    fn lines_are_broken_between_words() {
        check("one two three", 8, Break::Words, &["one two", "three"]);
        check("one two three", 7, Break::Words, &["one two", "three"]);
        check("incomprehensible", 6, Break::Words, &["incomp", "rehens", "ible"]);
        check("日本語の文", 4, Break::Words, &["日本", "語の", "文"]);
        check("a  b", 80, Break::Words, &["a  b"]);
        check("let x = 1;", 6, Break::Anywhere, &["let x ", "= 1;"]);
        check("", 10, Break::Words, &[""]);
    }

    #[test]
    fn the_indent_of_later_lines_is_their_own() {
        let indent = Indent { first: vec![Span::raw("- ")], rest: vec![Span::raw("  ")] };
        let lines = wrap(&[Span::raw("one two three")], 9, &indent, Break::Words);
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        assert_eq!(lines, ["- one two", "  three"]);
    }

    proptest! {
        #[test]
        fn no_line_is_wider_and_nothing_is_lost(text in "[a-z \u{4e00}-\u{4e20}é🙂-]{0,80}", columns in 2usize..30) {
            let spans = [Span::raw(text.clone())];
            let lines = wrap(&spans, columns, &Indent::default(), Break::Anywhere);
            let all: String = lines.iter().map(ToString::to_string).collect();
            prop_assert_eq!(all, text);
            for breaks in [Break::Words, Break::Anywhere] {
                let lines = wrap(&spans, columns, &Indent::default(), breaks);
                prop_assert!(lines.iter().all(|line| width(&line.to_string()) <= columns));
            }
        }
    }
}
