//! JSON in the middle of a text.
//!
//! Models wrap JSON in prose and fences. What is found here was parsed whole by serde_json; nothing is repaired,
//! because a guess at what a model meant must not become an action.

use std::ops::Range;

use serde_json::Value;

/// Texts are not searched beyond this.
const MAX_TEXT: usize = 1 << 20;

/// Places in a text at which a value is looked for, at most.
const MAX_TRIES: usize = 500;

/// All tries together read no more: a text may open a value at every byte and close none.
const MAX_READ: usize = 4 << 20;

/// An object or array, and where it stands.
#[derive(Debug, PartialEq)]
pub(super) struct FoundObject {
    pub(super) range: Range<usize>,
    pub(super) value: Value,
}

/// Returns the objects and arrays of a text in order, outermost only.
pub(super) fn find_values(text: &str) -> Vec<FoundObject> {
    let text = text.get(..text.floor_char_boundary(MAX_TEXT)).unwrap_or(text);
    let mut found = Vec::new();
    let (mut from, mut n_read) = (0, 0);
    for _ in 0..MAX_TRIES {
        let rest = text.get(from..).unwrap_or_default();
        let Some(at) = rest.find(['{', '[']).map(|at| from + at) else { break };
        match value_at(text, at) {
            Ok((value, end)) => {
                found.push(FoundObject { range: at..end, value });
                from = end;
            }
            Err(n_bytes) => {
                from = at + 1;
                n_read += n_bytes;
            }
        }
        if MAX_READ < n_read {
            break;
        }
    }
    found
}

/// Returns the one value that a text is about: the text itself, a fenced block, or the largest value in it.
pub fn only_value(text: &str) -> Option<Value> {
    if let Ok(value) = serde_json::from_str(text.trim()) {
        return Some(value);
    }
    let found = find_values(text);
    found.into_iter().max_by_key(|found| found.range.len()).map(|found| found.value)
}

/// The value that begins there, and where it ends; or how much was read to see that there is none.
fn value_at(text: &str, at: usize) -> Result<(Value, usize), usize> {
    let rest = text.get(at..).unwrap_or_default();
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    match values.next() {
        Some(Ok(value)) => Ok((value, at + values.byte_offset())),
        Some(Err(error)) => Err(place_of(rest, &error)),
        None => Err(rest.len()),
    }
}

/// Where an error stands in a text.
fn place_of(text: &str, error: &serde_json::Error) -> usize {
    let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    lines.map(str::len).sum::<usize>() + error.column()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_found_in_prose() {
        let text = "Well {not json} here: {\"a\": [1]} and [2] {\"b\":";
        let values: Vec<Value> = find_values(text).into_iter().map(|found| found.value).collect();
        assert_eq!(values, [json!({ "a": [1] }), json!([2])]);
        assert_eq!(only_value(text), Some(json!({ "a": [1] })));
        assert_eq!(only_value(" 5 "), Some(json!(5)));
        assert_eq!(only_value("none"), None);
    }

    #[test]
    fn what_is_never_closed_is_read_a_few_times() {
        let nested = "[1,".repeat(100);
        let text = format!("{nested}{}", "1,".repeat(MAX_TEXT));
        assert!(find_values(&text).is_empty());
        let (head, rest) = ("[1,".repeat(3), "1,".repeat(20));
        let unclosed = format!("{head}\n{rest}");
        assert_eq!(value_at(&unclosed, 0), Err(unclosed.len()), "all of it was read");
        assert!(value_at("{not json} and a lot more", 0).unwrap_err() < 4);
        // Beyond the bound nothing is looked at.
        let far = format!("{}{{\"a\":1}}", " ".repeat(MAX_TEXT));
        assert!(find_values(&far).is_empty());
    }

    proptest! {
        #[test]
        fn a_value_is_found_whatever_stands_around_it(
            before in "[a-z ö.\n]{0,20}",
            number in any::<i32>(),
            text in ".{0,20}",
            after in "[a-z ö.\n]{0,20}",
        ) {
            let value = json!({ "n": number, "t": text });
            let around = format!("{before}{value}{after}");
            let found = find_values(&around);
            prop_assert_eq!(found.len(), 1);
            prop_assert_eq!(&found[0].value, &value);
            prop_assert_eq!(&around[found[0].range.clone()], value.to_string());
        }

        #[test]
        fn hostile_text_costs_little(text in r#"([\[{]|"|\\|,|:|[0-9]|ö){0,400}"#) {
            for found in find_values(&text) {
                prop_assert!(text.get(found.range).is_some());
            }
        }
    }
}
