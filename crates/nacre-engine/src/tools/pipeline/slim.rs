//! The schema of a tool as a model is sent it: what helps to make a call, and nothing else.
//!
//! Definitions are part of every request, and those of all tools are longer than most conversations. Arguments are checked
//! against the whole schema, whatever the model was told.

use serde_json::{Map, Value};

/// What says nothing to a model.
const LEFT_OUT: &[&str] =
    &["$schema", "$defs", "title", "format", "minLength", "maxLength", "additionalProperties"];

/// Definitions that name each other are not followed for ever.
const MAX_DEPTH: usize = 12;

/// A schema without what only a checker needs.
pub(super) fn slim(schema: &Value) -> Value {
    let none = Map::new();
    let definitions = schema.get("$defs").and_then(Value::as_object).unwrap_or(&none);
    let mut slimmed = slimmed(schema, definitions, 0);
    // The tool's own description says it.
    if let Some(object) = slimmed.as_object_mut() {
        object.remove("description");
    }
    slimmed
}

fn slimmed(value: &Value, definitions: &Map<String, Value>, depth: usize) -> Value {
    let next = |value: &Value| slimmed(value, definitions, depth + 1);
    let Value::Object(object) = value else { return value.clone() };
    if MAX_DEPTH < depth {
        return Value::Object(Map::new());
    }
    let mut slim = Map::new();
    for (key, value) in object {
        match (key.as_str(), value) {
            (key, _) if LEFT_OUT.contains(&key) => {}
            ("description", Value::String(_)) => {}
            ("default", Value::Null | Value::Bool(false)) => {}
            ("default", Value::Array(items)) if items.is_empty() => {}
            ("type", Value::Array(types)) => insert_type(&mut slim, types),
            ("properties", Value::Object(properties)) => {
                let properties = properties.iter().map(|(name, of)| (name.clone(), next(of)));
                slim.insert("properties".to_owned(), Value::Object(properties.collect()));
            }
            ("items", of) => {
                slim.insert("items".to_owned(), next(of));
            }
            ("$ref", Value::String(name)) => {
                let known = name.strip_prefix("#/$defs/").and_then(|name| definitions.get(name));
                merge(&mut slim, known.map(next));
            }
            ("oneOf" | "anyOf", Value::Array(choices)) => {
                insert_choices(&mut slim, key, choices, &next);
            }
            (_, value) => {
                slim.insert(key.clone(), value.clone());
            }
        }
    }
    // Its own words say more than those of the type that it has.
    if let Some(own) = object.get("description") {
        let choices = slim.get("description").filter(|_| slim.contains_key("enum")).cloned();
        let text = match choices
            .as_ref()
            .and_then(Value::as_str)
            .filter(|told| Value::from(*told) != *own)
        {
            Some(told) => Value::from(format!("{} {told}", own.as_str().unwrap_or_default())),
            None => own.clone(),
        };
        slim.insert("description".to_owned(), text);
    }
    Value::Object(slim)
}

/// A value that may be left out is not sent as null.
fn insert_type(slim: &mut Map<String, Value>, types: &[Value]) {
    let real: Vec<&Value> = types.iter().filter(|one| **one != "null").collect();
    let value = match real.as_slice() {
        [one] => (*one).clone(),
        _ => Value::Array(real.into_iter().cloned().collect()),
    };
    slim.insert("type".to_owned(), value);
}

/// One of several: fixed words become a list of them, and null is no choice.
fn insert_choices(
    slim: &mut Map<String, Value>,
    key: &str,
    choices: &[Value],
    next: &dyn Fn(&Value) -> Value,
) {
    let real: Vec<&Value> =
        choices.iter().filter(|one| one.get("type") != Some(&"null".into())).collect();
    let words: Option<Vec<&Value>> = real.iter().map(|one| one.get("const")).collect();
    match (words, real.as_slice()) {
        (Some(words), _) => {
            let told = |one: &&Value| {
                let text = one.get("description").and_then(Value::as_str)?;
                Some(format!("`{}`: {text}", one.get("const")?.as_str()?))
            };
            let told: Vec<String> = real.iter().filter_map(told).collect();
            slim.insert("type".to_owned(), "string".into());
            slim.insert("enum".to_owned(), Value::Array(words.into_iter().cloned().collect()));
            if !told.is_empty() {
                slim.insert("description".to_owned(), told.join(" ").into());
            }
        }
        (None, [one]) => merge(slim, Some(next(one))),
        (None, _) => {
            let choices = real.into_iter().map(next).collect();
            slim.insert(key.to_owned(), Value::Array(choices));
        }
    }
}

fn merge(slim: &mut Map<String, Value>, other: Option<Value>) {
    if let Some(Value::Object(other)) = other {
        slim.extend(other);
    }
}

#[cfg(test)]
mod tests {
    use schemars::{JsonSchema, schema_for};
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    #[expect(dead_code, reason = "only its schema is looked at")]
    enum Shown {
        /// Each line.
        Lines,
        /// The path alone.
        Files,
    }

    /// What to look for.
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Input {
        /// A pattern.
        #[schemars(length(min = 1, max = 10))]
        pattern: String,
        /// Lines around it.
        context: Option<u32>,
        #[serde(default)]
        literal: bool,
        /// What to show.
        show: Option<Shown>,
        edits: Vec<Inner>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Inner {
        /// The text.
        find: Option<String>,
    }

    #[test]
    fn a_model_is_sent_what_helps_to_make_a_call() {
        let slim = slim(&schema_for!(Input).to_value());
        assert_eq!(
            slim,
            json!({
                "type": "object",
                "properties": {
                    "pattern": { "type": "string", "description": "A pattern." },
                    "context": { "type": "integer", "minimum": 0, "description": "Lines around it." },
                    "literal": { "type": "boolean" },
                    "show": {
                        "type": "string", "enum": ["lines", "files"],
                        "description": "What to show. `lines`: Each line. `files`: The path alone.",
                    },
                    "edits": { "type": "array", "items": {
                        "type": "object",
                        "properties": { "find": { "type": "string", "description": "The text." } },
                    } },
                },
                "required": ["pattern", "edits"],
            })
        );
    }

    #[test]
    fn definitions_that_name_each_other_end() {
        let schema =
            json!({ "$ref": "#/$defs/a", "$defs": { "a": { "items": { "$ref": "#/$defs/a" } } } });
        assert!(slim(&schema).to_string().len() < 500);
    }
}
