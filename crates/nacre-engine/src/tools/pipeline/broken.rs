//! What a call comes to whose tool fell over.

use super::super::tool::ToolError;
use crate::record::Fault;

/// The result of a call whose tool fell over.
pub(super) fn broken(name: &str) -> ToolError {
    let name: String = name.chars().take(80).collect();
    let what = format!("`{name}` broke down inside");
    ToolError::new(Fault::Io, what, "Try another way; this is a defect of the tool.")
}
