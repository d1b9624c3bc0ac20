//! When a memory should be told: situations in the words of whoever works, not of the memory.
//!
//! A memory says "Dropping a column takes two releases"; the prompt that needs it says "remove Customer.fax". Whoever writes the
//! memory knows such situations, and words alone do not. They are read by the index and by people, and told to nobody.

use std::borrow::Cow;

use super::document::Document;
use crate::base::is_hidden_char;

/// The key of a memory's situations.
const APPLIES: &str = "applies";

/// More situations of a memory are not kept, and longer ones are cut.
pub const MAX_APPLIES: usize = 8;
pub const MAX_APPLIES_CHARS: usize = 160;

/// Situations as they are kept: one line each, none twice, not too long and not too many.
pub fn clean_applies<'t>(texts: impl IntoIterator<Item = &'t str>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for text in texts {
        let text = one_line(text);
        if !text.is_empty() && !kept.contains(&text) {
            kept.push(text);
        }
        if kept.len() == MAX_APPLIES {
            break;
        }
    }
    kept
}

fn one_line(text: &str) -> String {
    let text: String =
        text.chars().map(|c| if is_hidden_char(c) || c.is_control() { ' ' } else { c }).collect();
    let words: Vec<&str> = text.split_whitespace().collect();
    let line: String = words.join(" ").chars().take(MAX_APPLIES_CHARS).collect();
    line.trim_end().to_owned()
}

/// Gives a document its situations; without one it has no such key.
pub(super) fn set_applies(document: &mut Document, applies: &[String]) {
    match clean_applies(applies.iter().map(String::as_str)).as_slice() {
        [] => document.remove(APPLIES),
        kept => document.set_list(APPLIES, kept),
    }
}

/// The situations that a document names. They only help to find it: a value of another shape counts as none.
pub(super) fn applies_of(document: &Document) -> Vec<String> {
    let mut named = document.list(APPLIES).ok().flatten().unwrap_or_default();
    named.truncate(MAX_APPLIES);
    named.into_iter().map(|text| cut(&text).into_owned()).collect()
}

fn cut(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_APPLIES_CHARS) {
        Some((end, _)) => Cow::Owned(text[..end].to_owned()),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn situations_are_single_lines_and_few() {
        let given =
            [" remove\n Customer.fax ", "remove Customer.fax", "\u{200b}", "drop\ta column"];
        assert_eq!(clean_applies(given), ["remove Customer.fax", "drop a column"]);
        let many: Vec<String> = (0..100).map(|n| format!("{n} {}", "x".repeat(500))).collect();
        let kept = clean_applies(many.iter().map(String::as_str));
        assert_eq!(kept.len(), MAX_APPLIES);
        assert!(kept.iter().all(|text| text.chars().count() == MAX_APPLIES_CHARS));
    }

    #[test]
    fn a_value_of_another_shape_is_none() {
        for (value, n_situations) in [("[a, b]", 2), ("soon", 1), ("{a: b}", 0), ("", 0)] {
            let text = format!("---\nid: a\ntitle: A\napplies: {value}\n---\n");
            let document = Document::parse(text).unwrap();
            assert_eq!(applies_of(&document).len(), n_situations, "{value}");
        }
    }
}
