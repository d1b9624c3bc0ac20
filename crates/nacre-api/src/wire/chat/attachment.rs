//! What comes with a person's words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One thing beside the words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "attachment", rename_all = "snake_case")]
pub enum Attachment {
    /// A file of the workspace, by its path there; the agent reads it.
    File { path: String },
    /// A long text that was pasted.
    Text { name: String, text: String },
    /// A picture, as base64.
    Image { media_type: String, data: String },
}
