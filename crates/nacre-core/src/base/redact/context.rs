//! Key words: a value is a secret because of the name it is assigned to.
//!
//! The grammar between name and value is a superset of env files, YAML, JSON, TOML, code, headers,
//! flags, tags and cells; what keeps code out is how the value is judged, not the grammar.

use super::breaks;
use super::calls;
use super::codec;
use super::fallback::{self, Wrapping};
use super::finding::{FoundSecret, Weight};
use super::forms;
use super::judge;
use super::names::{self, Name, Role};
use super::pairs;
use super::prose;
use super::settings;
use super::spoken;
use super::tables;
use super::text::{Set, Text};
use super::value::{self, Value, Writing};

/// More blanks than this are a column of prose.
const MAX_BLANKS: usize = 40;

/// Longer bare words that are not random are names of tests and the like.
const MAX_BARE: usize = 24;

/// Longer quoted texts that are not random are messages and paths.
const MAX_QUOTED: usize = 64;

/// What stands between a name and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    /// `name=value`.
    Tight,
    /// `name = value`, `name: value`, `--name value`, `<name>value`.
    Loose,
    /// `"name", "value"` or `name = wrap("value")`: believed only when the value is random.
    Distant,
    /// `setPassword("value")`.
    Call,
    /// `name:` and the value on a line of its own below.
    NextLine,
    /// `NAME value`, with nothing but blanks between: as `Distant`, and no weak name.
    Apart,
    /// `name` on a line of its own, and the value on the next: as `Apart`.
    Below,
    /// `the name for this is value`: as `Distant`.
    Spoken,
}

/// Returns the secrets assigned to the name around the key word at `start..end`: one, or one a piece or a cell.
pub(super) fn find(text: &mut Text<'_>, role: Role, start: usize, end: usize) -> Vec<FoundSecret> {
    // The longer word is looked at on its own.
    if end - start == 4 && matches!(text.at(end), Some(b'w' | b'W')) {
        return Vec::new();
    }
    if role == Role::Password
        && let Some(at) = forms::typed_text(text, start, end)
    {
        let name = Name { start, end, role };
        return find_value(text, &name, Link::Loose, at).into_iter().collect();
    }
    let Some(name) = names::read(text, role, start, end) else { return Vec::new() };
    let found = find_named(text, &name, start, end);
    if found.is_empty() && role == Role::Password { prose::find(text, &name) } else { found }
}

/// Returns the secrets assigned to `name`, whose key word stands at `start..end`.
fn find_named(text: &mut Text<'_>, name: &Name, start: usize, end: usize) -> Vec<FoundSecret> {
    let role = name.role;
    let cells = if role == Role::Weak { Vec::new() } else { tables::cells(text, name, role) };
    if !cells.is_empty() {
        let kind = name.kind(text);
        return cells.into_iter().map(|cell| assigned(cell.start, cell.end, kind)).collect();
    }
    let words = pairs::tag_words(text, name);
    if !words.is_empty() {
        let kind = name.kind(text);
        return words.into_iter().map(|word| assigned(word.start, word.end, kind)).collect();
    }
    let Some((link, pos)) = link(text, name) else { return Vec::new() };
    // `should_pass("…")` is no password.
    if link == Link::Call && text.slice(start, end).eq_ignore_ascii_case(b"pass") {
        return Vec::new();
    }
    if role == Role::Credential && matches!(link, Link::Tight | Link::Loose) {
        let tuple = calls::tuple(text, pos);
        if let Some(one) = tuple.filter(|_| text.slice(start, end).eq_ignore_ascii_case(b"auth")) {
            return vec![assigned(one.start, one.end, "password")];
        }
    }
    find_value(text, name, link, pos).into_iter().collect()
}

fn assigned(start: usize, end: usize, kind: &'static str) -> FoundSecret {
    FoundSecret::new(start..end, kind, Weight::Name)
}

