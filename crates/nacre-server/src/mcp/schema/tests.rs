//! Generates argument schemas from types, in a simple form that every client understands: no
//! `null`, no references, no formats. Used only by the test that writes the schemas.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// Returns the JSON object schema of `T`.
pub(in crate::mcp) fn of<T: JsonSchema>() -> JsonObject {
    let settings = SchemaSettings::draft07().with(|settings| settings.inline_subschemas = true);
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let Value::Object(mut object) = schema.to_value() else { return JsonObject::new() };
    for name in ["$schema", "title", "description"] {
        object.remove(name);
    }
    object.entry("properties").or_insert_with(|| Value::Object(JsonObject::new()));
    simplify_object(&mut object);
    object
}

/// Removes formats, null defaults and null choices. The list of required arguments already shows
/// which arguments are optional.
fn simplify(value: &mut Value) {
    match value {
        Value::Object(object) => simplify_object(object),
        Value::Array(values) => values.iter_mut().for_each(simplify),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn simplify_object(object: &mut JsonObject) {
    object.remove("format");
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
    for name in ["type", "enum", "anyOf"] {
        let Some(Value::Array(choices)) = object.get_mut(name) else { continue };
        choices.retain(|choice| !is_null(choice));
        if name == "type" && choices.len() == 1 {
            let only = choices.swap_remove(0);
            object.insert(name.to_owned(), only);
        }
    }
    if let Some(only) = only_choice(object) {
        object.remove("anyOf");
        object.extend(only);
    }
    object.values_mut().for_each(simplify);
}

fn is_null(choice: &Value) -> bool {
    choice.is_null() || choice == "null" || choice.get("type").is_some_and(|kind| kind == "null")
}

/// Returns the only remaining alternative, or `None` if there are several.
fn only_choice(object: &JsonObject) -> Option<JsonObject> {
    match object.get("anyOf")?.as_array()?.as_slice() {
        [Value::Object(only)] => Some(only.clone()),
        _ => None,
    }
}
