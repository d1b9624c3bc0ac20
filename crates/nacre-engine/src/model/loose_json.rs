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

/// An object or array, and where it stands.
#[derive(Debug, PartialEq)]
pub(super) struct Found {
    pub(super) range: Range<usize>,
    pub(super) value: Value,
}

/// Returns the objects and arrays of a text in order, outermost only.
pub(super) fn find_values(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut from = 0;
    for _ in 0..MAX_TRIES {
        let rest = text.get(from..).unwrap_or_default();
        let Some(at) = rest.find(['{', '[']).map(|at| from + at).filter(|at| *at < MAX_TEXT) else {
            break;
        };
        match value_at(text, at) {
            Some((value, end)) => {
                found.push(Found { range: at..end, value });
                from = end;
            }
            None => from = at + 1,
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

fn value_at(text: &str, at: usize) -> Option<(Value, usize)> {
    let mut values = serde_json::Deserializer::from_str(text.get(at..)?).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, at + values.byte_offset()))
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
