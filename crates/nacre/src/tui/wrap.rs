//! Lines that fit a width: broken between words where it can be, measured as the terminal measures.

use ratatui_core::style::Style;
use ratatui_core::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation as _;

use super::text::{grapheme_width, width};

/// Where a line may be broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Break {
    /// Between words, and inside a word that is longer than a line.
    Words,
    /// Anywhere: code and output keep their spaces.
    Anywhere,
}

/// What stands before the text of a line.
#[derive(Clone, Debug, Default)]
pub(super) struct Indent {
    /// Of the first line.
    pub(super) first: Vec<Span<'static>>,
    /// Of those that follow.
    pub(super) rest: Vec<Span<'static>>,
}

impl Indent {
    /// The same number of spaces before each line.
    pub(super) fn spaces(n: usize) -> Self {
        let spaces = || if n == 0 { Vec::new() } else { vec![Span::raw(" ".repeat(n))] };
        Self { first: spaces(), rest: spaces() }
    }
}

/// One character of a line that is being broken.
struct Piece<'t> {
    text: &'t str,
    width: usize,
    style: Style,
}

/// Breaks one line of text, which has no line breaks inside.
pub(super) fn wrap(
    spans: &[Span<'static>],
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
    let pieces = pieces(spans);
    let mut lines = Vec::new();
    let mut at = 0;
    while at < pieces.len() {
        let before = if lines.is_empty() { &indent.first } else { &indent.rest };
        let end = line_end(&pieces, at, room(before), breaks);
        let mut line = before.clone();
        join(&pieces[at..end.shown], &mut line);
        lines.push(Line::from(line));
        at = end.next;
    }
    lines
}

fn pieces<'t>(spans: &'t [Span<'static>]) -> Vec<Piece<'t>> {
    let of_span = |span: &'t Span<'static>| {
        let style = span.style;
        span.content.graphemes(true).map(move |text| Piece {
            text,
            width: grapheme_width(text),
            style,
        })
    };
    spans.iter().flat_map(of_span).collect()
}

/// Where a line ends, and where the next one begins.
struct LineEnd {
    shown: usize,
    next: usize,
}

fn line_end(pieces: &[Piece<'_>], begin: usize, room: usize, breaks: Break) -> LineEnd {
    let mut used = 0;
    let mut word_break = None;
    for (idx, piece) in pieces.iter().enumerate().skip(begin) {
        used += piece.width;
        if used > room && idx > begin {
            return match (breaks, word_break) {
                (Break::Words, _) if piece.text == " " => LineEnd { shown: idx, next: idx + 1 },
                (Break::Words, Some(end)) => end,
                (Break::Words, None) | (Break::Anywhere, _) => LineEnd { shown: idx, next: idx },
            };
        }
        if piece.text == " " {
            word_break = Some(LineEnd { shown: idx, next: idx + 1 });
        } else if piece.width == 2 || piece.text == "-" {
            word_break = Some(LineEnd { shown: idx + 1, next: idx + 1 });
        }
    }
    LineEnd { shown: pieces.len(), next: pieces.len() }
}

/// Puts characters of one style together again.
fn join(pieces: &[Piece<'_>], line: &mut Vec<Span<'static>>) {
    let mut text = String::new();
    let mut style = None;
    for piece in pieces {
        if style != Some(piece.style) {
            if let Some(style) = style.filter(|_| !text.is_empty()) {
                line.push(Span::styled(std::mem::take(&mut text), style));
            }
            style = Some(piece.style);
        }
        text.push_str(piece.text);
    }
    if let Some(style) = style.filter(|_| !text.is_empty()) {
        line.push(Span::styled(text, style));
    }
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
