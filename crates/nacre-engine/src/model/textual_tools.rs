//! Finds JSON values in text, including tool calls that a model printed instead of making them.
//!
//! Malformed JSON is not repaired, because a guess must not trigger an action. Text counts as a
//! call only if it names a tool offered in the request.

use std::ops::Range;

use serde_json::{Value, json};

/// Maximum number of printed calls. If a model (usually a small one) prints more than this, it does
/// not intend them as calls.
const MAX_CALLS: usize = 32;

const OPEN_TAG: &str = "<tool_call>";
const CLOSE_TAG: &str = "</tool_call>";

/// Text with its calls removed, and the name and arguments of each call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Extracted {
    pub(super) text: String,
    pub(super) calls: Vec<(String, Value)>,
}

pub(super) fn extract(text: &str, offered: &[&str]) -> Extracted {
    let mut out = Extracted::default();
    let mut from = 0;
    for (range, value) in find_values(text) {
        let calls = calls_of(&value, offered);
        if calls.is_empty() || MAX_CALLS < out.calls.len() + calls.len() {
            continue;
        }
        let before = text.get(from..range.start).unwrap_or_default();
        out.text.push_str(without_opening(before));
        let after = text.get(range.end..).unwrap_or_default();
        from = text.len() - without_closing(after).len();
        out.calls.extend(calls);
    }
    out.text.push_str(text.get(from..).unwrap_or_default());
    if !out.calls.is_empty() {
        out.text = out.text.trim().to_owned();
    }
    out
}

