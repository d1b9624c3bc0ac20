//! Names and values that stand side by side under keys of their own: `name: API_KEY` and `value: …`, in any order, and the
//! text of a tag.

use std::ops::Range;

use super::breaks;
use super::judge;
use super::names::{Name, Role};
use super::text::Text;
use super::value;

/// The keys under which a name stands.
const NAME_KEYS: &[&str] =
    &["name", "key", "label", "field", "variable", "env", "parameter", "title"];

/// The keys under which the name of a password stands in a form.
const FIELD_KEYS: &[&str] = &["type", "id"];

/// The cells of a table or a list that has names on its left.
const CELL_TAGS: &[&str] = &["td", "th", "dt"];

/// The cells beside them.
const VALUE_CELL_TAGS: &[&str] = &["td", "dd"];

/// Other pairs may stand between a name and its value: a type, an id.
pub(super) const MAX_BETWEEN: usize = 3;

/// The longest other value in a block: a description.
const MAX_MESSAGE: usize = 96;

/// The longest other value between a name and its value.
const MAX_OTHER: usize = 64;

/// Room between two pairs: a comma, a line break, indentation.
const MAX_GAP: usize = 48;

/// How far before a name its key may begin.
const MAX_KEY: usize = 24;

/// How far before a name its value may begin.
const MAX_BACK: usize = 192;

/// The longest list of attributes of a tag.
const MAX_TAG: usize = 128;

/// Returns where the value of `"name": "API_KEY", "value": "…"`, `key="ApiKey" value="…"` or the same in two lines of YAML
/// begins: within `max_pairs` behind the name, which with its quote ends at `pos`.
pub(super) fn value_behind(text: &mut Text<'_>, max_pairs: usize, pos: usize) -> Option<usize> {
    value_of(text, &["value"], max_pairs, pos)
}

/// As `value_behind`, under one of `keys`.
pub(super) fn value_of(
    text: &mut Text<'_>,
    keys: &[&str],
    max_pairs: usize,
    mut pos: usize,
) -> Option<usize> {
    for _ in 0..max_pairs {
        let (key, at) = pair_at(text, skip_gap(text, pos)?)?;
        if is_one_of(key, keys) {
            return Some(at);
        }
        let other = value::read_phrase(text, at).filter(|one| one.end - one.start <= MAX_OTHER)?;
        pos = value::quote_at(text, other.end).map_or(other.end, |quote| quote.end);
    }
    None
}

/// The keys under which a block has its value.
const VALUE_KEYS: &[&str] = &["value", "default", "plaintext", "const"];

/// The tags that a value stands in behind the tag of its name.
const VALUE_TAGS: &[&str] = &["value", "string", "val", "text", "data"];

fn is_one_of(key: &[u8], keys: &[&str]) -> bool {
    keys.iter().any(|one| key.eq_ignore_ascii_case(one.as_bytes()))
}

/// Returns where the value of a block begins whose first pair may stand at `pos`: `{ type = string, default = "…" }`.
pub(super) fn block_value(text: &mut Text<'_>, mut pos: usize) -> Option<usize> {
    for _ in 0..=MAX_BETWEEN {
        let (key, at) = pair_at(text, skip_gap(text, pos)?)?;
        if is_one_of(key, VALUE_KEYS) {
            return Some(at);
        }
        let other =
            value::read_phrase(text, at).filter(|one| one.end - one.start <= MAX_MESSAGE)?;
        pos = value::quote_at(text, other.end).map_or(other.end, |quote| quote.end);
    }
    None
}

/// A value beside the tag of its name.
pub(super) struct TagPair {
    pub(super) at: usize,
    /// In a cell there may be any text.
    pub(super) is_cell: bool,
}

