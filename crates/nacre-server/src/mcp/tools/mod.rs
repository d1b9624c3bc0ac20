//! The tools: one file each, which turns arguments into a request, calls the operation and renders its report as text.
//!
//! A new tool is a file here, a row in `TOOLS`, and one in the tests' `derived`, from which `make docs` stores its schema. What
//! a description does not say, a model does not know: some clients show names and descriptions only.

mod ask;
mod brief;
mod code_search;
mod context;
mod delta;
mod explore;
mod memory_add;
pub(super) mod memory_get;
mod memory_remove;
mod memory_search;
mod status;
mod trace_search;

use nacre_ops::OpError;
use nacre_ops::host::Tolerance;
use rmcp::model::{JsonObject, MetaObject, Tool, ToolAnnotations};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::schema;
use crate::calls::Call;
use crate::permit::Permit;

/// Every tool, those first that matter most.
pub(super) const TOOLS: &[ToolSpec] = &[
    memory_search::TOOL,
    memory_get::TOOL,
    memory_add::TOOL,
    memory_remove::TOOL,
    brief::TOOL,
    ask::TOOL,
    trace_search::TOOL,
    context::TOOL,
    code_search::TOOL,
    explore::TOOL,
    delta::TOOL,
    status::TOOL,
];

/// By this key Claude Code offers a tool at once, instead of behind a search for tools.
const ALWAYS_LOAD: &str = "anthropic/alwaysLoad";

/// The longest text and the longest list that an argument may be.
const MAX_TEXT_CHARS: usize = 16_000;
const MAX_LIST: usize = 64;

/// What a call may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing that a person wrote or decided.
    Reads,
    /// The same, and a model may be asked.
    ReadsAndAsks,
    Adds,
    Removes,
}

/// A tool as it is listed and called.
pub(super) struct ToolSpec {
    pub(super) name: &'static str,
    title: &'static str,
    description: &'static str,
    effect: Effect,
    is_always_loaded: bool,
    pub(super) tolerance: Tolerance,
    call: fn(&Call, JsonObject) -> Result<Output, OpError>,
}

/// What a call gave.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) text: String,
    /// The same for programs, where it is small. Some agents show their model only this, so it must say all.
    pub(super) structured: Option<Value>,
}

impl From<String> for Output {
    fn from(text: String) -> Self {
        Self { text, structured: None }
    }
}

impl ToolSpec {
    /// The tool as a client sees it.
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

    /// What a caller needs for it.
    pub(super) fn permit(&self) -> Permit {
        match self.effect {
            Effect::Reads | Effect::ReadsAndAsks => Permit::Read,
            Effect::Adds | Effect::Removes => Permit::Write,
        }
    }

    pub(super) fn run(&self, call: &Call, arguments: JsonObject) -> Result<Output, OpError> {
        check(&arguments)?;
        (self.call)(call, arguments)
    }
}

/// Arguments are a stranger's: none is longer than anything that makes sense.
fn check(arguments: &JsonObject) -> Result<(), OpError> {
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
            return Err(OpError::usage(format!("`{name}` has too many entries"))
                .hint(format!("At most {MAX_LIST}")));
        }
    }
    Ok(())
}

/// The arguments in their type.
fn parse<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, OpError> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| {
        OpError::usage(format!("The arguments do not fit: {error}"))
            .hint("Compare them with the schema of this tool")
    })
}

/// A number that must not be larger.
fn at_most(name: &str, value: usize, most: usize) -> Result<usize, OpError> {
    if most < value {
        return Err(OpError::usage(format!("`{name}` is at most {most}")));
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

    /// The schemas of all tools, by the types of their arguments.
    fn derived() -> [JsonObject; TOOLS.len()] {
        use schema::plain::of;
        [
            of::<memory_search::Arguments>(),
            of::<memory_get::Arguments>(),
            of::<memory_add::Arguments>(),
            of::<memory_remove::Arguments>(),
            of::<brief::Arguments>(),
            of::<ask::Arguments>(),
            of::<trace_search::Arguments>(),
            of::<context::Arguments>(),
            of::<code_search::Arguments>(),
            of::<explore::Arguments>(),
            of::<delta::Arguments>(),
            of::<status::Arguments>(),
        ]
    }

    #[test]
    fn the_stored_schemas_are_current() {
        let line = |(tool, schema): (&ToolSpec, JsonObject)| {
            format!("{:?}: {}", tool.name, Value::Object(schema))
        };
        let lines: Vec<String> = TOOLS.iter().zip(derived()).map(line).collect();
        let text = format!("{{\n{}\n}}\n", lines.join(",\n"));
        crate::stored::check("crates/nacre-server/src/mcp/schema/schemas.json", &text);
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
