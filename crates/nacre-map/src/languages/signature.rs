//! A signature as it is shown: one line, without what only opens a body, and not too long.

use std::borrow::Cow;

/// A signature is kept as far as this.
const MAX_SIGNATURE_BYTES: usize = 240;

/// A signature in one line.
pub(super) fn shown_signature(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    match is_spaced_once(text) {
        true => {
            Cow::Borrowed(without_opening(&text[..text.floor_char_boundary(MAX_SIGNATURE_BYTES)]))
        }
        false => {
            let mut shown = spaced_once(text);
            shown.truncate(without_opening(&shown).len());
            Cow::Owned(shown)
        }
    }
}

/// A signature without what only opens a body.
fn without_opening(text: &str) -> &str {
    let mut text = text.trim_end_matches([' ', '{', '=', ':', ';', ',']);
    while let Some(rest) = text.strip_suffix("=>") {
        text = rest;
    }
    text.trim_end()
}

/// Whether there is one space between any two words, as in most lines.
fn is_spaced_once(text: &str) -> bool {
    let mut was_space = false;
    text.bytes().all(|byte| {
        let is_space = byte == b' ';
        let is_plain = (is_space || byte.is_ascii_graphic()) && !(is_space && was_space);
        was_space = is_space;
        is_plain
    })
}

fn spaced_once(text: &str) -> String {
    let mut shown = String::new();
    for word in text.split_whitespace() {
        if !shown.is_empty() {
            shown.push(' ');
        }
        shown.push_str(word);
        if MAX_SIGNATURE_BYTES < shown.len() {
            shown.truncate(shown.floor_char_boundary(MAX_SIGNATURE_BYTES));
            break;
        }
    }
    shown
}