/// Returns the value at `pos`, if it is a secret.
fn find_value(text: &mut Text<'_>, name: &Name, link: Link, pos: usize) -> Option<FoundSecret> {
    let is_variable = link == Link::Tight && is_variable(text.slice(name.start, name.end));
    let value = read_value(text, pos, is_variable).filter(|value| {
        !matches!(link, Link::NextLine | Link::Below) || stands_alone(text, value)
    })?;
    let is_json_number = value.writing != Writing::Quoted
        && is_number(text.slice(value.start, value.end))
        && value::quote_at(text, name.end).is_some_and(|quote| quote.mark == b'"');
    let is_secret_to = |end: usize| {
        let bytes = text.slice(value.start, end.min(value.start + judge::SAMPLE));
        is_secret_of(bytes, text.slice(name.start, name.end), name.role, link, value.writing)
    };
    // What goes on behind an `&` is judged with what stands before it, and without.
    let is_secret = is_secret_to(value.end)
        || (value.core_end != value.end && is_secret_to(value.core_end))
        || (matches!(link, Link::Tight | Link::Loose) && settings::is_secret(text, name, &value));
    if !is_secret || is_json_number {
        return None;
    }
    Some(assigned(value.start, value.end, name.kind(text)))
}

fn read_value(text: &mut Text<'_>, pos: usize, is_variable: bool) -> Option<Value> {
    let value = value::read_phrase(text, pos);
    let is_bare = value.is_none_or(|value| value.writing == Writing::Bare);
    let next = text.run_end(Set::Bare, pos);
    let has_bracket = text.at(next).is_some_and(|byte| b"([{<)]}>".contains(&byte));
    if is_bare && has_bracket { bracketed(text, pos, is_variable).or(value) } else { value }
}

/// Returns the word with a bracket in it at `pos`. It is part of a literal in a variable of the environment, and where
/// code could not go on as the text does.
fn bracketed(text: &Text<'_>, pos: usize, is_variable: bool) -> Option<Value> {
    let rest = text.rest(pos);
    let is_part = |byte: &&u8| byte.is_ascii_graphic() && !b"\"'`\\,;".contains(byte);
    let word = &rest[..rest.iter().take(MAX_QUOTED + 1).take_while(is_part).count()];
    let count = |set: &[u8]| word.iter().filter(|byte| set.contains(byte)).count();
    let goes_on =
        word.windows(2).any(|pair| b")]}>".contains(&pair[0]) && pair[1].is_ascii_alphanumeric());
    let (n_open, n_close) = (count(b"([{<"), count(b")]}>"));
    let end = pos + word.len();
    let is_open = n_open > n_close && breaks::ends_line(text, end);
    let is_literal = goes_on || is_open || is_variable && n_open == n_close;
    (is_literal && word.len() <= MAX_QUOTED && !b"([{<)".contains(word.first()?)).then_some(Value {
        start: pos,
        end,
        core_end: end,
        writing: Writing::Bracketed,
    })
}

/// Says whether `bytes` is a secret that is assigned to the name `written`.
fn is_secret_of(bytes: &[u8], written: &[u8], role: Role, link: Link, writing: Writing) -> bool {
    let is_path = role == Role::Password && bytes.starts_with(b"/");
    let is_plain = bytes.iter().all(u8::is_ascii_lowercase);
    // Test runners print `PASS: name`.
    let is_verdict = match link {
        Link::Loose => written == b"PASS",
        Link::NextLine => written.eq_ignore_ascii_case(b"pass"),
        Link::Tight | Link::Distant | Link::Call | Link::Apart | Link::Below | Link::Spoken => {
            false
        }
    };
    // Words are judged in quotes and in variables only, and need not be looked at elsewhere.
    let is_prose = is_plain && writing == Writing::Bare && link != Link::Tight;
    if is_path || is_verdict || is_prose || is_excused(bytes, writing) {
        return false;
    }
    let is_variable = link == Link::Tight && is_variable(written) && writing != Writing::Bracketed;
    let is_login = role == Role::Credential
        && link != Link::Apart
        && written.ends_with(b"auth")
        && codec::is_login(bytes);
    (is_variable && role == Role::Password && judge::is_word(bytes))
        || is_login
        || is_secret(bytes, role, link, writing)
}

/// Says whether a name is one of the environment.
fn is_variable(name: &[u8]) -> bool {
    name.iter().all(|byte| !byte.is_ascii_lowercase())
}

/// Says whether a value could be a number of JSON.
fn is_number(value: &[u8]) -> bool {
    value.iter().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte))
}

