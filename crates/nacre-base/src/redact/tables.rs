//! Finds values that are separated from their names in table cells, columns, rows and field pairs.

use std::ops::Range;

use super::names::{Name, Role};
use super::text::{FoundSecret, Pattern, Secrets, Text, Weight};
use super::{judge, names, value};

const MAX_BACK: usize = 192;

const MAX_AHEAD: usize = 320;

pub(super) struct Pair {
    pub(super) at: usize,
    /// Whether the value is in a table cell, which may contain any text.
    pub(super) is_cell: bool,
}

/// A key such as `name`, whose value is the secret's name. In forms, the key can also specify a
/// field type that marks a password.
static KEYED: Pattern = Pattern::new(concat!(
    r"(?:\A|[^A-Za-z]|\\[nrt])(?i:name|key|label|field|variable|env|parameter|title|(type|id))",
    r"<q>?<_>[:=]<_><q>?\z"
));

/// The key-value pair that holds the value, preceded by at most two other pairs, such as a type or
/// an ID.
static BEHIND: Pattern = Pattern::new(r"(?i)\A(?:<pair>){0,2}<sep><q>?value<q>?<_>[:=]<_>");

/// The key-value pair that holds the value and directly follows the name.
static NEXT: Pattern = Pattern::new(r"(?i)\A<sep><q>?value<q>?<_>[:=]<_>");

/// The key-value pair that holds the value and precedes the pair with the name.
static BEFORE: Pattern = Pattern::new(concat!(
    r"(?:\A|[^A-Za-z]|\\[nrt])(?i:value)<q>?<_>[:=]<_>(<string>|[^\s,\x22'`\\]+)<sep>",
    r"<q>?(?i:name|key|label|field|variable|env|parameter|title)<q>?<_>[:=]<_><q>?\z"
));

/// The key-value pair that holds the value in an inline table: `{ type = string, default = "…" }`.
static BLOCK: Pattern =
    Pattern::new(r"(?i)\A(?:<pair>){0,3}<sep><q>?(?:value|default|plaintext|const)<q>?<_>[:=]<_>");

/// The tags before a name and between the name and its value.
static NAME_TAG: Pattern =
    Pattern::new(r"(?i)<(?:name|key|label|field|variable|env|parameter|title)>\z");
static VALUE_TAG: Pattern = Pattern::new(
    r"(?i)\A</[^>]{0,24}><sep><(?:value|string|val|text|data)>(?:<code>)?(?:<!\[CDATA\[)?",
);
static CELL: Pattern = Pattern::new(r"(?i)<(?:td|th|dt)>\z");
static VALUE_CELL: Pattern = Pattern::new(r"(?i)\A</[^>]{0,24}><sep><(?:td|dd)>(?:<code>)?");

/// The start of a tag named after the secret, as in `<db:password type="plain">…`, and the end of
/// an opening tag.
static TAG: Pattern = Pattern::new(r"<(?:[\w-]{1,24}:)?\z");
static OPENED: Pattern = Pattern::new(r"\A(?: [^<>\n]{0,126}[^<>\n/=-])?><s>(?:<!\[CDATA\[)?");

/// Returns the start of the secret if `name` is itself the value of a key, as in `"name":
/// "password"`, or is enclosed in a tag. `pos` is the end of the name and its quote.
pub(super) fn value_of(text: &Text<'_>, name: &Name, pos: usize) -> Option<Pair> {
    let head = text.behind(name.start, MAX_BACK);
    let rest = text.ahead(pos, MAX_AHEAD);
    let behind = |pattern: &Pattern| pattern.len(rest).map(|n_lead| pos + n_lead);
    // Fast path: for most names, the adjacent bytes rule out both cases.
    if rest.starts_with(b"</") && head.ends_with(b">") {
        let is_cell = CELL.is_match(head);
        let tag = if is_cell { &VALUE_CELL } else { &VALUE_TAG };
        let has_tag = is_cell || NAME_TAG.is_match(head);
        return behind(tag).filter(|_| has_tag).map(|at| Pair { at, is_cell });
    }
    if !rest.first().is_some_and(|byte| b", \t\r\n\\>}/".contains(byte)) {
        return None;
    }
    let is_between = |byte: &&u8| b" \t\"'\\".contains(byte);
    let before = head.iter().rev().find(|byte| !is_between(byte));
    let is_keyed = matches!(before, Some(b':' | b'='))
        && KEYED.is_match(head)
        && (name.role == Role::Password || KEYED.group(head).is_none());
    let is_quoted = pos > name.end;
    let value_before = || {
        let value = BEFORE.group(head)?;
        Some(name.start - head.len() + value.start)
    };
    let mut at = if is_keyed {
        behind(&BEHIND).or_else(value_before)
    } else if is_quoted {
        behind(&NEXT)
    } else {
        None
    };
    if at.is_none() && if is_quoted { is_keyed } else { TAG.is_match(head) } {
        at = behind(&OPENED);
    }
    at.map(|at| Pair { at, is_cell: false })
}

