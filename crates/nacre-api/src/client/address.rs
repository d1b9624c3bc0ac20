//! A request as an address and a body: what the path names is taken out of it, and by GET the rest is the query.

use serde_json::{Map, Value};

/// Where to ask, and what to send.
#[derive(Debug, PartialEq)]
pub(super) struct Asked {
    pub(super) target: String,
    pub(super) body: Option<Value>,
}

/// Puts the fields of a request where the route wants them.
pub(super) fn asked(
    path: &str,
    has_body: bool,
    request: Value,
    server_fields: &[(&str, &str)],
) -> Asked {
    let mut fields = match request {
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    };
    let mut target = String::new();
    for part in path.split('/').skip(1) {
        target.push('/');
        match part.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
            Some(name) => target.push_str(&encoded(&taken(&mut fields, name))),
            None => target.push_str(part),
        }
    }
    let mut query: Vec<String> =
        server_fields.iter().map(|(key, value)| format!("{key}={}", encoded(value))).collect();
    if !has_body {
        for (key, value) in &fields {
            query.extend(texts(value).map(|text| format!("{key}={}", encoded(&text))));
        }
    }
    if !query.is_empty() {
        target.push('?');
        target.push_str(&query.join("&"));
    }
    Asked { target, body: has_body.then_some(Value::Object(fields)) }
}

/// The field that stands in the path, of a list its first. An id is called by what it is the id of.
fn taken(fields: &mut Map<String, Value>, name: &str) -> String {
    let fields_of_id = || ["ids", "run"].into_iter().filter(|_| name == "id");
    let mut names = std::iter::once(name).chain(fields_of_id());
    let value = names.find_map(|name| fields.remove(name)).unwrap_or_default();
    texts(&value).next().unwrap_or_default()
}

/// A value as the texts of a query; what is not set has none.
fn texts(value: &Value) -> impl Iterator<Item = String> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Some(value.to_string())
        }
    };
    let texts: Vec<String> = match value.as_array() {
        Some(items) => items.iter().filter_map(text).collect(),
        None => text(value).into_iter().collect(),
    };
    texts.into_iter()
}

/// Text that stands for itself in a path or a query.
fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            byte => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_path_names_is_not_said_twice() {
        let request = json!({"id": "a b/c", "note": "x", "scope": null});
        let by_get = asked("/api/memories/{id}/related", false, request.clone(), &[]);
        assert_eq!(by_get.target, "/api/memories/a%20b%2Fc/related?note=x");
        assert_eq!(by_get.body, None);
        let by_post = asked("/api/memories/{id}/feedback", true, request, &[("project", "ä")]);
        assert_eq!(by_post.target, "/api/memories/a%20b%2Fc/feedback?project=%C3%A4");
        assert_eq!(by_post.body, Some(json!({"note": "x", "scope": null})));
    }

    #[test]
    fn a_list_is_said_by_repeating_its_name() {
        let request = json!({"files": ["a", "b"], "limit": 5, "all": true});
        let asked = asked("/api/brief", false, request, &[]);
        assert_eq!(asked.target, "/api/brief?all=true&files=a&files=b&limit=5");
    }
}
