//! A Nacre entry's state in a text, and what is needed to remove the entry again.

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
    /// The containers around the entry that were empty or absent before the edit, outermost first.
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
    /// The container's path. Empty for the document itself.
    pub keys: Vec<String>,
    /// The container's original text if it was empty before the edit, or `None` if it was absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
}
