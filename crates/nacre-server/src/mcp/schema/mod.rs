//! The schemas of arguments, as they are stored in `schemas.json`: one line a tool.
//!
//! A test writes them from the types of the arguments (`plain.rs`), so that the program has neither to make them nor to hold the
//! code that does.

#[cfg(test)]
pub(super) mod plain;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use rmcp::model::JsonObject;
use serde_json::value::RawValue;

pub(super) const STORED: &str = include_str!("schemas.json");

/// Each schema by the name of its tool, not yet read. A test holds that the file is one of these.
static BY_TOOL: LazyLock<BTreeMap<&str, &RawValue>> =
    LazyLock::new(|| serde_json::from_str(STORED).unwrap_or_default());

/// The schema of a tool's arguments as an object.
pub(super) fn of(tool: &str) -> JsonObject {
    let stored = BY_TOOL.get(tool).map(|schema| serde_json::from_str(schema.get()));
    stored.and_then(Result::ok).unwrap_or_default()
}
