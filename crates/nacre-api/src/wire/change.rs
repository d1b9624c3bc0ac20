//! What an operation would change, as a rehearsal tells it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A file that would be made, changed or removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedChange {
    /// Below the store.
    pub path: String,
    /// Its text now; `None` where it would be made.
    pub before: Option<String>,
    /// Its text then; `None` where it would be removed.
    pub after: Option<String>,
}
