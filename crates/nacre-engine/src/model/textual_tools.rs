//! Tool calls that a model printed instead of making them.
//!
//! Small models answer with fenced JSON, bare JSON or `<tool_call>` tags though their server offers calls. Only names
//! that were offered count, and only the two shapes that mean nothing else; the prose around them stays text.

use serde_json::{Value, json};

use super::loose_json::find_values;

/// No answer of a small model has more calls that are meant.
const MAX_CALLS: usize = 32;

const OPEN_TAG: &str = "<tool_call>";
const CLOSE_TAG: &str = "</tool_call>";

/// A call found in a text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TextualCall {
    pub(super) name: String,
    pub(super) arguments: Value,
}

/// A text taken apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Extracted {
    pub(super) text: String,
    pub(super) calls: Vec<TextualCall>,
}

/// Takes the calls of offered tools out of a text.
pub(super) fn extract(text: &str, offered: &[&str]) -> Extracted {
    let mut out = Extracted::default();
    let mut from = 0;
    for found in find_values(text) {
        let calls = calls_of(&found.value, offered);
        if calls.is_empty() || MAX_CALLS < out.calls.len() + calls.len() {
            continue;
        }
        let before = text.get(from..found.range.start).unwrap_or_default();
        out.text.push_str(without_opening(before));
        let after = text.get(found.range.end..).unwrap_or_default();
        from = text.len() - without_closing(after).len();
        out.calls.extend(calls);
    }
    out.text.push_str(text.get(from..).unwrap_or_default());
    if !out.calls.is_empty() {
        out.text = out.text.trim().to_owned();
    }
    out
}

/// Reads one call or a list of calls; a list counts only if every item does.
fn calls_of(value: &Value, offered: &[&str]) -> Vec<TextualCall> {
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

fn call_of(value: &Value, offered: &[&str]) -> Option<TextualCall> {
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
    Some(TextualCall { name: name.to_owned(), arguments })
}

/// Cuts the opening of a fence or tag off the text before a call.
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

/// Cuts the closing of a fence or tag off the text after a call.
fn without_closing(after: &str) -> &str {
    let trimmed = after.trim_start();
    trimmed.strip_prefix(CLOSE_TAG).or_else(|| trimmed.strip_prefix("```")).unwrap_or(after)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OFFERED: &[&str] = &["read", "search"];

    fn check(text: &str, prose: &str, calls: &[(&str, Value)]) {
        let got = extract(text, OFFERED);
        let got_calls: Vec<(&str, Value)> =
            got.calls.iter().map(|call| (call.name.as_str(), call.arguments.clone())).collect();
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
            for call in extract(&text, OFFERED).calls {
                prop_assert!(OFFERED.contains(&call.name.as_str()));
                prop_assert!(call.arguments.is_object());
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
