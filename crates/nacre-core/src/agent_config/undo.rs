//! What a text was like where an entry of ours came.

use serde::{Deserialize, Serialize};

/// What taking an entry out has to put back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    /// Objects and lists that hold the entry and were empty or not there, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub containers: Vec<Container>,
    /// The text of a value that stood in our place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced: Option<String>,
    /// The text that was added at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub appended: Option<String>,
}

/// An object or list that holds an entry of ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Container {
    /// The keys that lead to it; none for the whole document.
    pub keys: Vec<String>,
    /// How it was written while it was empty; `None` where it was not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
}
