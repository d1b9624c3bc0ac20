//! Paths are made from texts; a text that is not a path is an error that names it.

use std::str::FromStr;

use super::error::FsError;
use super::path::RelPath;

/// How much of a bad path an error quotes.
const MAX_SHOWN_CHARS: usize = 120;

impl RelPath {
    /// Checks `text` and takes it as a path below a scope.
    pub fn new(text: &str) -> Result<Self, FsError> {
        let shown = || text.chars().take(MAX_SHOWN_CHARS).collect();
        Self::checked(text).map_err(|why| FsError::BadPath { path: shown(), why })
    }

    /// The path of `name` inside this folder.
    pub fn join(&self, name: &str) -> Result<Self, FsError> {
        Self::new(&format!("{self}/{name}"))
    }
}

impl FromStr for RelPath {
    type Err = FsError;

    fn from_str(text: &str) -> Result<Self, FsError> {
        Self::new(text)
    }
}

impl TryFrom<String> for RelPath {
    type Error = FsError;

    fn try_from(text: String) -> Result<Self, FsError> {
        Self::new(&text)
    }
}
