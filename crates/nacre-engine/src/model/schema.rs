//! The part of JSON Schema that we write, checked.
//!
//! A keyword that is not known here is refused when the schema is read, so that nothing counts as checked that was
//! not. Checking is bounded: in depth, and in the number of violations that are worth telling a model.

use std::fmt;

use serde_json::{Map, Value};

const MAX_DEPTH: usize = 64;

/// More than these only confuse the model that has to mend them.
const MAX_VIOLATIONS: usize = 10;

/// Keywords that say nothing about what is valid.
const ANNOTATIONS: &[&str] =
    &["$schema", "$id", "title", "description", "default", "examples", "format", "deprecated"];

const KEYWORDS: &[&str] = &[
    "$ref",
    "$defs",
    "definitions",
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "allOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
];

/// A schema whose every keyword is checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    root: Value,
}

/// A schema that cannot be checked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Cannot check the schema at `{at}`: {what}")]
pub struct SchemaError {
    at: String,
    what: String,
}

/// Where a value is not as the schema says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// A JSON pointer; empty for the whole.
    pub at: String,
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = if self.at.is_empty() { "/" } else { &self.at };
        write!(f, "at {at}: {}", self.what)
    }
}

impl Schema {
    pub fn new(root: &Value) -> Result<Self, SchemaError> {
        check_keywords(root, "", 0)?;
        let schema = Self { root: root.clone() };
        schema.check_refs(root)?;
        Ok(schema)
    }

    /// Returns where the value breaks the schema; nothing if it is valid.
    pub fn violations(&self, value: &Value) -> Vec<Violation> {
        let mut check = Check { root: &self.root, found: Vec::new() };
        check.value(&self.root, value, "", 0);
        check.found
    }

    fn check_refs(&self, part: &Value) -> Result<(), SchemaError> {
        match part {
            Value::Object(object) => {
                if let Some(Value::String(name)) = object.get("$ref")
                    && resolve(&self.root, name).is_none()
                {
                    return Err(SchemaError { at: name.clone(), what: "no such part".to_owned() });
                }
                object.values().try_for_each(|part| self.check_refs(part))
            }
            Value::Array(items) => items.iter().try_for_each(|part| self.check_refs(part)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        }
    }
}

fn resolve<'a>(root: &'a Value, name: &str) -> Option<&'a Value> {
    let pointer = name.strip_prefix('#')?;
    let is_definition = pointer.starts_with("/$defs/") || pointer.starts_with("/definitions/");
    if is_definition { root.pointer(pointer) } else { None }
}

/// Walks the places where a schema holds schemas.
fn check_keywords(schema: &Value, at: &str, depth: usize) -> Result<(), SchemaError> {
    let fail = |what: &str| Err(SchemaError { at: at.to_owned(), what: what.to_owned() });
    if MAX_DEPTH < depth {
        return fail("nested too deeply");
    }
    let object = match schema {
        Value::Bool(_) => return Ok(()),
        Value::Object(object) => object,
        Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return fail("not a schema");
        }
    };
    for (key, value) in object {
        let inside = format!("{at}/{key}");
        match (key.as_str(), value) {
            ("properties" | "$defs" | "definitions", Value::Object(parts)) => {
                for (name, part) in parts {
                    check_keywords(part, &format!("{inside}/{name}"), depth + 1)?;
                }
            }
            ("anyOf" | "oneOf" | "allOf", Value::Array(parts)) => {
                for part in parts {
                    check_keywords(part, &inside, depth + 1)?;
                }
            }
            ("items" | "additionalProperties", part) => check_keywords(part, &inside, depth + 1)?,
            (key, value) if KEYWORDS.contains(&key) => {
                if !has_right_form(key, value) {
                    return fail(&format!("`{key}` has a wrong form"));
                }
            }
            (key, _) if ANNOTATIONS.contains(&key) => {}
            (key, _) => return fail(&format!("`{key}` is not supported")),
        }
    }
    Ok(())
}