/// Returns how the name is linked to its value, and where the value begins.
fn link(text: &mut Text<'_>, name: &Name) -> Option<(Link, usize)> {
    let role = name.role;
    let mut pos = value::quote_at(text, name.end).map_or(name.end, |quote| quote.end);
    if role == Role::Weak {
        return weak_link(text, pos);
    }
    if let Some(pair) = paired_value(text, name, pos) {
        return Some(pair);
    }
    if let Some(at) = fallback::literal(text, pos) {
        let is_variable = is_variable(text.slice(name.start, name.end));
        return Some((if is_variable { Link::Loose } else { Link::Distant }, at));
    }
    pos += usize::from(pos > name.end && text.at(pos) == Some(b']'));
    pos = skip_stars(text, pos);
    let before_blanks = pos;
    pos = skip_blanks(text, pos);
    let is_flag = text.slice(name.start, name.end).starts_with(b"--")
        && pos > before_blanks
        && text.at(pos) != Some(b'=');
    if is_flag {
        return Some((Link::Loose, skip_continued(text, pos)));
    }
    if let Some(at) = value_below(text, name, role, pos) {
        return Some((Link::Below, at));
    }
    // `variable "db_password" {`
    if before_blanks > name.end
        && text.at(pos) == Some(b'{')
        && let Some(at) = pairs::block_value(text, pos + 1)
    {
        return Some((Link::Loose, at));
    }
    if let Some(after) = spoken::link_end(text, name.end, pos, role) {
        return Some((Link::Spoken, skip_blanks(text, after)));
    }
    let (link, after) = operator(text, name, role, pos)?;
    let value_pos = skip_blanks(text, skip_stars(text, after));
    let value_pos = fallback::skip_properties(text, value_pos);
    let continued = skip_continued(text, value_pos);
    if continued > value_pos {
        return Some((Link::Loose, continued));
    }
    if text.at(value_pos) == Some(b'{')
        && let Some(at) = pairs::block_value(text, value_pos + 1)
    {
        return Some((Link::Loose, at));
    }
    let link = if link == Link::Tight && (value_pos > after || pos > before_blanks) {
        Link::Loose
    } else {
        link
    };
    if let Some((link, below)) = next_line(text, link, value_pos) {
        let nested = if link == Link::NextLine { pairs::block_value(text, below) } else { None };
        return Some(nested.map_or((link, below), |at| (Link::Loose, at)));
    }
    let has_type = text.at(pos) == Some(b':');
    let value_pos = if has_type { skip_type(text, value_pos) } else { value_pos };
    match fallback::skip_wrapping(text, value_pos) {
        Wrapping::Plain(at) => Some((link, at)),
        Wrapping::Call(at) => Some((Link::Distant, at)),
    }
}

/// Returns how a weak name is linked to its value: with a sign right behind it, or not at all.
fn weak_link(text: &Text<'_>, pos: usize) -> Option<(Link, usize)> {
    let at = skip_blanks(text, pos);
    match text.rest(at) {
        [b'=', b'=' | b'>', ..] | [b':', b':', ..] => None,
        [b'=' | b':', ..] => Some((Link::Loose, skip_blanks(text, at + 1))),
        _ => None,
    }
}

/// Returns where the value of a name begins that stands under a key of its own, or in a tag. The name and its quote end
/// at `pos`.
fn paired_value(text: &mut Text<'_>, name: &Name, pos: usize) -> Option<(Link, usize)> {
    let next = text.at(pos)?;
    if next == b'<' {
        let pair = pairs::tag_pair(text, name, pos)?;
        return Some((if pair.is_cell { Link::Distant } else { Link::Loose }, pair.at));
    }
    if !matches!(next, b',' | b' ' | b'\t' | b'\r' | b'\n' | b'\\' | b'>' | b'}' | b'/') {
        return None;
    }
    let key = pairs::name_key(text, name.start, name.role);
    let max_pairs = if key.is_some() { pairs::MAX_BETWEEN } else { usize::from(pos > name.end) };
    let value = pairs::value_behind(text, max_pairs, pos)
        .or_else(|| key.and_then(|key| pairs::value_before(text, key)));
    let is_tag = value.is_none() && matches!(next, b'>' | b' ');
    let tagged = is_tag.then(|| pairs::tag_text(text, name, key.is_some(), pos)).flatten();
    value.or(tagged).map(|at| (Link::Loose, at))
}

