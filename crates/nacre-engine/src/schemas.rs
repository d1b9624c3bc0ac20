//! The schemas of what models write, arguments and reports, as they are stored in `schemas.json`: one line a type.
//!
//! A test writes them from the types, so that what a model is told and what is read cannot differ, and the program holds no code
//! that makes schemas.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde_json::Value;
use serde_json::value::RawValue;

const STORED: &str = include_str!("schemas.json");

/// Each schema by the name of its type, not yet read. A test holds that the file is one of these.
static BY_TYPE: LazyLock<BTreeMap<&str, &RawValue>> =
    LazyLock::new(|| serde_json::from_str(STORED).unwrap_or_default());

/// The schema of a type. One that is not stored is null, which no registry takes.
pub(crate) fn of<T: JsonSchema>() -> Value {
    let stored = BY_TYPE.get(&*T::schema_name()).map(|schema| serde_json::from_str(schema.get()));
    stored.and_then(Result::ok).unwrap_or_else(missing::<T>)
}

#[cfg(not(test))]
#[expect(clippy::extra_unused_type_parameters, reason = "tests use it")]
fn missing<T: JsonSchema>() -> Value {
    Value::Null
}

/// Tests have tools of their own.
#[cfg(test)]
fn missing<T: JsonSchema>() -> Value {
    derived::<T>().1
}

/// The schema that a type has now, with the type's name.
#[cfg(test)]
pub(crate) fn derived<T: JsonSchema>() -> (String, Value) {
    (T::schema_name().into_owned(), schemars::schema_for!(T).to_value())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::agents;
    use crate::tools::toolkits::{checklist, code, file, git, memory, shell, skill, trace, web};

    /// Set to write what is stored instead of checking it.
    const WRITE: &str = "NACRE_WRITE_DOCS";

    /// Every type that a model is told the schema of.
    fn all() -> BTreeMap<String, Value> {
        let kits = [
            agents::derived_schemas(),
            checklist::derived_schemas(),
            code::derived_schemas(),
            file::derived_schemas(),
            git::derived_schemas(),
            memory::derived_schemas(),
            shell::derived_schemas(),
            skill::derived_schemas(),
            trace::derived_schemas(),
            web::derived_schemas(),
        ];
        let all: Vec<(String, Value)> = kits.into_iter().flatten().collect();
        let by_name: BTreeMap<String, Value> = all.iter().cloned().collect();
        assert_eq!(by_name.len(), all.len(), "two types have one name");
        by_name
    }

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "`make docs` asks by a variable for this file of our own sources, and writes it again"
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
            let schema: Value = serde_json::from_str(schema.get()).unwrap();
            crate::model::Schema::new(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}
