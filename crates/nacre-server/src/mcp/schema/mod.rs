//! The stored schemas of tool arguments, one line per tool. A test (`tests.rs`) generates
//! `schemas.json`, so the program does not need the generator.

#[cfg(test)]
pub(super) mod tests;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use rmcp::model::JsonObject;
use serde_json::value::RawValue;

pub(super) const STORED: &str = include_str!("schemas.json");

static BY_TOOL: LazyLock<BTreeMap<&str, &RawValue>> =
    LazyLock::new(|| serde_json::from_str(STORED).unwrap_or_default());

pub(super) fn of(tool: &str) -> JsonObject {
    let stored = BY_TOOL.get(tool).map(|schema| serde_json::from_str(schema.get()));
    stored.and_then(Result::ok).unwrap_or_default()
}
