//! Tests for accepted values and for the reported violations.

use serde_json::{Value, json};

use super::*;

fn check(schema: &Value, value: &Value, expected: &[&str]) {
    assert_eq!(violations(schema, value), expected, "{schema} for {value}");
}

#[test]
fn what_has_a_default_may_be_missing_and_providers_hear_nothing_of_it() {
    let list = json!({ "type": "array", "items": { "type": "string" }, "default": [] });
    let schema =
        json!({ "properties": { "a": list, "b": { "type": "string" } }, "required": ["a", "b"] });
    check(&schema, &json!({ "b": "x" }), &[]);
    check(&schema, &json!({}), &["at /: `b` is missing"]);
    check(&schema, &json!({ "a": 1, "b": "x" }), &["at /a: expected array, found number"]);
    let told = for_providers(&schema, SchemaBounds::Kept);
    assert_eq!(told["properties"]["a"], json!({ "type": "array", "items": { "type": "string" } }));
    assert_eq!(told["required"], json!(["a", "b"]));
}

#[test]
fn each_keyword_is_checked() {
    check(&json!({ "type": "string" }), &json!(5), &["at /: expected string, found number"]);
    check(&json!({ "type": "integer" }), &json!(5.0), &[]);
    check(&json!({ "type": "integer" }), &json!(5.5), &["at /: expected integer, found number"]);
    check(&json!({ "type": ["string", "null"] }), &json!(null), &[]);
    check(
        &json!({ "type": ["string", "null"] }),
        &json!(1),
        &["at /: expected [\"string\",\"null\"], found number"],
    );
    check(&json!({ "enum": ["a", 1] }), &json!("b"), &["at /: must be one of \"a\", 1"]);
    check(&json!({ "const": 1 }), &json!(2), &["at /: must be 1"]);
    check(
        &json!({ "minLength": 2, "maxLength": 3 }),
        &json!("ö"),
        &["at /: has 1 characters, must have at least 2"],
    );
    check(
        &json!({ "maxItems": 1, "items": { "type": "boolean" } }),
        &json!([true, 1]),
        &["at /: has 2 items, may have at most 1", "at /1: expected boolean, found number"],
    );
    check(&json!({ "minimum": 1, "maximum": 2 }), &json!(3), &["at /: is 3, must be at most 2"]);
    check(&json!(false), &json!(3), &["at /: not allowed"]);
    check(&json!(true), &json!(3), &[]);
}

#[test]
fn objects_name_the_key_that_is_wrong() {
    let schema = json!({
        "type": "object",
        "properties": { "a/b": { "type": "string" }, "list": { "type": "array" } },
        "required": ["a/b", "list"],
        "additionalProperties": false,
    });
    check(
        &schema,
        &json!({ "a/b": 1, "more": 2 }),
        &[
            "at /: `list` is missing",
            "at /a~1b: expected string, found number",
            "at /more: is not an allowed key",
        ],
    );
    let typed = json!({ "additionalProperties": { "type": "number" } });
    check(&typed, &json!({ "x": "y" }), &["at /x: expected number, found string"]);
}

#[test]
fn forms_can_be_chosen_and_named() {
    let schema = json!({
        "$defs": { "id": { "type": "string", "minLength": 1 } },
        "anyOf": [{ "$ref": "#/$defs/id" }, { "type": "null" }],
    });
    check(&schema, &json!(null), &[]);
    check(&schema, &json!(""), &["at /: matches none of the allowed schemas"]);
    let one = json!({ "oneOf": [{ "type": "number" }, { "type": "integer" }] });
    check(&one, &json!(1), &["at /: must match exactly one of the allowed schemas"]);
    check(&one, &json!(1.5), &[]);
}

#[test]
fn a_schema_that_names_itself_ends() {
    let schema = json!({ "$defs": { "x": { "$ref": "#/$defs/x" } }, "$ref": "#/$defs/x" });
    check(&schema, &json!(1), &["at /: nested too deeply"]);
}

#[test]
fn violations_are_few_enough_to_read() {
    let schema = json!({ "items": { "type": "string" } });
    assert_eq!(violations(&schema, &json!(vec![1; 5000])).len(), MAX_VIOLATIONS);
}

#[test]
fn providers_get_a_closed_schema_with_bounds_or_without() {
    let schema = json!({
        "type": "object",
        "properties": { "minLength": { "type": "string", "minLength": 3 } },
        "required": ["minLength"],
    });
    let kept = for_providers(&schema, SchemaBounds::Kept);
    assert_eq!(kept["properties"]["minLength"]["minLength"], 3);
    assert!(is_strict(&kept));
    let narrowed = for_providers(&schema, SchemaBounds::Dropped);
    assert_eq!(
        narrowed,
        json!({
            "type": "object",
            "properties": { "minLength": { "type": "string" } },
            "required": ["minLength"],
            "additionalProperties": false,
        })
    );
    assert!(is_strict(&narrowed));
    assert!(!is_strict(&schema));
    assert!(!is_strict(&json!({ "type": "array", "items": { "type": "object" } })));
}
