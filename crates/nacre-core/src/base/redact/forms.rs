//! Passwords that a script or an agent types into a field of a page: `fill`, `type`, `send_keys`, `"selector"` and `"text"`.

use super::breaks;
use super::pairs;
use super::text::Text;
use super::value;

/// The longest rest of a selector or a label behind the word for a password.
const MAX_TAIL: usize = 24;

/// Brackets, quotes and blanks that close a selector.
const MAX_CLOSERS: usize = 12;

/// The most calls between a field and the one that types: `.first().clear().fill(…)`.
const MAX_CALLS: usize = 3;

/// How far before the word its selector may begin.
const MAX_HEAD: usize = 64;

/// The longest name of a call.
const MAX_CALL: usize = 24;

/// What types a text into a field.
const VERBS: &str = "fill type send_keys sendKeys setValue set_value addValue press_sequentially \
    pressSequentially typeText type_text enterText enter_text set";

/// What says that a text names a field.
const FIELDS: &str = "selector locator element field target fill_in";

/// The keys under which the typed text stands.
const TEXT_KEYS: &[&str] = &["text", "value", "keys", "with", "content"];

/// Returns where the text begins that is typed into a field, whose word for a password stands at `start..end`.
pub(super) fn typed_text(text: &mut Text<'_>, start: usize, end: usize) -> Option<usize> {
    let rest = text.rest(end);
    // Nearly every word is followed by something else.
    if !rest.first().is_some_and(|byte| is_tail(*byte) || b"\"'`]\\".contains(byte)) {
        return None;
    }
    let n_tail = rest.iter().take(MAX_TAIL).take_while(|byte| is_tail(**byte)).count();
    let mut pos = end + n_tail;
    if !matches!(text.at(pos)?, b'"' | b'\'' | b'`' | b']' | b'\\') {
        return None;
    }
    let limit = pos + MAX_CLOSERS;
    let mut has_call = false;
    while pos < limit {
        pos = match (value::quote_at(text, pos), text.at(pos)?) {
            (Some(quote), _) => quote.end,
            (None, b']' | b'}' | b' ') => pos + 1,
            (None, b')') => {
                has_call = true;
                pos + 1
            }
            (None, _) => break,
        };
    }
    if has_call {
        return behind_calls(text, pos);
    }
    let head = text.slice(start.saturating_sub(MAX_HEAD), start);
    let is_field = |word: &str| memchr::memmem::find(head, word.as_bytes()).is_some();
    let is_pair = text.at(pos) == Some(b',') && FIELDS.split(' ').any(is_field);
    if is_pair { pairs::value_of(text, TEXT_KEYS, pairs::MAX_BETWEEN, pos) } else { None }
}

fn is_tail(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b' ')
}

/// Returns where the literal of a call that types begins; the field ends at `pos`.
fn behind_calls(text: &Text<'_>, mut pos: usize) -> Option<usize> {
    for _ in 0..MAX_CALLS {
        let at = breaks::skip_lines(text, pos);
        let rest = text.rest(at).strip_prefix(b".")?;
        let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
        let n_name = rest.iter().take(MAX_CALL).take_while(is_name).count();
        let verb = &rest[..n_name];
        let open = at + 1 + n_name;
        if text.at(open) != Some(b'(') {
            return None;
        }
        if VERBS.split(' ').any(|one| verb == one.as_bytes()) {
            return value::quote_at(text, open + 1).map(|_| open + 1);
        }
        pos = (text.at(open + 1) == Some(b')')).then_some(open + 2)?;
    }
    None
}