/// Parses one call or a list of calls. A list counts only if every item is a call.
fn calls_of(value: &Value, offered: &[&str]) -> Vec<(String, Value)> {
    match value {
        Value::Array(items) => {
            let calls: Option<Vec<_>> = items.iter().map(|item| call_of(item, offered)).collect();
            calls.unwrap_or_default()
        }
        Value::Object(object) => match object.get("tool_calls") {
            Some(Value::Array(items)) if object.len() == 1 => {
                calls_of(&Value::Array(items.clone()), offered)
            }
            Some(_) | None => call_of(value, offered).into_iter().collect(),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

fn call_of(value: &Value, offered: &[&str]) -> Option<(String, Value)> {
    let inner = value.get("function").filter(|function| function.is_object()).unwrap_or(value);
    let name = ["name", "tool", "function"].iter().find_map(|key| inner.get(key)?.as_str())?;
    let arguments =
        ["arguments", "input", "parameters", "args"].iter().find_map(|key| inner.get(key))?;
    if !offered.contains(&name) {
        return None;
    }
    let arguments = match arguments {
        Value::Object(_) => arguments.clone(),
        Value::String(text) => {
            serde_json::from_str(text).ok().filter(|value: &Value| value.is_object())?
        }
        Value::Null => json!({}),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => return None,
    };
    Some((name.to_owned(), arguments))
}

fn without_opening(before: &str) -> &str {
    let trimmed = before.trim_end();
    if let Some(rest) = trimmed.strip_suffix(OPEN_TAG) {
        return rest;
    }
    let line_start = trimmed.rfind('\n').map_or(0, |at| at + 1);
    let line = trimmed.get(line_start..).unwrap_or_default().trim_start();
    let is_fence = line
        .strip_prefix("```")
        .is_some_and(|info| info.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-')));
    if is_fence { trimmed.get(..line_start).unwrap_or_default() } else { before }
}

fn without_closing(after: &str) -> &str {
    let trimmed = after.trim_start();
    trimmed.strip_prefix(CLOSE_TAG).or_else(|| trimmed.strip_prefix("```")).unwrap_or(after)
}

const MAX_TEXT: usize = 1 << 20;

const MAX_TRIES: usize = 500;

/// Maximum number of bytes parsed across all attempts. Without a limit, text that opens a value at
/// every byte and closes none would take too long.
const MAX_READ: usize = 4 << 20;

/// Returns the outermost objects and arrays in the text with their positions, in order.
fn find_values(text: &str) -> Vec<(Range<usize>, Value)> {
    let text = text.get(..text.floor_char_boundary(MAX_TEXT)).unwrap_or(text);
    let mut found = Vec::new();
    let (mut from, mut n_read) = (0, 0);
    for _ in 0..MAX_TRIES {
        let rest = text.get(from..).unwrap_or_default();
        let Some(at) = rest.find(['{', '[']).map(|at| from + at) else { break };
        match value_at(text, at) {
            Ok((value, end)) => {
                found.push((at..end, value));
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

/// Returns the main JSON value: the entire text if it is JSON, otherwise a fenced block, otherwise
/// the largest value in the text.
pub fn only_value(text: &str) -> Option<Value> {
    if let Ok(value) = serde_json::from_str(text.trim()) {
        return Some(value);
    }
    find_values(text).into_iter().max_by_key(|(range, _)| range.len()).map(|(_, value)| value)
}

/// Returns the value at this position and its end, or the number of bytes scanned if there is no
/// value.
fn value_at(text: &str, at: usize) -> Result<(Value, usize), usize> {
    let rest = text.get(at..).unwrap_or_default();
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    match values.next() {
        Some(Ok(value)) => Ok((value, at + values.byte_offset())),
        Some(Err(error)) => Err(place_of(rest, &error)),
        None => Err(rest.len()),
    }
}

fn place_of(text: &str, error: &serde_json::Error) -> usize {
    let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    lines.map(str::len).sum::<usize>() + error.column()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OFFERED: &[&str] = &["read", "search"];

    fn check(text: &str, prose: &str, calls: &[(&str, Value)]) {
        let got = extract(text, OFFERED);
        let got_calls: Vec<(&str, Value)> =
            got.calls.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        assert_eq!((got.text.as_str(), got_calls.as_slice()), (prose, calls), "{text}");
    }

    #[test]
    fn printed_calls_are_understood() {
        let a = || ("read", json!({ "path": "a" }));
        let b = || ("search", json!({ "query": "b" }));
        check("```json\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}\n```", "", &[a()]);
        check(
            "Let me look.\n```\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}\n```\nDone.",
            "Let me look.\n\nDone.",
            &[a()],
        );
        check("{\"tool\":\"read\",\"input\":{\"path\":\"a\"}}", "", &[a()]);
        check("{\"name\":\"read\",\"arguments\":\"{\\\"path\\\":\\\"a\\\"}\"}", "", &[a()]);
        check(
            "{\"type\":\"function\",\"function\":{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}}",
            "",
            &[a()],
        );
        check(
            "[{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}},{\"name\":\"search\",\"parameters\":{\"query\":\"b\"}}]",
            "",
            &[a(), b()],
        );
        check(
            "<tool_call>\n{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}\n</tool_call>\n<tool_call>{\"name\":\"search\",\"arguments\":{\"query\":\"b\"}}</tool_call>",
            "",
            &[a(), b()],
        );
        check("<tool_call>{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}", "", &[a()]);
        check("{\"tool_calls\":[{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}]}", "", &[a()]);
        check("{\"name\":\"read\",\"arguments\":null}", "", &[("read", json!({}))]);
    }

    #[test]
    fn what_is_no_call_stays_text() {
        for text in [
            "{\"name\":\"delete\",\"arguments\":{}}",
            "{\"name\":\"read\"}",
            "{\"name\":\"read\",\"arguments\":[1]}",
            "{\"name\":\"read\",\"arguments\":\"not json\"}",
            "[{\"name\":\"read\",\"arguments\":{}}, 5]",
            "{\"name\":\"read\",\"arguments\":{\"path\": \"a\"",
            "read(path=a)",
            "```json\n{\"answer\": 5}\n```",
            "  spaces stay  ",
        ] {
            check(text, text, &[]);
        }
    }

    proptest! {
        #[test]
        fn only_offered_names_become_calls(text in r#"([{}\[\]",:]|"name"|"arguments"|read|drop|```|\n|<tool_call>|[a-z]){0,80}"#) {
            for (name, arguments) in extract(&text, OFFERED).calls {
                prop_assert!(OFFERED.contains(&name.as_str()));
                prop_assert!(arguments.is_object());
            }
        }

        #[test]
        fn prose_around_a_call_is_kept(before in "[a-zö .]{0,30}", after in "[a-zö .]{0,30}") {
            let call = "\n```json\n{\"name\":\"read\",\"arguments\":{\"path\":\"x\"}}\n```\n";
            let got = extract(&format!("{before}{call}{after}"), OFFERED);
            prop_assert_eq!(got.calls.len(), 1);
            let text = format!("{before}\n\n{after}");
            prop_assert_eq!(got.text, text.trim());
        }
    }
}

#[cfg(test)]
mod loose_json_tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_found_in_prose() {
        let text = "Well {not json} here: {\"a\": [1]} and [2] {\"b\":";
        let values: Vec<Value> = find_values(text).into_iter().map(|(_, value)| value).collect();
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
        assert_eq!(value_at(&unclosed, 0), Err(unclosed.len()), "the whole input was read");
        assert!(value_at("{not json} and a lot more", 0).unwrap_err() < 4);
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
            prop_assert_eq!(&found[0].1, &value);
            prop_assert_eq!(&around[found[0].0.clone()], value.to_string());
        }

        #[test]
        fn hostile_text_costs_little(text in r#"([\[{]|"|\\|,|:|[0-9]|ö){0,400}"#) {
            for (range, _) in find_values(&text) {
                prop_assert!(text.get(range).is_some());
            }
        }
    }
}
