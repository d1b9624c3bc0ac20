//! Paths below a scope, checked once when they are made.
//!
//! A `RelPath` has only ordinary components: there is no `..`, root, drive, NUL or invisible
//! character left for the code behind it to think about. What the components lead to is still not
//! trusted; the scope walks them without following links.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::base::is_hidden_char;

/// The longest name that the usual file systems take, in bytes.
const MAX_NAME_BYTES: usize = 255;

/// Deeper trees than this are an attack or an accident.
const MAX_DEPTH: usize = 32;

/// A relative path of ordinary components, joined by `/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RelPath(String);

impl RelPath {
    /// Takes `text` as a path below a scope, unless there is something wrong with it.
    pub(super) fn checked(text: &str) -> Result<Self, PathFault> {
        match fault_of(text) {
            None => Ok(Self(text.to_owned())),
            Some(fault) => Err(fault),
        }
    }

    /// The path as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its components, outermost first.
    pub fn components(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }

    /// The last component.
    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or(&self.0, |(_, name)| name)
    }

    /// The folder it lies in; `None` when that is the scope itself.
    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(parent, _)| Self(parent.to_owned()))
    }
}

/// Why a text is not a path below a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathFault {
    #[error("it is empty")]
    Empty,
    #[error("it is not relative")]
    Absolute,
    #[error("it has an empty component")]
    EmptyName,
    #[error("it has a `.` or `..` component")]
    DotName,
    #[error("a component is longer than 255 bytes")]
    NameTooLong,
    #[error("it has too many components")]
    TooDeep,
    #[error("it has a control or invisible character")]
    HiddenCharacter,
    #[error("a component cannot be a file name on every system")]
    Unportable,
}

fn fault_of(text: &str) -> Option<PathFault> {
    if text.is_empty() {
        return Some(PathFault::Empty);
    }
    if text.starts_with(['/', '\\', '~']) || text.as_bytes().get(1) == Some(&b':') {
        return Some(PathFault::Absolute);
    }
    if text.split('/').count() > MAX_DEPTH {
        return Some(PathFault::TooDeep);
    }
    text.split('/').find_map(fault_of_name)
}

fn fault_of_name(name: &str) -> Option<PathFault> {
    match name {
        "" => Some(PathFault::EmptyName),
        "." | ".." => Some(PathFault::DotName),
        _ if name.len() > MAX_NAME_BYTES => Some(PathFault::NameTooLong),
        _ if name.contains(is_hidden_char) => Some(PathFault::HiddenCharacter),
        _ if name.contains(['\\', ':', '*', '?', '"', '<', '>', '|']) => {
            Some(PathFault::Unportable)
        }
        _ if name.ends_with(['.', ' ']) || name.starts_with(' ') => Some(PathFault::Unportable),
        _ if is_device_name(name) => Some(PathFault::Unportable),
        _ => None,
    }
}

/// Names that are devices on Windows, with any extension: a store is shared by git across systems.
fn is_device_name(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end();
    let numbered = |prefix: &str| {
        stem.len() == 4
            && stem.is_char_boundary(3)
            && stem[..3].eq_ignore_ascii_case(prefix)
            && stem.as_bytes()[3].is_ascii_digit()
    };
    ["con", "prn", "aux", "nul"].iter().any(|device| stem.eq_ignore_ascii_case(device))
        || numbered("com")
        || numbered("lpt")
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<RelPath> for String {
    fn from(path: RelPath) -> Self {
        path.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ordinary_paths_pass() {
        for text in
            ["a", "memory/decisions/20261115-x.md", ".gitignore", "ünïcödé/名前.md", "a.b/c-d"]
        {
            assert_eq!(RelPath::new(text).unwrap().as_str(), text);
        }
    }

    #[test]
    fn hostile_paths_do_not() {
        let long = "n".repeat(256);
        let deep = vec!["d"; 33].join("/");
        for text in [
            "",
            "/etc/passwd",
            "../x",
            "a/../b",
            "a/./b",
            "a//b",
            "a/",
            "~/.ssh",
            "C:/x",
            "a\0b",
            "a\nb",
            "a\u{202e}b",
            "a\u{200b}",
            "\\\\host\\share",
            "a\\..\\b",
            "con",
            "NUL.md",
            "x/com1.txt",
            "x.",
            " x",
            &long,
            &deep,
        ] {
            assert!(RelPath::new(text).is_err(), "{text:?} passed");
        }
    }

    proptest! {
        #[test]
        fn a_path_never_leads_up_or_to_the_root(text in "[./\\\\a\u{202e}\0~:]{0,12}") {
            if let Ok(path) = RelPath::new(&text) {
                prop_assert!(path.components().all(|name| !name.is_empty() && name != "." && name != ".."));
                prop_assert!(!std::path::Path::new(path.as_str()).is_absolute());
            }
        }
    }
}