/// Reads the sign of an assignment.
fn operator(text: &Text<'_>, name: &Name, role: Role, pos: usize) -> Option<(Link, usize)> {
    let rest = text.rest(pos);
    let (link, len) = match rest {
        [b'=', b'=', b'=', ..] => (Link::Distant, 3),
        [b'=' | b'!', b'=', ..] => (Link::Distant, 2),
        [b':', b':', b':', b'=', ..] => (Link::Loose, 4),
        [b':', b':', b'=', ..] => (Link::Loose, 3),
        [b'=', b'>', ..] | [b':' | b'.' | b'+', b'=', ..] | [b'?', b'=' | b':', ..] => {
            (Link::Loose, 2)
        }
        // `var token string = "…"`
        [b's', b't', b'r', b'i', b'n', b'g', b' ', b'=', ..] => (Link::Loose, 8),
        // The colon of Chinese and Japanese text.
        [0xef, 0xbc, 0x9a, ..] => (Link::Loose, 3),
        [b'=', ..] => (Link::Tight, 1),
        [b':', b':', ..] => return None,
        [b':', ..] => (Link::Loose, 1),
        [b'i', b's', b' ' | b':', ..] if role == Role::Password && pos > name.end => {
            (Link::Loose, 3)
        }
        [b'(', ..] if value::quote_at(text, pos + 1).is_some() => (Link::Call, 1),
        [b',' | b'|', ..] => (Link::Distant, 1),
        [b'"' | b'\'' | b'`', ..] if pos > name.end => (Link::Apart, 0),
        [first, ..] if pos > name.end && first.is_ascii_alphanumeric() => (Link::Apart, 0),
        _ => return None,
    };
    Some((link, pos + len))
}

/// Returns how a name is linked to the value on the next line, and where that begins. The sign of the assignment, and what
/// opens a block of YAML, stand before `pos`.
fn next_line(text: &Text<'_>, link: Link, pos: usize) -> Option<(Link, usize)> {
    if !matches!(link, Link::Tight | Link::Loose) {
        return None;
    }
    let n_heredoc = fallback::heredoc_len(text.rest(pos));
    let n_block = fallback::block_len(text.rest(pos));
    let start = breaks::break_end(text, pos + n_block + n_heredoc)?;
    let value_pos = breaks::skip_blanks(text, start);
    if let Some(fenced) = fallback::fence_end(text, value_pos) {
        return Some((Link::NextLine, fenced));
    }
    if n_heredoc > 0 {
        return Some((Link::NextLine, value_pos));
    }
    let is_below = n_block > 0 || value::quote_at(text, value_pos).is_some();
    // A variable that is empty ends with its line.
    if link == Link::Tight && value_pos == start && !is_below {
        return None;
    }
    Some((if is_below { Link::Loose } else { Link::NextLine }, value_pos))
}

/// Says whether a value stands alone on its line, and assigns nothing itself.
fn stands_alone(text: &Text<'_>, value: &Value) -> bool {
    let close = value::quote_at(text, value.end).filter(|_| value.writing == Writing::Quoted);
    let end = close.map_or(value.end, |quote| quote.end);
    let end = end + usize::from(matches!(text.at(end), Some(b',' | b';')));
    let bytes = text.slice(value.start, value.end);
    let is_assignment = bytes.contains(&b':')
        || memchr::memchr(b'=', bytes)
            .is_some_and(|at| bytes[at..].iter().any(|byte| *byte != b'='));
    let is_path = bytes.contains(&b'/') && bytes.contains(&b'.');
    !is_assignment && !is_path && breaks::ends_line(text, end)
}

/// Returns where the value begins below a name that fills its line. The name ends at `pos`.
fn value_below(text: &Text<'_>, name: &Name, role: Role, pos: usize) -> Option<usize> {
    let next = breaks::break_end(text, pos).filter(|_| role == Role::Password)?;
    let before = text.slice(breaks::line_start(text, name.start), name.start);
    let is_alone = before.iter().all(|byte| matches!(byte, b' ' | b'\t'));
    is_alone.then(|| breaks::skip_blanks(text, next))
}

/// Skips a line break behind a backslash, as a shell does.
fn skip_continued(text: &Text<'_>, pos: usize) -> usize {
    let next = breaks::continued_end(text, pos);
    next.map_or(pos, |next| breaks::skip_blanks(text, next))
}