pub(super) fn block_value(text: &Text<'_>, pos: usize) -> Option<usize> {
    BLOCK.len(text.ahead(pos, MAX_AHEAD)).map(|n_lead| pos + n_lead)
}

/// Returns the generated words in a tag called `name` if there is more than one: `<secret>{a1
/// …}</secret>`.
pub(super) fn tag_words(text: &Text<'_>, name: &Name) -> Vec<Range<usize>> {
    let start = name.end + 1;
    if text.at(name.end) != Some(b'>') || !TAG.is_match(text.behind(name.start, MAX_BACK)) {
        return Vec::new();
    }
    let rest = text.ahead(start, MAX_BACK);
    let n_text = memchr::memmem::find(rest, b"</").unwrap_or(0);
    let is_edge = |byte: &u8| byte.is_ascii_whitespace() || b"{}<>[]\"'`\\".contains(byte);
    let mut words = Vec::new();
    let mut at = start;
    for word in rest[..n_text].split(is_edge) {
        if judge::is_random(word) && judge::is_plausible(word) {
            words.push(at..at + word.len());
        }
        at += word.len() + 1;
    }
    words
}

const MAX_LINE: usize = 512;

/// Maximum distance in bytes between a row and its header.
const MAX_BELOW: usize = 4096;

const MAX_TITLE: usize = 40;

pub(super) fn cells(text: &mut Text<'_>, name: &Name, role: Role) -> Vec<Range<usize>> {
    let Some(separator) = separator_beside(text, name) else { return Vec::new() };
    let lines = Lines::around(text, name.end);
    let header = lines.line_around(text, name.start);
    // A row of a table that was already found is not the header of another table.
    let is_row = text.table.start < header.start && header.start < text.table.end;
    if header.len() > MAX_LINE || is_row || !is_header(text, &header, separator) {
        return Vec::new();
    }
    let count = |range: &Range<usize>| {
        memchr::memchr_iter(separator, text.slice(range.start, range.end)).count()
    };
    let column = count(&(header.start..name.start));
    let n_separators = count(&header);
    let limit = text.bytes.len().min(header.end + MAX_BELOW);
    let mut found = Vec::new();
    let mut pos = header.end;
    while let Some(row) = lines.next(text, pos, limit) {
        let is_rule = RULE.is_match(text.slice(row.start, row.end));
        if count(&row) != n_separators && !is_rule {
            break;
        }
        let cell = cell_at(text, &row, separator, column);
        found.extend(cell.filter(|cell| is_secret(text.slice(cell.start, cell.end), role)));
        pos = row.end;
    }
    if pos > header.end {
        text.table = header.start..pos;
    }
    found
}

/// A separator line between the header and the rows: `|---|---|`, `-----+-----`.
static RULE: Pattern = Pattern::new(r"\A[-+|: \r]*-[-+|: \r]*\z");