fn has_right_form(key: &str, value: &Value) -> bool {
    let is_text_list =
        |value: &Value| value.as_array().is_some_and(|items| items.iter().all(Value::is_string));
    match key {
        "$ref" => value.is_string(),
        "type" => value.is_string() || is_text_list(value),
        "required" => is_text_list(value),
        "enum" => value.is_array(),
        "const" => true,
        "minLength" | "maxLength" | "minItems" | "maxItems" => value.is_u64(),
        "minimum" | "maximum" => value.is_number(),
        _ => false,
    }
}

struct Check<'a> {
    root: &'a Value,
    found: Vec<Violation>,
}

impl Check<'_> {
    fn value(&mut self, schema: &Value, value: &Value, at: &str, depth: usize) {
        if MAX_VIOLATIONS <= self.found.len() {
            return;
        }
        if MAX_DEPTH < depth {
            return self.fail(at, "nested too deeply");
        }
        let Value::Object(schema) = schema else {
            if schema == &Value::Bool(false) {
                self.fail(at, "not allowed");
            }
            return;
        };
        if let Some(Value::String(name)) = schema.get("$ref")
            && let Some(part) = resolve(self.root, name)
        {
            self.value(part, value, at, depth + 1);
        }
        if let Some(wanted) = schema.get("type")
            && !has_type(value, wanted)
        {
            return self.fail(at, &format!("expected {}, found {}", shown(wanted), kind(value)));
        }
        self.choices(schema, value, at, depth);
        match value {
            Value::Object(object) => self.object(schema, object, at, depth),
            Value::Array(items) => self.array(schema, items, at, depth),
            Value::String(text) => self.text(schema, text, at),
            Value::Number(number) => self.number(schema, number.as_f64(), at),
            Value::Null | Value::Bool(_) => {}
        }
    }

    fn choices(&mut self, schema: &Map<String, Value>, value: &Value, at: &str, depth: usize) {
        if let Some(Value::Array(allowed)) = schema.get("enum")
            && !allowed.contains(value)
        {
            let list: Vec<String> = allowed.iter().map(Value::to_string).collect();
            self.fail(at, &format!("must be one of {}", list.join(", ")));
        }
        if let Some(wanted) = schema.get("const")
            && wanted != value
        {
            self.fail(at, &format!("must be {wanted}"));
        }
        if let Some(Value::Array(parts)) = schema.get("allOf") {
            for part in parts {
                self.value(part, value, at, depth + 1);
            }
        }
        if let Some(Value::Array(parts)) = schema.get("anyOf")
            && self.n_matching(parts, value, depth) == 0
        {
            self.fail(at, "matches none of the allowed forms");
        }
        if let Some(Value::Array(parts)) = schema.get("oneOf")
            && self.n_matching(parts, value, depth) != 1
        {
            self.fail(at, "must match exactly one of the allowed forms");
        }
    }

    fn n_matching(&self, parts: &[Value], value: &Value, depth: usize) -> usize {
        let matches = |part: &&Value| {
            let mut check = Check { root: self.root, found: Vec::new() };
            check.value(part, value, "", depth + 1);
            check.found.is_empty()
        };
        parts.iter().filter(matches).count()
    }

    fn object(
        &mut self,
        schema: &Map<String, Value>,
        object: &Map<String, Value>,
        at: &str,
        depth: usize,
    ) {
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let required = schema.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            let has_default =
                properties.get(name).is_some_and(|part| part.get("default").is_some());
            if !object.contains_key(name) && !has_default {
                self.fail(at, &format!("`{name}` is missing"));
            }
        }
        for (name, value) in object {
            let inside = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
            match (properties.get(name), schema.get("additionalProperties")) {
                (Some(part), _) => self.value(part, value, &inside, depth + 1),
                (None, Some(Value::Bool(false))) => self.fail(&inside, "is not a known key"),
                (None, Some(part)) => self.value(part, value, &inside, depth + 1),
                (None, None) => {}
            }
        }
    }

    fn array(&mut self, schema: &Map<String, Value>, items: &[Value], at: &str, depth: usize) {
        self.length(schema, ("minItems", "maxItems"), items.len(), at, "items");
        if let Some(part) = schema.get("items") {
            for (idx, item) in items.iter().enumerate() {
                self.value(part, item, &format!("{at}/{idx}"), depth + 1);
            }
        }
    }

    fn text(&mut self, schema: &Map<String, Value>, text: &str, at: &str) {
        self.length(schema, ("minLength", "maxLength"), text.chars().count(), at, "characters");
    }

    fn length(
        &mut self,
        schema: &Map<String, Value>,
        (min, max): (&str, &str),
        n: usize,
        at: &str,
        unit: &str,
    ) {
        let n = n as u64;
        let bound = |key: &str| schema.get(key).and_then(Value::as_u64);
        if let Some(min) = bound(min).filter(|min| n < *min) {
            self.fail(at, &format!("has {n} {unit}, needs at least {min}"));
        }
        if let Some(max) = bound(max).filter(|max| *max < n) {
            self.fail(at, &format!("has {n} {unit}, may have at most {max}"));
        }
    }

    fn number(&mut self, schema: &Map<String, Value>, number: Option<f64>, at: &str) {
        let Some(number) = number else { return };
        let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
        if let Some(min) = bound("minimum").filter(|min| number < *min) {
            self.fail(at, &format!("is {number}, must be at least {min}"));
        }
        if let Some(max) = bound("maximum").filter(|max| *max < number) {
            self.fail(at, &format!("is {number}, must be at most {max}"));
        }
    }

    fn fail(&mut self, at: &str, what: &str) {
        if self.found.len() < MAX_VIOLATIONS {
            self.found.push(Violation { at: at.to_owned(), what: what.to_owned() });
        }
    }
}

