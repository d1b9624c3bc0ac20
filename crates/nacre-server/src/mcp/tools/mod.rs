//! The tool table. Each row names a tool's argument type, from which `make docs` generates the
//! schema.

mod code;
pub(super) mod memory;
mod recall;

use nacre_ops::host::Tolerance;
use nacre_ops::people::AccessScope;
use nacre_ops::{OpError, Result};
use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::schema;
use super::text::page;
use crate::calls::Call;
use crate::people::Permit;

/// The most important tools come first. Each name and description must be sufficient to use the
/// tool, because some clients show the model nothing else.
pub(super) const TOOLS: &[ToolSpec] = &[
    memory::MEMORY_SEARCH,
    memory::MEMORY_GET,
    memory::MEMORY_ADD,
    memory::MEMORY_REMOVE,
    recall::BRIEF,
    recall::ASK,
    recall::TRACE_SEARCH,
    code::CONTEXT,
    code::CODE_SEARCH,
    code::EXPLORE,
    code::DELTA,
    recall::STATUS,
];

/// Metadata key that makes Claude Code load a tool immediately instead of deferring it to tool
/// search.
const ALWAYS_LOAD: &str = "anthropic/alwaysLoad";

/// Arguments are untrusted, so strings and lists are limited in length.
const MAX_TEXT_CHARS: usize = 16_000;
const MAX_LIST: usize = 64;

const DEFAULT_LIMIT: usize = 8;
const MAX_LIMIT: usize = 30;
const MAX_OFFSET: usize = 300;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// The tool changes nothing that the user wrote or decided.
    Reads,
    /// Like `Reads`, but may call a model.
    ReadsAndAsks,
    Adds,
    Removes,
}

pub(super) struct ToolSpec {
    pub(super) name: &'static str,
    title: &'static str,
    description: &'static str,
    effect: Effect,
    is_always_loaded: bool,
    pub(super) tolerance: Tolerance,
    call: fn(&Call, JsonObject) -> Result<String>,
    #[cfg(test)]
    schema: fn() -> JsonObject,
}

impl ToolSpec {
    /// Default values for a row that describes a read-only tool with these arguments.
    #[cfg_attr(
        not(test),
        expect(clippy::extra_unused_type_parameters, reason = "only a test derives the schema")
    )]
    const fn takes<T: JsonSchema>() -> Self {
        Self {
            name: "",
            title: "",
            description: "",
            effect: Effect::Reads,
            is_always_loaded: false,
            tolerance: Tolerance::None,
            call: |_, _| Err(OpError::failed("The tool is not implemented")),
            #[cfg(test)]
            schema: schema::tests::of::<T>,
        }
    }

    pub(super) fn describe(&self) -> Tool {
        let Self { name, title, description, effect, is_always_loaded, .. } = self;
        let reads = matches!(effect, Effect::Reads | Effect::ReadsAndAsks);
        let annotations = ToolAnnotations::from_raw(
            Some((*title).to_owned()),
            Some(reads),
            Some(*effect == Effect::Removes),
            Some(*effect != Effect::Adds),
            Some(*effect == Effect::ReadsAndAsks),
        );
        let mut tool =
            Tool::new(*name, *description, schema::of(name)).with_annotations(annotations);
        if *is_always_loaded {
            let mut meta = JsonObject::new();
            meta.insert(ALWAYS_LOAD.to_owned(), Value::Bool(true));
            tool.meta = Some(MetaObject(meta));
        }
        tool
    }

    pub(super) fn permit(&self) -> Permit {
        match self.effect {
            Effect::Reads | Effect::ReadsAndAsks => AccessScope::Read.into(),
            Effect::Adds | Effect::Removes => AccessScope::Write.into(),
        }
    }

    pub(super) fn run(&self, call: &Call, arguments: JsonObject) -> Result<String> {
        check(&arguments)?;
        (self.call)(call, arguments)
    }
}

fn check(arguments: &JsonObject) -> Result<()> {
    let is_long = |text: &str| MAX_TEXT_CHARS < text.chars().count();
    for (name, value) in arguments {
        let name: String = name.chars().take(60).collect();
        let (is_long, is_listed) = match value {
            Value::String(text) => (is_long(text), false),
            Value::Array(values) => {
                let texts = values.iter().filter_map(Value::as_str);
                (texts.into_iter().any(is_long), MAX_LIST < values.len())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => (false, false),
        };
        if is_long {
            return Err(OpError::usage(format!("`{name}` is too long"))
                .hint(format!("At most {MAX_TEXT_CHARS} characters")));
        }
        if is_listed {
            return Err(OpError::usage(format!("`{name}` has too many items"))
                .hint(format!("At most {MAX_LIST}")));
        }
    }
    Ok(())
}

fn parse<T: DeserializeOwned>(arguments: JsonObject) -> Result<T> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| {
        OpError::usage(format!("Invalid arguments: {error}"))
            .hint("Check the arguments against the tool's schema")
    })
}

/// Returns one page of a result. `offset` is counted in characters.
fn page_result(text: &str, offset: Option<usize>) -> Result<String> {
    page(text, offset.unwrap_or(0))
}

fn at_most(name: &str, value: usize, most: usize) -> Result<usize> {
    if most < value {
        return Err(OpError::usage(format!("`{name}` must be at most {most}")));
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_arguments_are_refused_by_name() {
        let parse = |text: &str| serde_json::from_str::<JsonObject>(text).unwrap();
        assert!(check(&parse(r#"{"query":"sqlite","limit":3}"#)).is_ok());
        let long = format!(r#"{{"query":"{}"}}"#, "x".repeat(MAX_TEXT_CHARS + 1));
        assert!(check(&parse(&long)).unwrap_err().message.contains("`query` is too long"));
        let list = vec!["\"a\""; MAX_LIST + 1].join(",");
        let many = check(&parse(&format!(r#"{{"files":[{list}]}}"#)));
        assert!(many.unwrap_err().message.contains("`files` has too many"));
    }

    #[test]
    fn two_tools_are_offered_at_once_and_every_description_is_short() {
        let loaded: Vec<&str> =
            TOOLS.iter().filter(|tool| tool.is_always_loaded).map(|tool| tool.name).collect();
        assert_eq!(loaded, ["memory_search", "memory_add"]);
        for tool in TOOLS {
            let n_chars = tool.description.chars().count();
            assert!((60..=520).contains(&n_chars), "{}: {n_chars}", tool.name);
        }
    }

    #[test]
    fn the_stored_schemas_are_current() {
        let line = |tool: &ToolSpec| format!("{:?}: {}", tool.name, Value::Object((tool.schema)()));
        let lines: Vec<String> = TOOLS.iter().map(line).collect();
        let text = format!("{{\n{}\n}}\n", lines.join(",\n"));
        crate::stored_tests::check("crates/nacre-server/src/mcp/schema/schemas.json", &text);
    }

    #[test]
    fn schemas_are_plain_objects() {
        for tool in TOOLS {
            let schema = Value::Object(schema::of(tool.name)).to_string();
            for word in ["null", "$ref", "anyOf", "oneOf", "\"format\""] {
                assert!(!schema.contains(word), "{}: {word} in {schema}", tool.name);
            }
            assert!(schema.contains("\"type\":\"object\""), "{schema}");
        }
    }
}