/// Returns where the value begins whose name stands in a tag of its own, which it fills up to `pos`:
/// `<name>password</name><value>…`, `<key>password</key><string>…`, `<td>Password</td><td>…`.
pub(super) fn tag_pair(text: &Text<'_>, name: &Name, pos: usize) -> Option<TagPair> {
    let before = text.slice(name.start.saturating_sub(MAX_KEY), name.start).strip_suffix(b">")?;
    let is_tag = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    let n_tag = before.iter().rev().take_while(|byte| is_tag(byte)).count();
    let tag = &before[before.len() - n_tag..];
    let is_cell = is_one_of(tag, CELL_TAGS);
    let is_name = is_cell || is_one_of(tag, NAME_KEYS);
    let rest = text.rest(pos).strip_prefix(b"</").filter(|_| is_name)?;
    let end = memchr::memchr(b'>', &rest[..rest.len().min(MAX_KEY)])?;
    let open = skip_gap(text, pos + 2 + end + 1)?;
    let rest = text.rest(open).strip_prefix(b"<")?;
    let n_tag = rest.iter().take(MAX_KEY).take_while(|byte| is_tag(byte)).count();
    let tags = if is_cell { VALUE_CELL_TAGS } else { VALUE_TAGS };
    let is_value = is_one_of(&rest[..n_tag], tags) && rest.get(n_tag) == Some(&b'>');
    let start = skip_code_tag(text, open + 1 + n_tag + 1);
    let n_data = if text.rest(start).starts_with(CDATA) { CDATA.len() } else { 0 };
    is_value.then_some(TagPair { at: start + n_data, is_cell })
}

fn skip_code_tag(text: &Text<'_>, pos: usize) -> usize {
    pos + if text.rest(pos).starts_with(b"<code>") { b"<code>".len() } else { 0 }
}

/// Returns where the value begins that stands before the key of a name, which begins at `key`.
pub(super) fn value_before(text: &mut Text<'_>, key: usize) -> Option<usize> {
    let floor = key.saturating_sub(MAX_BACK);
    let head = text.slice(floor, key);
    let word = memchr::memmem::rfind(head, b"alue").map(|at| floor + at)?;
    let start = word.checked_sub(1).filter(|at| matches!(text.at(*at), Some(b'v' | b'V')))?;
    let (_, at) = pair_at(text, start).filter(|(key, _)| key.len() == 5)?;
    let value = value::read_phrase(text, at)?;
    let end = value::quote_at(text, value.end).map_or(value.end, |quote| quote.end);
    (end < key && skip_gap(text, end)? >= key).then_some(at)
}

/// Returns where the key of the name at `start` begins: `name: `, `"key": "`, `Name="`.
pub(super) fn name_key(text: &Text<'_>, start: usize, role: Role) -> Option<usize> {
    // Nearly every name has no key, which two bytes before it tell.
    let is_between = |byte: u8| matches!(byte, b' ' | b'\t' | b'"' | b'\'' | b'\\');
    let mut at = start;
    while start - at < MAX_KEY && is_between(text.before(at)?) {
        at -= 1;
    }
    if !matches!(text.before(at)?, b':' | b'=') {
        return None;
    }
    let from = start.saturating_sub(MAX_KEY);
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let is_mark = |byte: &u8| matches!(byte, b'"' | b'\'' | b'\\');
    let head = trim_end(trim_end(text.slice(from, start), is_mark), is_blank);
    let head = trim_end(head.strip_suffix(b":").or_else(|| head.strip_suffix(b"="))?, is_blank);
    let head = trim_end(head, is_mark);
    let n_key = head.iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let key = &head[head.len() - n_key..];
    // The letter of a line break stands before a key of JSON in a string.
    let is_known = |key: &[u8]| {
        is_one_of(key, NAME_KEYS) || (role == Role::Password && is_one_of(key, FIELD_KEYS))
    };
    let is_escaped = head[..head.len() - n_key].ends_with(b"\\");
    let n_known = match key {
        key if is_known(key) => key.len(),
        [_, key @ ..] if is_escaped && is_known(key) => key.len(),
        _ => return None,
    };
    let at = from + head.len() - n_known;
    // The quote of the key goes with it.
    Some(at - trim_start_len(text, at, is_mark))
}

