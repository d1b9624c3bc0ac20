//! Relative paths, validated on construction.
//!
//! A `RelPath` contains only ordinary components: no `..`, root, drive, NUL or invisible
//! characters. The directories on disk are still untrusted, so a scope walks the path without
//! following links.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::is_hidden_char;

/// Common file systems limit names to this many bytes.
const MAX_NAME_BYTES: usize = 255;

/// A deeper path is a mistake or an attack.
const MAX_DEPTH: usize = 32;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RelPath(String);

impl RelPath {
    pub(super) fn validate(text: &str) -> Result<Self, PathFault> {
        fault_of(text).map_or_else(|| Ok(Self(text.to_owned())), Err)
    }

    pub fn components(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }

    pub fn name(&self) -> &str {
        self.0.rsplit_once('/').map_or(&self.0, |(_, name)| name)
    }

    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(parent, _)| Self(parent.to_owned()))
    }
}

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
    #[error("a component is not a valid file name on every system")]
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

/// Returns whether the name is a Windows device name, with or without an extension. A store can be
/// shared between operating systems through git, so such names are refused everywhere.
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

text_type!(RelPath);

/// Removes `.` and `..` from a path without following links, for paths that may not exist or that
/// may be links themselves.
pub fn without_dots(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                clean.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => clean.push(part),
        }
    }
    clean
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