fn skip_blanks(text: &Text<'_>, pos: usize) -> usize {
    let is_blank = |byte: &&u8| matches!(**byte, b' ' | b'\t');
    pos + text.rest(pos).iter().take(MAX_BLANKS).take_while(is_blank).count()
}

/// Skips the end of `**name**: value` and of `**name:** value`.
fn skip_stars(text: &Text<'_>, pos: usize) -> usize {
    if text.rest(pos).starts_with(b"**") { pos + 2 } else { pos }
}

/// Skips the type of `NAME: &str = value`.
fn skip_type(text: &Text<'_>, pos: usize) -> usize {
    let is_type = |byte: u8| byte.is_ascii_alphanumeric() || b"_&'<>: []|.*?!".contains(&byte);
    let rest = text.rest(pos);
    if !rest
        .first()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'&' | b'[' | b'*'))
    {
        return pos;
    }
    let n_type = rest.iter().take(64).take_while(|byte| is_type(**byte)).count();
    match rest.get(n_type - 1..n_type + 2) {
        Some([b' ', b'=', b' ' | b'"']) => skip_blanks(text, pos + n_type + 1),
        Some(_) | None => pos,
    }
}

/// Says whether a value says itself that it is no secret.
fn is_excused(bytes: &[u8], writing: Writing) -> bool {
    let is_reference = match writing {
        Writing::Bracketed => judge::has_interpolation(bytes),
        Writing::Quoted | Writing::Phrase | Writing::Bare => judge::is_reference(bytes),
    };
    bytes.len() < 8 || is_reference || judge::has_placeholder(bytes) || judge::is_code(bytes)
}

fn is_secret(bytes: &[u8], role: Role, link: Link, writing: Writing) -> bool {
    if writing == Writing::Phrase {
        let is_assigned = matches!(link, Link::Tight | Link::Loose | Link::Call);
        return role == Role::Password && is_assigned && judge::is_phrase(bytes);
    }
    if role == Role::Weak {
        return matches!(link, Link::Tight | Link::Loose)
            && (judge::is_dense(bytes) || bytes.len() >= 24 && judge::is_certain(bytes));
    }
    if judge::is_random(bytes) || is_uuid(bytes) {
        return match role {
            // `PASS`, and the id of the next record.
            Role::Password => link != Link::Below || !is_uuid(bytes),
            Role::Secret | Role::Token | Role::Key => true,
            Role::Credential | Role::Weak => {
                matches!(link, Link::Tight | Link::Loose | Link::Distant) && !is_uuid(bytes)
            }
        };
    }
    let is_chosen = judge::is_mixed(bytes) && !judge::is_identifier(bytes);
    match (role, link) {
        (Role::Credential | Role::Weak, _) | (_, Link::Apart | Link::Below) => false,
        (
            Role::Secret | Role::Token | Role::Key,
            Link::Distant | Link::Call | Link::NextLine | Link::Spoken,
        ) => false,
        (Role::Password, Link::Distant | Link::NextLine) => is_chosen,
        (Role::Password, Link::Spoken) => is_chosen && judge::has_all_classes(bytes),
        (Role::Password, Link::Call) => {
            bytes.len() <= MAX_BARE && judge::is_password(bytes) && !judge::is_identifier(bytes)
        }
        (Role::Password, Link::Tight | Link::Loose) => match writing {
            Writing::Quoted => judge::is_password(bytes) || judge::is_joined_words(bytes),
            Writing::Bracketed => bytes.len() <= MAX_BARE && is_chosen,
            Writing::Bare | Writing::Phrase => {
                bytes.len() <= MAX_BARE && judge::is_password(bytes) && !judge::is_identifier(bytes)
            }
        },
        (Role::Secret | Role::Key, Link::Tight | Link::Loose) if writing == Writing::Quoted => {
            bytes.len() <= MAX_QUOTED && judge::is_password(bytes) && !judge::is_identifier(bytes)
        }
        (Role::Secret | Role::Token | Role::Key, Link::Tight | Link::Loose) => {
            matches!(writing, Writing::Bare | Writing::Quoted)
                && bytes.len() <= MAX_BARE
                && is_chosen
        }
    }
}

fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36 && value.iter().filter(|byte| **byte == b'-').count() == 4
}