fn trim_end(bytes: &[u8], is_trimmed: impl Fn(&u8) -> bool) -> &[u8] {
    let n = bytes.iter().rev().take_while(|byte| is_trimmed(byte)).count();
    &bytes[..bytes.len() - n]
}

fn trim_start_len(text: &Text<'_>, pos: usize, is_trimmed: impl Fn(&u8) -> bool) -> usize {
    let head = text.slice(pos.saturating_sub(MAX_KEY), pos);
    head.iter().rev().take_while(|byte| is_trimmed(byte)).count()
}

/// Skips what stands between two pairs.
fn skip_gap(text: &Text<'_>, pos: usize) -> Option<usize> {
    let mut end = pos + usize::from(text.at(pos) == Some(b','));
    while end - pos < MAX_GAP {
        end = match text.at(end)? {
            b' ' | b'\t' | b'\n' | b'\r' => end + 1,
            b'\\' if value::quote_at(text, end).is_none() => breaks::break_end(text, end)?,
            _ => return Some(end),
        };
    }
    None
}

/// Returns the key at `pos`, and where its value begins.
fn pair_at<'t>(text: &Text<'t>, pos: usize) -> Option<(&'t [u8], usize)> {
    let start = value::quote_at(text, pos).map_or(pos, |quote| quote.end);
    let is_key = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(**byte, b'_' | b'-');
    let n_key = text.rest(start).iter().take(MAX_KEY).take_while(is_key).count();
    let end = start + n_key;
    let mut at = value::quote_at(text, end).map_or(end, |quote| quote.end);
    let blanks = |at: usize| {
        text.rest(at).iter().take(MAX_GAP).take_while(|byte| matches!(**byte, b' ' | b'\t')).count()
    };
    at += blanks(at);
    let is_linked = n_key > 0 && matches!(text.at(at), Some(b':' | b'='));
    let at = at + 1;
    is_linked.then(|| (text.slice(start, end), at + blanks(at)))
}

/// Returns where the text of the tag begins that `name` is the name of, or that has it under a key: `<password>…`,
/// `<db:password type="plain">…`, `<entry key="password">…`. The name and its quote end at `pos`.
pub(super) fn tag_text(text: &Text<'_>, name: &Name, has_key: bool, pos: usize) -> Option<usize> {
    let is_tag = if pos == name.end { is_tag_name(text, name.start) } else { has_key };
    if !is_tag {
        return None;
    }
    let rest = text.rest(pos);
    let n_attributes = rest.iter().take(MAX_TAG).take_while(|byte| !b"<>\n".contains(byte)).count();
    let opens = rest.get(n_attributes) == Some(&b'>')
        && (n_attributes == 0
            || rest[0] == b' ' && !matches!(rest[n_attributes - 1], b'/' | b'=' | b'-'));
    let start = breaks::skip_lines(text, pos + n_attributes + 1);
    let n_data = if text.rest(start).starts_with(CDATA) { CDATA.len() } else { 0 };
    opens.then_some(start + n_data)
}

/// Returns the generated words in the text of a tag that `name` is the name of, if it has several: `<secret>{a1 …}</secret>`.
pub(super) fn tag_words(text: &Text<'_>, name: &Name) -> Vec<Range<usize>> {
    let start = name.end + 1;
    if text.at(name.end) != Some(b'>') || !is_tag_name(text, name.start) {
        return Vec::new();
    }
    let rest = text.rest(start);
    let rest = &rest[..rest.len().min(MAX_BACK)];
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

/// Says whether `<` stands before `start`, perhaps with the prefix of a namespace.
fn is_tag_name(text: &Text<'_>, start: usize) -> bool {
    let head = text.slice(start.saturating_sub(MAX_KEY), start);
    let is_prefix = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    let head = head.strip_suffix(b":").map_or(head, |head| trim_end(head, is_prefix));
    head.ends_with(b"<")
}

const CDATA: &[u8] = b"<![CDATA[";
