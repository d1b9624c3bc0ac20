//! Combines a request's path, query and body into the JSON form of its request type. The stored API
//! description defines the types of query values, so routes do not declare them.

use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde_json::value::RawValue;
use serde_json::{Map, Number};

use super::answer::Refusal;
use crate::prelude::*;

pub(super) const MAX_BODY_BYTES: usize = 1 << 20;
const BODY_TIME: Duration = Duration::from_secs(30);

const MAX_PARAMETERS: usize = 64;

#[derive(Clone, Debug, Default)]
pub(super) struct Query {
    pub(super) project: Option<String>,
    pub(super) wait: bool,
    pub(super) fields: Vec<(String, String)>,
}

impl Query {
    /// If `waits` is true, the server handles the `wait` parameter itself.
    pub(super) fn parse(text: &str, waits: bool) -> Result<Self> {
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

/// Reads a JSON body. Returns `null` if it is empty.
pub(super) async fn read_json(body: Body) -> Result<Value, Refusal> {
    let reading = Limited::new(body, MAX_BODY_BYTES).collect();
    let Ok(read) = tokio::time::timeout(BODY_TIME, reading).await else {
        let message = "Reading the body took too long";
        return Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, ErrorCode::Usage, message));
    };
    let bytes = match read {
        Ok(collected) => collected.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => {
            let message = "The body is larger than 1 MiB";
            return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, ErrorCode::TooLarge, message));
        }
        Err(_) => return Err(Refusal::bad_request(OpError::usage("The body is incomplete"))),
    };
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(&bytes).map_err(|error| {
        Refusal::bad_request(OpError::usage(format!("The body is not JSON: {error}")))
    })
}

/// Combines the fields. Each field may occur in only one of path, query and body.
pub(super) fn parameters(
    schema: Option<&Value>,
    path: &[(String, String)],
    query: &Query,
    body: Value,
) -> Result<Value> {
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
            return Err(OpError::usage(format!("`{key}` is specified more than once")));
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
) -> Result<()> {
    let types = schema.map_or(&Value::Null, |schema| &schema["properties"][key]["type"]);
    let may_be = |name: &str| {
        *types == name || types.as_array().is_some_and(|all| all.iter().any(|one| one == name))
    };
    let value = if may_be("array") {
        if let Some(Value::Array(items)) = fields.get_mut(key) {
            items.push(text.into());
            return Ok(());
        }
        Value::from(vec![text])
    } else if may_be("boolean") {
        switch(key, text)?.into()
    } else if may_be("integer") || may_be("number") {
        number(key, text)?.into()
    } else {
        text.into()
    };
    match fields.insert(key.to_owned(), value) {
        Some(_) => Err(OpError::usage(format!("`{key}` is specified more than once"))),
        None => Ok(()),
    }
}

fn number(key: &str, text: &str) -> Result<Number> {
    let whole = text.parse::<i64>().ok().map(Number::from);
    let number = whole.or_else(|| text.parse().ok().and_then(Number::from_f64));
    number.ok_or_else(|| OpError::usage(format!("`{key}` is not a number")))
}

fn switch(key: &str, text: &str) -> Result<bool> {
    match text {
        "true" | "1" | "" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err(OpError::usage(format!("`{key}` is neither `true` nor `false`"))),
    }
}

pub(super) const DESCRIPTION: &str = include_str!(concat!(env!("OUT_DIR"), "/openapi.json"));

/// Returns the stored schemas without parsing them. A test checks that the description is valid.
pub(super) fn schemas() -> BTreeMap<&'static str, &'static RawValue> {
    let members = |json: &'static str| -> BTreeMap<&'static str, &'static RawValue> {
        serde_json::from_str(json).unwrap_or_default()
    };
    let member = |json, name: &str| members(json).remove(name).map_or("", RawValue::get);
    members(member(member(DESCRIPTION, "components"), "schemas"))
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

    fn parse_parameters(query: &str, body: Value) -> Result<Value, OpError> {
        let path = [("id".to_owned(), "x".to_owned())];
        parameters(Some(&schema()), &path, &Query::parse(query, true)?, body)
    }

    #[test]
    fn texts_become_what_the_schema_says() {
        let found =
            parse_parameters("limit=5&all&type=decision&ids=a&ids=b&project=x", Value::Null)
                .unwrap();
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
            ("limit=1&limit=2", Value::Null, "`limit` is specified more than once"),
            ("limit=1", json!({"limit": 2}), "`limit` is specified more than once"),
            ("", json!([1]), "not a JSON object"),
        ] {
            let error = parse_parameters(query, body).unwrap_err();
            assert!(error.message.contains(word), "{query}: {}", error.message);
        }
    }

    #[test]
    fn a_query_has_an_end() {
        let many = "a=1&".repeat(MAX_PARAMETERS + 1);
        assert!(Query::parse(&many, false).is_err());
    }
}
