//! Which tools there are, and whether a call fits one of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::super::tool::{AnyTool, ToolError, ToolSpec};
use super::slim::slim;
use crate::model::{Arguments, Schema, SchemaError, ToolCall, ToolDef};
use crate::record::Fault;

/// Larger arguments are no call but a flood.
const MAX_ARGUMENT_BYTES: usize = 2 << 20;

/// All tools, by name.
#[derive(Default)]
pub struct Registry {
    tools: BTreeMap<&'static str, Registered>,
}

struct Registered {
    tool: Arc<dyn AnyTool>,
    schema: Schema,
    /// As a model is sent it.
    told: Value,
}

/// A tool that cannot be offered.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    #[error("There are two tools named `{name}`")]
    Twice { name: &'static str },
    #[error("The schema of `{name}` cannot be checked")]
    Schema { name: &'static str, source: SchemaError },
}

impl Registry {
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn AnyTool>>) -> Result<Self, RegistryError> {
        let mut registry = Self::default();
        for tool in tools {
            let name = tool.spec().name;
            let whole = tool.schema();
            let schema =
                Schema::new(&whole).map_err(|source| RegistryError::Schema { name, source })?;
            let registered = Registered { tool, schema, told: slim(&whole) };
            if registry.tools.insert(name, registered).is_some() {
                return Err(RegistryError::Twice { name });
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
            schema: registered.told.clone(),
        })
    }

    /// Finds the tool of a call and checks its arguments.
    pub(super) fn resolve(&self, call: &ToolCall) -> Result<(Arc<dyn AnyTool>, Value), ToolError> {
        let Some(registered) = self.tools.get(call.name.as_str()) else {
            return Err(unknown(&call.name));
        };
        let arguments = match &call.arguments {
            Arguments::Object(value) => value,
            Arguments::Malformed { text: _, error } => {
                return Err(refused(&call.name, &format!("The arguments are no JSON: {error}")));
            }
        };
        if MAX_ARGUMENT_BYTES < rough_size(arguments) {
            let what = format!("The arguments have more than {MAX_ARGUMENT_BYTES} bytes");
            return Err(ToolError::new(Fault::TooLarge, what, "Make several smaller calls."));
        }
        let violations = registered.schema.violations(arguments);
        if violations.is_empty() {
            return Ok((Arc::clone(&registered.tool), arguments.clone()));
        }
        let list: Vec<String> = violations.iter().map(ToString::to_string).collect();
        Err(refused(&call.name, &format!("The arguments do not fit: {}", list.join("; "))))
    }
}

fn refused(name: &str, what: &str) -> ToolError {
    let hint = format!("Call `{name}` again with arguments that fit its schema.");
    ToolError::new(Fault::Arguments, what, hint)
}

fn unknown(name: &str) -> ToolError {
    let name: String = name.chars().take(80).collect();
    let what = format!("There is no tool `{name}`");
    ToolError::new(Fault::UnknownTool, what, "Use one of the tools that you were given.")
}

/// About how many bytes the value takes as text.
fn rough_size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| rough_size(item) + 1).sum(),
        Value::Object(object) => {
            object.iter().map(|(key, item)| key.len() + rough_size(item) + 4).sum()
        }
    }
}
