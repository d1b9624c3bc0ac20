//! A call that passed permission and budget, and waits to be run.

use std::sync::Arc;

use serde_json::Value;

use super::super::footprint::{Exec, Footprint, Network};
use super::super::tool::{AnyTool, ToolError};
use crate::record::Fault;

/// A call that may run.
pub(super) struct Job {
    /// Its place among the calls of the step.
    pub(super) idx: usize,
    /// The id of the call.
    pub(super) call: String,
    pub(super) tool: Arc<dyn AnyTool>,
    pub(super) arguments: Value,
    pub(super) footprint: Footprint,
}

impl Job {
    /// Whether its answer alone says if something changed.
    pub(super) fn settles(&self) -> bool {
        !self.footprint.writes.is_empty()
            && self.footprint.exec == Exec::Nothing
            && self.footprint.network == Network::Nothing
    }
}

/// The result of a call whose tool fell over.
pub(super) fn broken(name: &str) -> ToolError {
    let name: String = name.chars().take(80).collect();
    let what = format!("`{name}` broke down inside");
    ToolError::new(Fault::Io, what, "Try another way; this is a defect of the tool.")
}
