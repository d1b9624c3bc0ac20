//! The state of a Nacre entry in a text, and the data needed to remove it again.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryState {
    Missing,
    Current,
    /// The entry was written by another version, refers to another program path, or was edited by
    /// the user.
    Outdated,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// Containers of the entry that were empty or absent before the edit, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub containers: Vec<Container>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub appended: Option<String>,
}

/// An object or array that contains the entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Container {
    /// The path of the container. Empty for the document itself.
    pub keys: Vec<String>,
    /// The text of the empty container before the edit, or `None` if the container was absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
}
