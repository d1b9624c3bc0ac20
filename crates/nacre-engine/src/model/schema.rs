//! Validates values against the subset of JSON Schema that Nacre's schemas use. A test checks that
//! they use no other keywords.
//!
//! The validation depth and the number of reported violations are limited.

use serde_json::{Map, Value};

const MAX_DEPTH: usize = 64;
/// Maximum number of reported violations. A longer list would confuse the model that has to correct
/// them.
const MAX_VIOLATIONS: usize = 10;

/// Returns the violations, each with a JSON pointer to the invalid value.
pub fn violations(schema: &Value, value: &Value) -> Vec<String> {
    let mut check = Check { root: schema, found: Vec::new() };
    check.value(schema, value, "", 0);
    check.found
}

fn resolve<'a>(root: &'a Value, name: &str) -> Option<&'a Value> {
    root.pointer(name.strip_prefix('#').filter(|pointer| pointer.starts_with("/$defs/"))?)
}

struct Check<'a> {
    root: &'a Value,
    found: Vec<String>,
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
            return self
                .fail(at, &format!("expected {}, found {}", display_value(wanted), kind(value)));
        }
        self.choices(schema, value, at, depth);
        match value {
            Value::Object(object) => self.object(schema, object, at, depth),
            Value::Array(items) => self.array(schema, items, at, depth),
            Value::String(text) => self.length(schema, "Length", text.chars().count(), at),
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
        if let Some(Value::Array(parts)) = schema.get("anyOf")
            && self.n_matching(parts, value, depth) == 0
        {
            self.fail(at, "matches none of the allowed schemas");
        }
        if let Some(Value::Array(parts)) = schema.get("oneOf")
            && self.n_matching(parts, value, depth) != 1
        {
            self.fail(at, "must match exactly one of the allowed schemas");
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
                (None, Some(Value::Bool(false))) => self.fail(&inside, "is not an allowed key"),
                (None, Some(part)) => self.value(part, value, &inside, depth + 1),
                (None, None) => {}
            }
        }
    }

    fn array(&mut self, schema: &Map<String, Value>, items: &[Value], at: &str, depth: usize) {
        self.length(schema, "Items", items.len(), at);
        if let Some(part) = schema.get("items") {
            for (idx, item) in items.iter().enumerate() {
                self.value(part, item, &format!("{at}/{idx}"), depth + 1);
            }
        }
    }

    fn length(&mut self, schema: &Map<String, Value>, what: &str, n: usize, at: &str) {
        let unit = if what == "Items" { "items" } else { "characters" };
        let n = n as u64;
        let bound = |end: &str| schema.get(&format!("{end}{what}")).and_then(Value::as_u64);
        if let Some(min) = bound("min").filter(|min| n < *min) {
            self.fail(at, &format!("has {n} {unit}, must have at least {min}"));
        }
        if let Some(max) = bound("max").filter(|max| *max < n) {
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
            let at = if at.is_empty() { "/" } else { at };
            self.found.push(format!("at {at}: {what}"));
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

fn display_value(wanted: &Value) -> String {
    wanted.as_str().map_or_else(|| wanted.to_string(), str::to_owned)
}

/// Whether schemas sent to providers keep the length and range keywords. Nacre checks values
/// against these keywords in either case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SchemaBounds {
    /// For servers that compile the schema to a grammar. Small models would produce endless lists
    /// without `maxItems`.
    Kept,
    /// For services that reject keywords they do not enforce.
    Dropped,
}

/// Returns the schema in a form that providers can enforce, with `additionalProperties` set to
/// `false`.
pub(super) fn for_providers(schema: &Value, bounds: SchemaBounds) -> Value {
    match schema {
        Value::Object(object) => {
            let kept = object.iter().filter(|(key, _)| !is_left_out(key, bounds));
            let narrowed = |(key, value): (&String, &Value)| {
                let value = match (key.as_str(), value) {
                    ("properties" | "$defs", Value::Object(parts)) => {
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

fn is_left_out(key: &str, bounds: SchemaBounds) -> bool {
    match key {
        // Strict modes reject `default`, although Nacre accepts missing values.
        "$schema" | "default" => true,
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minimum" | "maximum" => {
            bounds == SchemaBounds::Dropped
        }
        _ => false,
    }
}

/// Returns whether every object requires all its keys and allows no others, as strict modes demand.
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