static CELL_BEFORE: Pattern = Pattern::new(r#"([|,\t])[ "]*\z"#);
static CELL_BEHIND: Pattern = Pattern::new(r#"\A[ "]*([|,\t])"#);
static LINE_START: Pattern = Pattern::new(r#"(?:\A|[\n\r\\n:])[ "]*\z"#);
static LINE_END: Pattern = Pattern::new(r#"\A[ "]*(?:\z|[\n\r\\n:])"#);

fn separator_beside(text: &Text<'_>, name: &Name) -> Option<u8> {
    let head = text.behind(name.start, MAX_TITLE);
    let tail = text.ahead(name.end, MAX_TITLE);
    let before = CELL_BEFORE.group(head).map(|range| head[range.start]);
    let behind = CELL_BEHIND.group(tail).map(|range| tail[range.start]);
    match (before, behind) {
        (Some(before), Some(behind)) => (before == behind).then_some(before),
        (Some(before), None) => LINE_END.is_match(tail).then_some(before),
        (None, Some(behind)) => LINE_START.is_match(head).then_some(behind),
        (None, None) => None,
    }
}

fn is_header(text: &Text<'_>, line: &Range<usize>, separator: u8) -> bool {
    let is_title = |cell: &[u8]| {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b" _-.\"\r/*".contains(byte);
        cell.len() <= MAX_TITLE && cell.iter().all(is_word)
    };
    let line = text.slice(line.start, line.end);
    let is_filled = |cell: &&[u8]| !cell.trim_ascii().is_empty();
    // A list with one argument per line is not a table.
    line.split(|byte| *byte == separator).filter(is_filled).count() > 1
        && line.split(|byte| *byte == separator).all(is_title)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Lines {
    Raw,
    /// Escaped, as in a JSON string. The last line ends at the closing quote.
    Escaped,
}

impl Lines {
    fn around(text: &Text<'_>, pos: usize) -> Self {
        let line = text.ahead(pos, MAX_LINE);
        let line = memchr::memchr(b'\n', line).map_or(line, |at| &line[..at]);
        let is_escaped = memchr::memmem::find(line, b"\\n").is_some();
        if is_escaped { Self::Escaped } else { Self::Raw }
    }

    fn mark(self) -> &'static [u8] {
        match self {
            Self::Raw => b"\n",
            Self::Escaped => b"\\n",
        }
    }

    fn line_len(self, bytes: &[u8]) -> usize {
        let is_quote = |pair: &[u8]| pair[0] != b'\\' && pair[1] == b'"';
        let n_line = memchr::memmem::find(bytes, self.mark()).unwrap_or(bytes.len());
        match self {
            Self::Raw => n_line,
            Self::Escaped => {
                bytes[..n_line].windows(2).position(is_quote).map_or(n_line, |at| at + 1)
            }
        }
    }

    fn line_around(self, text: &Text<'_>, pos: usize) -> Range<usize> {
        let floor = pos.saturating_sub(MAX_LINE);
        let head = text.slice(floor, pos);
        let start = memchr::memmem::rfind(head, self.mark()).map_or(0, |at| at + self.mark().len());
        let quote = memchr::memrchr(b'"', head).filter(|_| self == Self::Escaped);
        let start = floor + quote.map_or(start, |at| start.max(at + 1));
        let rest = text.ahead(pos, MAX_LINE);
        start..pos + self.line_len(rest)
    }

    fn next(self, text: &Text<'_>, end: usize, limit: usize) -> Option<Range<usize>> {
        let start = end + self.mark().len();
        let is_next = text.slice(end, start) == self.mark();
        let n_line = self.line_len(text.slice(start, limit.min(start + MAX_LINE)));
        (is_next && n_line > 0).then_some(start..start + n_line)
    }
}

fn cell_at(
    text: &Text<'_>,
    row: &Range<usize>,
    separator: u8,
    column: usize,
) -> Option<Range<usize>> {
    let line = text.slice(row.start, row.end);
    let cell = line.split(|byte| *byte == separator).nth(column)?;
    let start = row.start + (cell.as_ptr() as usize - line.as_ptr() as usize);
    let is_edge = |byte: &&u8| b" \"'`\r".contains(byte);
    let n_before = cell.iter().take_while(is_edge).count();
    let n_after = cell[n_before..].iter().rev().take_while(is_edge).count();
    Some(start + n_before..start + cell.len() - n_after)
}

fn is_secret(cell: &[u8], role: Role) -> bool {
    let is_word = cell.len() >= 8 && cell.iter().all(u8::is_ascii_graphic);
    let is_quoted = cell.iter().any(|byte| b"\"'`\\()".contains(byte));
    if !is_word || is_quoted || judge::is_reference(cell) || judge::has_placeholder(cell) {
        return false;
    }
    let is_name = cell.iter().all(|byte| byte.is_ascii_alphabetic() || b"_-./".contains(byte));
    match role {
        Role::Password => judge::is_random(cell) || (judge::is_mixed(cell) && !is_name),
        Role::Secret | Role::Token | Role::Key => judge::is_random(cell),
        Role::Credential | Role::Weak => false,
    }
}

const MAX_COLUMNS: usize = 512;

const MAX_ROW: usize = 1024;
const MAX_ROWS: usize = 64;

static COLUMNS: Pattern = Pattern::new(r"\(([^()]*)\)<ws>?\z");

/// A cell that is not a string literal: a number, a variable, a call.
static EXPRESSION: Pattern =
    Pattern::new(r#"\A[^,()"\n;]*(?:\((?:[^()"\n;]|\([^()"\n;]*\))*\))?[^,()"\n;]*"#);

pub(super) fn find_inserted(text: &mut Text<'_>, start: usize, end: usize, found: &mut Secrets) {
    let head = text.behind(start, MAX_COLUMNS);
    let Some(columns) = COLUMNS.group(head) else { return };
    let roles: Vec<Option<Role>> =
        head[columns].split(|byte| *byte == b',').map(names::role_of_column).collect();
    if roles.iter().all(Option::is_none) {
        return;
    }
    let limit = end + MAX_BELOW;
    let mut pos = value::skip_lines(text, start + "values".len());
    for _ in 0..MAX_ROWS {
        let Some(cells) = row_cells(text, pos).filter(|cells| cells.len() == roles.len()) else {
            return;
        };
        let row_end = cells.last().map_or(pos, |cell| cell.end);
        for (role, cell) in roles.iter().zip(cells) {
            let Some((role, literal)) = (*role).zip(cell.literal) else { continue };
            if is_inserted_secret(text.slice(literal.start, literal.end), role) {
                found.push(FoundSecret::new(literal, names::kind_of(role), Weight::Name));
            }
        }
        let next = value::skip_lines(text, value::skip_lines(text, row_end) + 1);
        if text.at(next) != Some(b',') || next > limit {
            return;
        }
        pos = value::skip_lines(text, next + 1);
    }
}

struct Cell {
    literal: Option<Range<usize>>,
    end: usize,
}

fn row_cells(text: &mut Text<'_>, pos: usize) -> Option<Vec<Cell>> {
    let limit = pos + MAX_ROW;
    let mut cells = Vec::new();
    let mut pos = pos + text.rest(pos).starts_with(b"(").then_some(1)?;
    while pos < limit {
        let cell = read_cell(text, value::skip_lines(text, pos))?;
        pos = value::skip_lines(text, cell.end);
        cells.push(cell);
        match text.at(pos)? {
            b',' => pos += 1,
            b')' => return Some(cells),
            _ => return None,
        }
    }
    None
}

fn read_cell(text: &mut Text<'_>, pos: usize) -> Option<Cell> {
    // `N'…'`, `E'…'`
    let has_prefix =
        matches!(text.at(pos), Some(b'N' | b'E')) && value::quote_at(text, pos + 1).is_some();
    let at = pos + usize::from(has_prefix);
    if value::quote_at(text, at).is_some() {
        let value = value::read_phrase(text, at)?;
        let end = value::quote_at(text, value.end)?.end;
        return Some(Cell { literal: Some(value.start..value.end), end });
    }
    let rest = text.ahead(pos, MAX_ROW);
    Some(Cell { literal: None, end: pos + EXPRESSION.len(rest)? })
}

fn is_inserted_secret(cell: &[u8], role: Role) -> bool {
    let cell = &cell[..cell.len().min(judge::SAMPLE)];
    let is_word =
        !cell.contains(&b' ') && !judge::is_reference(cell) && !judge::has_placeholder(cell);
    let is_password = role == Role::Password;
    is_word && if is_password { judge::is_password(cell) } else { judge::is_chosen(cell) }
}
