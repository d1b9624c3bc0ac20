//! JSON schemas for model output, stored in `schemas.json` with one line per type.
//!
//! A test generates the schemas from the types. The schema sent to a model therefore always matches
//! the type into which its answer is parsed, and the release binary needs no schema generator.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde_json::Value;
use serde_json::value::RawValue;

const STORED: &str = include_str!("schemas.json");

/// Unparsed schemas by type name. A test checks the file's format.
static BY_TYPE: LazyLock<BTreeMap<&str, &RawValue>> =
    LazyLock::new(|| serde_json::from_str(STORED).unwrap_or_default());

pub(crate) fn of<T: JsonSchema>() -> Value {
    let stored = BY_TYPE.get(&*T::schema_name()).map(|schema| serde_json::from_str(schema.get()));
    stored.and_then(Result::ok).unwrap_or_else(missing::<T>)
}

#[cfg(not(test))]
#[expect(clippy::extra_unused_type_parameters, reason = "tests use it")]
fn missing<T: JsonSchema>() -> Value {
    Value::Null
}

/// Called only in tests, which define tools that have no stored schema.
#[cfg(test)]
fn missing<T: JsonSchema>() -> Value {
    derive_schema::<T>().1
}

#[cfg(test)]
pub(crate) fn derive_schema<T: JsonSchema>() -> (String, Value) {
    (T::schema_name().into_owned(), schemars::schema_for!(T).to_value())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::agents;
    use crate::tools::toolkits::{checklist, code, file, git, memory, shell, skill, trace, web};

    /// If this variable is set, the test updates the file instead of checking it.
    const WRITE: &str = "NACRE_WRITE_DOCS";

    fn all() -> BTreeMap<String, Value> {
        let kits = [
            agents::derive_schemas(),
            checklist::derive_schemas(),
            code::derive_schemas(),
            file::derive_schemas(),
            git::derive_schemas(),
            memory::derive_schemas(),
            shell::derive_schemas(),
            skill::derive_schemas(),
            trace::derive_schemas(),
            web::derive_schemas(),
        ];
        let all: Vec<(String, Value)> = kits.into_iter().flatten().collect();
        let by_name: BTreeMap<String, Value> = all.iter().cloned().collect();
        assert_eq!(by_name.len(), all.len(), "two types have the same name");
        by_name
    }

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "`make docs` sets a variable to ask for this source file to be regenerated"
    )]
    fn the_stored_schemas_are_current() {
        let lines: Vec<String> =
            all().iter().map(|(name, schema)| format!("{name:?}: {schema}")).collect();
        let text = format!("{{\n{}\n}}\n", lines.join(",\n"));
        if std::env::var_os(WRITE).is_some() {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/schemas.json");
            std::fs::write(path, text).unwrap();
            return;
        }
        assert!(text == STORED, "src/schemas.json of nacre-engine is out of date; run `make docs`");
    }

    #[test]
    fn what_is_stored_can_be_read_and_checked() {
        assert!(BY_TYPE.len() > 30, "{}", BY_TYPE.len());
        for (name, schema) in BY_TYPE.iter() {
            check_keywords(name, &serde_json::from_str(schema.get()).unwrap());
        }
    }

    /// Keywords that `model::violations` checks, plus annotations such as `title` that do not
    /// restrict values.
    const KEYWORDS: &str = "$defs $ref $schema additionalProperties anyOf const default description enum format items \
         maxItems maxLength maximum minItems minLength minimum oneOf properties required title type";

    fn check_keywords(name: &str, schema: &Value) {
        let Value::Object(object) = schema else { return };
        for (key, value) in object {
            assert!(KEYWORDS.split(' ').any(|known| known == key), "{name}: {key}");
            match (key.as_str(), value) {
                ("properties" | "$defs", Value::Object(parts)) => {
                    parts.values().for_each(|part| check_keywords(name, part));
                }
                ("anyOf" | "oneOf", Value::Array(parts)) => {
                    parts.iter().for_each(|part| check_keywords(name, part));
                }
                ("items" | "additionalProperties", part) => check_keywords(name, part),
                _ => {}
            }
        }
    }
}
