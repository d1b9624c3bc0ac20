//! `memory_remove`

use nacre_api::wire::{MemoryIdsRequest, Scope, StoreScope};
use nacre_ops::host::Tolerance;
use nacre_ops::{OpError, memory};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Effect, Output, ToolSpec, parse};
use crate::calls::Call;

pub(super) const TOOL: ToolSpec = ToolSpec {
    name: "memory_remove",
    title: "Put a memory away",
    description: "Archive one memory of this project that is wrong or no longer holds, by its whole id. It is found no \
                  more, and the person can bring it back. If something else holds now, use memory_add with supersedes \
                  instead. Use it only when the person says so, or the code proves it.",
    effect: Effect::Removes,
    is_always_loaded: false,
    tolerance: Tolerance::None,
    call,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The whole id.
    id: String,
}

/// Only in the store that agents write to: what a person keeps for all projects is theirs to put away.
fn call(call: &Call, arguments: JsonObject) -> Result<Output, OpError> {
    let Arguments { id } = parse(arguments)?;
    let scope = match call.host.store_to_write(None)?.scope {
        StoreScope::Project => Scope::ProjectOnly,
        StoreScope::Global => Scope::GlobalOnly,
    };
    let request = MemoryIdsRequest { ids: vec![id.clone()], scope: Some(scope) };
    let known = nacre_api::wire::MemoryShowRequest { id, scope: Some(scope), ..Default::default() };
    let found = memory::show(&call.host, &known, &call.events)?.memory.id;
    if found != known.id {
        return Err(OpError::usage(format!("`{}` is not a whole id", known.id))
            .hint(format!("Did you mean `{found}`?")));
    }
    let report = memory::archive(&call.host, &request, &call.events)?;
    let text = format!("Archived [{found}]. To bring it back: nacre memory restore {found}");
    Ok(Output { text, structured: serde_json::to_value(&report).ok() })
}
