//! The parameters of a request as the JSON of its wire type: what stands in the path, in the query and in the body.
//!
//! A query knows only text. The schema of the request says which fields are numbers, switches and lists, so that no route
//! has to.

use nacre_ops::OpError;
use serde_json::{Map, Number, Value};

/// Parameters that one request may have.
const MAX_PARAMETERS: usize = 64;

/// A query, split.
#[derive(Clone, Debug, Default)]
pub(super) struct Query {
    pub(super) project: Option<String>,
    pub(super) wait: bool,
    pub(super) fields: Vec<(String, String)>,
}

impl Query {
    /// `waits` says whether the server itself takes `wait`.
    pub(super) fn parse(text: &str, waits: bool) -> Result<Self, OpError> {
        let mut query = Self::default();
        for (number, (key, value)) in form_urlencoded::parse(text.as_bytes()).enumerate() {
            if number == MAX_PARAMETERS {
                return Err(OpError::usage("The query has too many parameters"));
            }
            match key.as_ref() {
                "project" => query.project = Some(value.into_owned()),
                "wait" if waits => query.wait = switch("wait", &value)?,
                _ => query.fields.push((key.into_owned(), value.into_owned())),
            }
        }
        Ok(query)
    }
}

/// Puts a request together. A field stands in one place only.
pub(super) fn parameters(
    schema: Option<&Value>,
    path: &[(String, String)],
    query: &Query,
    body: Value,
) -> Result<Value, OpError> {
    let mut fields = match body {
        Value::Object(fields) => fields,
        Value::Null => Map::new(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return Err(OpError::usage("The body is not a JSON object"));
        }
    };
    for (key, text) in path {
        put(&mut fields, schema, key, text)?;
    }
    let in_body: Vec<String> = fields.keys().cloned().collect();
    for (key, text) in &query.fields {
        if in_body.contains(key) {
            return Err(OpError::usage(format!("`{key}` is given twice")));
        }
        put(&mut fields, schema, key, text)?;
    }
    Ok(Value::Object(fields))
}

fn put(
    fields: &mut Map<String, Value>,
    schema: Option<&Value>,
    key: &str,
    text: &str,
) -> Result<(), OpError> {
    let kind = schema.map_or(Kind::Text, |schema| kind_of(schema, key));
    match (kind, fields.get_mut(key)) {
        (Kind::List, Some(Value::Array(items))) => items.push(Value::String(text.to_owned())),
        (Kind::List, None) => {
            fields.insert(key.to_owned(), Value::Array(vec![Value::String(text.to_owned())]));
        }
        (_, Some(_)) => return Err(OpError::usage(format!("`{key}` is given twice"))),
        (Kind::Number, None) => {
            fields.insert(key.to_owned(), Value::Number(number(key, text)?));
        }
        (Kind::Switch, None) => {
            fields.insert(key.to_owned(), Value::Bool(switch(key, text)?));
        }
        (Kind::Text, None) => {
            fields.insert(key.to_owned(), Value::String(text.to_owned()));
        }
    }
    Ok(())
}

/// What a field is, as far as text has to be read for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
    Switch,
    List,
}

fn kind_of(schema: &Value, key: &str) -> Kind {
    let types = &schema["properties"][key]["type"];
    let has = |name: &str| match types {
        Value::String(one) => one == name,
        Value::Array(several) => several.iter().any(|one| one == name),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    };
    if has("array") {
        Kind::List
    } else if has("boolean") {
        Kind::Switch
    } else if has("integer") || has("number") {
        Kind::Number
    } else {
        Kind::Text
    }
}

fn number(key: &str, text: &str) -> Result<Number, OpError> {
    let whole = text.parse::<i64>().ok().map(Number::from);
    let number = whole.or_else(|| text.parse().ok().and_then(Number::from_f64));
    number.ok_or_else(|| OpError::usage(format!("`{key}` is not a number")))
}

fn switch(key: &str, text: &str) -> Result<bool, OpError> {
    match text {
        "true" | "1" | "" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(OpError::usage(format!("`{key}` is neither true nor false"))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({"properties": {
            "limit": {"type": ["integer", "null"]},
            "all": {"type": "boolean"},
            "ids": {"type": "array"},
            "type": {"anyOf": [{"$ref": "#/$defs/MemoryType"}]},
        }})
    }

    fn asked(query: &str, body: Value) -> Result<Value, OpError> {
        let path = [("id".to_owned(), "x".to_owned())];
        parameters(Some(&schema()), &path, &Query::parse(query, true)?, body)
    }

    #[test]
    fn texts_become_what_the_schema_says() {
        let found = asked("limit=5&all&type=decision&ids=a&ids=b&project=x", Value::Null).unwrap();
        assert_eq!(
            found,
            json!({"id": "x", "ids": ["a", "b"], "limit": 5, "all": true, "type": "decision"})
        );
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        for (query, body, word) in [
            ("limit=x", Value::Null, "`limit` is not a number"),
            ("all=maybe", Value::Null, "`all` is neither"),
            ("limit=1&limit=2", Value::Null, "twice"),
            ("limit=1", json!({"limit": 2}), "twice"),
            ("", json!([1]), "not a JSON object"),
        ] {
            let error = asked(query, body).unwrap_err();
            assert!(error.message.contains(word), "{query}: {}", error.message);
        }
    }

    #[test]
    fn a_query_has_an_end() {
        let many = "a=1&".repeat(MAX_PARAMETERS + 1);
        assert!(Query::parse(&many, false).is_err());
    }
}
