//! Splits Markdown into headings, list items, paragraphs, code and tables, with line numbers.
//! Designed for instruction files, but handles any text in linear time.

use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) kind: PieceKind,
    /// The piece's text, joined into one line. Only code keeps its line breaks.
    pub(super) text: String,
    pub(super) lines: Range<usize>,
    pub(super) indent: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PieceKind {
    Heading {
        level: usize,
    },
    Item,
    Paragraph,
    /// Code, including its fences.
    Code,
    Table,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FrontMatter {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) globs: String,
    pub(super) memory_type: String,
}

/// A longer section between `---` lines is not front matter.
const MAX_FRONT_LINES: usize = 64;

pub(super) fn front_matter(lines: &[&str]) -> (FrontMatter, usize) {
    let mut front = FrontMatter::default();
    if lines.first().is_none_or(|line| line.trim_end() != "---") {
        return (front, 0);
    }
    let end = lines.iter().take(MAX_FRONT_LINES).skip(1).position(|line| line.trim_end() == "---");
    let Some(end) = end else { return (front, 0) };
    for line in &lines[1..=end] {
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim().trim_matches(['"', '\'']).to_owned();
        match key.trim() {
            "name" => front.name = value,
            "description" => front.description = value,
            "globs" => front.globs = value,
            "type" => front.memory_type = value,
            _ => {}
        }
    }
    (front, end + 2)
}

pub(super) fn pieces(lines: &[&str], from: usize) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut at = from;
    while at < lines.len() {
        let line = lines[at];
        let begin = at;
        let kind = kind_of(line);
        at = match kind {
            LineKind::Blank | LineKind::Rule | LineKind::Heading(_) => at + 1,
            LineKind::Comment => comment_end(lines, at),
            LineKind::Fence => fence_end(lines, at),
            LineKind::Table => {
                at + count_while(&lines[at..], |line| kind_of(line) == LineKind::Table)
            }
            LineKind::Item | LineKind::Text => {
                at + 1 + count_while(&lines[at + 1..], |line| kind_of(line) == LineKind::Text)
            }
        };
        let found = match kind {
            LineKind::Blank | LineKind::Rule | LineKind::Comment => None,
            LineKind::Fence => Some(PieceKind::Code),
            LineKind::Table => Some(PieceKind::Table),
            LineKind::Heading(level) => Some(PieceKind::Heading { level }),
            LineKind::Item => Some(PieceKind::Item),
            LineKind::Text => {
                Some(find_underline_heading(lines, begin, at).unwrap_or(PieceKind::Paragraph))
            }
        };
        let Some(kind) = found else { continue };
        let words = words_of(kind, &lines[begin..at]);
        pieces.push(Piece { kind, text: words, lines: begin..at, indent: indent_of(line) });
        at += usize::from(
            matches!(kind, PieceKind::Heading { .. }) && kind_of(line) == LineKind::Text,
        );
    }
    pieces
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineKind {
    Blank,
    Rule,
    Comment,
    Fence,
    Table,
    Heading(usize),
    Item,
    Text,
}

fn kind_of(line: &str) -> LineKind {
    let text = line.trim();
    let n_hashes = count_while_char(text, '#');
    let is_rule = |mark: char| text.len() >= 3 && text.chars().all(|c| c == mark || c == ' ');
    if text.is_empty() {
        LineKind::Blank
    } else if ['-', '*', '_', '='].into_iter().any(is_rule) {
        LineKind::Rule
    } else if text.starts_with("<!--") {
        LineKind::Comment
    } else if text.starts_with("```") || text.starts_with("~~~") {
        LineKind::Fence
    } else if text.starts_with('|') {
        LineKind::Table
    } else if (1..=6).contains(&n_hashes) && text[n_hashes..].starts_with([' ', '\t']) {
        LineKind::Heading(n_hashes)
    } else if item_text(text).is_some() {
        LineKind::Item
    } else {
        LineKind::Text
    }
}

fn item_text(text: &str) -> Option<&str> {
    let bullet = text.strip_prefix(['-', '*', '+', '•']);
    let rest = bullet.or_else(|| {
        let n_digits = text.bytes().take_while(u8::is_ascii_digit).count();
        (1..=3).contains(&n_digits).then(|| text[n_digits..].strip_prefix(['.', ')']))?
    })?;
    rest.starts_with([' ', '\t']).then(|| rest.trim())
}

/// Returns the heading kind of a one-line paragraph that is underlined with `===` or `---`.
fn find_underline_heading(lines: &[&str], begin: usize, end: usize) -> Option<PieceKind> {
    let under = lines.get(end)?.trim();
    let is_under = |mark: char| under.len() >= 3 && under.chars().all(|c| c == mark);
    if end - begin != 1 {
        None
    } else if is_under('=') {
        Some(PieceKind::Heading { level: 1 })
    } else if is_under('-') {
        Some(PieceKind::Heading { level: 2 })
    } else {
        None
    }
}

fn comment_end(lines: &[&str], at: usize) -> usize {
    let n_open = count_while(&lines[at..], |line| !line.contains("-->"));
    (at + n_open + 1).min(lines.len())
}

/// Returns the index of the line after a code block. An unclosed block extends to the end of the
/// text.
fn fence_end(lines: &[&str], at: usize) -> usize {
    let open = lines[at].trim();
    let mark = if open.starts_with('~') { '~' } else { '`' };
    let n_marks = count_while_char(open, mark);
    let closes = |line: &&str| {
        let text = line.trim();
        count_while_char(text, mark) >= n_marks && text.chars().all(|c| c == mark)
    };
    let inner = lines[at + 1..].iter().position(closes);
    inner.map_or(lines.len(), |n_lines| at + n_lines + 2)
}

fn words_of(kind: PieceKind, lines: &[&str]) -> String {
    let plain = |line: &str| line.trim().trim_start_matches(['>', ' ']).trim().to_owned();
    match kind {
        PieceKind::Code | PieceKind::Table => unindent(lines),
        PieceKind::Heading { .. } => {
            let text = lines.first().map_or("", |line| line.trim());
            text.trim_start_matches('#').trim_end_matches('#').trim().to_owned()
        }
        PieceKind::Item => {
            let first = lines.first().and_then(|line| item_text(line.trim())).unwrap_or_default();
            let rest = lines.iter().skip(1).map(|line| plain(line));
            std::iter::once(first.to_owned()).chain(rest).collect::<Vec<_>>().join(" ")
        }
        PieceKind::Paragraph => lines.iter().map(|line| plain(line)).collect::<Vec<_>>().join(" "),
    }
}

/// Removes the first line's indentation from all lines.
fn unindent(lines: &[&str]) -> String {
    let first = lines.first().map_or(0, |line| line.len() - line.trim_start().len());
    let cut = |line: &&str| {
        let n_blank = line.len() - line.trim_start().len();
        // A whitespace character can be several bytes long.
        let end = line.floor_char_boundary(first.min(n_blank));
        line[end..].trim_end().to_owned()
    };
    lines.iter().map(cut).collect::<Vec<_>>().join("\n")
}

fn indent_of(line: &str) -> usize {
    let blanks = line.chars().take_while(|c| c.is_whitespace());
    blanks.map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

fn count_while(lines: &[&str], is_one: impl Fn(&str) -> bool) -> usize {
    lines.iter().take_while(|line| is_one(line)).count()
}

fn count_while_char(text: &str, wanted: char) -> usize {
    text.chars().take_while(|c| *c == wanted).count()
}
