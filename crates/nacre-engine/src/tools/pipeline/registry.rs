//! Finds the tool for a call, validates the arguments, and simplifies schemas for models.
//!
//! The simplified schema is part of every request, so it contains only what helps the model to make
//! a call. Arguments are validated against the full schema.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::model::{Arguments, ToolCall, ToolDef, violations};
use crate::record::Fault;
use crate::tools::pipeline::PipelineError;
use crate::tools::tool::{AnyTool, Result, ToolError, ToolSpec};

const MAX_ARGUMENT_BYTES: usize = 2 << 20;

#[derive(Default)]
pub(super) struct Registry {
    tools: BTreeMap<&'static str, Registered>,
}

struct Registered {
    tool: Arc<dyn AnyTool>,
    schema: Value,
    slim: Value,
}

impl Registry {
    pub(super) fn new(
        tools: impl IntoIterator<Item = Arc<dyn AnyTool>>,
    ) -> Result<Self, PipelineError> {
        let mut registry = Self::default();
        for tool in tools {
            let name = tool.spec().name;
            let schema = tool.schema();
            let slim = slim(&schema);
            let registered = Registered { tool, schema, slim };
            if registry.tools.insert(name, registered).is_some() {
                return Err(PipelineError::Twice { name });
            }
        }
        Ok(registry)
    }

    pub(super) fn spec(&self, name: &str) -> Option<&ToolSpec> {
        self.tools.get(name).map(|registered| registered.tool.spec())
    }

    pub(super) fn definition(&self, name: &str) -> Option<ToolDef> {
        let registered = self.tools.get(name)?;
        let spec = registered.tool.spec();
        Some(ToolDef {
            name: spec.name.to_owned(),
            description: spec.description.to_owned(),
            schema: registered.slim.clone(),
        })
    }

    pub(super) fn resolve(&self, call: &ToolCall) -> Result<(Arc<dyn AnyTool>, Value)> {
        let Some(registered) = self.tools.get(call.name.as_str()) else {
            let name: String = call.name.chars().take(80).collect();
            let what = format!("Tool `{name}` not found");
            let hint = "Use one of the tools that were offered to you.";
            return Err(ToolError::new(Fault::UnknownTool, what, hint));
        };
        let arguments = match &call.arguments {
            Arguments::Object(value) => value,
            Arguments::Malformed { text: _, error } => {
                return Err(arguments_error(
                    &call.name,
                    &format!("The arguments are not valid JSON: {error}"),
                ));
            }
        };
        if MAX_ARGUMENT_BYTES < arguments.to_string().len() {
            let what = format!("The arguments are longer than {MAX_ARGUMENT_BYTES} bytes");
            return Err(ToolError::new(Fault::TooLarge, what, "Make several smaller calls."));
        }
        let violations = violations(&registered.schema, arguments);
        if violations.is_empty() {
            return Ok((Arc::clone(&registered.tool), arguments.clone()));
        }
        Err(arguments_error(
            &call.name,
            &format!("The arguments do not match the schema: {}", violations.join("; ")),
        ))
    }
}

fn arguments_error(name: &str, what: &str) -> ToolError {
    let hint = format!("Call `{name}` again with arguments that match its schema.");
    ToolError::new(Fault::Arguments, what, hint)
}

const LEFT_OUT: &[&str] =
    &["$schema", "$defs", "title", "format", "minLength", "maxLength", "additionalProperties"];

const MAX_DEPTH: usize = 12;

pub(super) fn slim(schema: &Value) -> Value {
    let none = Map::new();
    let definitions = schema.get("$defs").and_then(Value::as_object).unwrap_or(&none);
    let mut slimmed = slim_schema(schema, definitions, 0);
    // Omit the description, because the tool already has its own.
    if let Some(object) = slimmed.as_object_mut() {
        object.remove("description");
    }
    slimmed
}

fn slim_schema(value: &Value, definitions: &Map<String, Value>, depth: usize) -> Value {
    let next = |value: &Value| slim_schema(value, definitions, depth + 1);
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
    // A field's own description takes precedence over the descriptions of its choices.
    if let Some(own) = object.get("description").and_then(Value::as_str) {
        let choices = slim.get("description").filter(|_| slim.contains_key("enum"));
        let text = match choices.and_then(Value::as_str) {
            Some(choices) => format!("{own} {choices}"),
            None => own.to_owned(),
        };
        slim.insert("description".to_owned(), text.into());
    }
    Value::Object(slim)
}

/// Inserts the types except `null`, which only marks optional values.
fn insert_type(slim: &mut Map<String, Value>, types: &[Value]) {
    let real: Vec<&Value> = types.iter().filter(|one| **one != "null").collect();
    let value = match real.as_slice() {
        [one] => (*one).clone(),
        _ => Value::Array(real.into_iter().cloned().collect()),
    };
    slim.insert("type".to_owned(), value);
}

/// Merges alternatives. Constants become an enum, and `null` is dropped.
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
    enum Shown {
        /// Each line.
        Lines,
        /// The path alone.
        Files,
    }

    /// What to look for.
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only the schema is used")]
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
    #[expect(dead_code, reason = "only the schema is used")]
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