fn has_type(value: &Value, wanted: &Value) -> bool {
    let is = |name: &str| match (name, value) {
        ("integer", Value::Number(number)) => {
            number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|n| n.fract() == 0.0)
        }
        ("number", Value::Number(_)) => true,
        (name, value) => name == kind(value),
    };
    match wanted {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => true,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn shown(wanted: &Value) -> String {
    wanted.as_str().map_or_else(|| wanted.to_string(), str::to_owned)
}

/// What a provider gets to know of lengths and ranges, which are checked here anyway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bounds {
    /// For servers that make a grammar of the schema: without an end to a list, small models find none.
    Kept,
    /// For services that refuse keywords they do not enforce.
    Dropped,
}

/// Returns the schema in the form that providers enforce: without keys that it does not name.
pub(super) fn for_providers(schema: &Value, bounds: Bounds) -> Value {
    match schema {
        Value::Object(object) => {
            let kept = object.iter().filter(|(key, _)| !is_left_out(key, bounds));
            let narrowed = |(key, value): (&String, &Value)| {
                let value = match (key.as_str(), value) {
                    ("properties" | "$defs" | "definitions", Value::Object(parts)) => {
                        let each = parts.iter();
                        let parts =
                            each.map(|(name, part)| (name.clone(), for_providers(part, bounds)));
                        Value::Object(parts.collect())
                    }
                    ("enum" | "const" | "default" | "examples" | "required", value) => {
                        value.clone()
                    }
                    (_, value) => for_providers(value, bounds),
                };
                (key.clone(), value)
            };
            let mut out: Map<String, Value> = kept.map(narrowed).collect();
            if out.get("properties").is_some_and(Value::is_object) {
                out.entry("additionalProperties").or_insert(Value::Bool(false));
            }
            Value::Object(out)
        }
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| for_providers(item, bounds)).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => schema.clone(),
    }
}

fn is_left_out(key: &str, bounds: Bounds) -> bool {
    match key {
        // Strict modes refuse a default, though a missing value is taken for it here.
        "$schema" | "default" => true,
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minimum" | "maximum" => {
            bounds == Bounds::Dropped
        }
        _ => false,
    }
}

/// Whether every key of every object is required and none may be added, which strict modes demand.
pub(super) fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(object) => {
            let is_closed = match object.get("properties").and_then(Value::as_object) {
                Some(properties) => {
                    let required = object.get("required").and_then(Value::as_array);
                    let is_required = |name: &String| {
                        required.is_some_and(|list| list.iter().any(|item| item == name.as_str()))
                    };
                    object.get("additionalProperties") == Some(&Value::Bool(false))
                        && properties.keys().all(is_required)
                }
                None => object.get("type").is_none_or(|kind| kind != "object"),
            };
            is_closed && object.values().all(is_strict)
        }
        Value::Array(items) => items.iter().all(is_strict),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

#[cfg(test)]
mod tests;
