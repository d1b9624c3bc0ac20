//! Errors of files in words for a model.

use std::io::ErrorKind;

use nacre_core::safefs::{FsError, RelPath};

use super::super::tool::ToolError;
use crate::record::Fault;

/// Reads a path that a model wrote; what it may mean, such as `./src/`, is understood.
pub(crate) fn place(text: &str) -> Result<RelPath, ToolError> {
    let plain = text.strip_prefix("./").unwrap_or(text).trim_end_matches('/');
    RelPath::new(plain).map_err(|error| {
        let hint = "Name a place below the workspace, such as `src/main.rs`.";
        ToolError::new(Fault::Arguments, error.to_string(), hint)
    })
}

/// What a failed reading or writing of `path` means.
pub(crate) fn tool_error(error: &FsError, path: &RelPath) -> ToolError {
    let (fault, what, hint) = match error {
        error if error.is_missing() => {
            (Fault::NotFound, format!("There is no `{path}`"), "Look for it with `file_find`.")
        }
        FsError::NotAFile { .. } => (
            Fault::WrongKind,
            format!("`{path}` is no plain file"),
            "Links and folders are not opened; list a folder with `file_find`.",
        ),
        FsError::NotAFolder { .. } => (
            Fault::WrongKind,
            format!("A part of `{path}` is no plain folder"),
            "Links are not followed; name the real place.",
        ),
        FsError::TooLarge { size, limit, .. } => (
            Fault::TooLarge,
            format!("`{path}` has {size} bytes, more than {limit}"),
            "Look for the part that you need with `file_search`.",
        ),
        FsError::Conflict { paths } => conflict(paths.first().unwrap_or(path), path),
        FsError::Io { source, .. } if source.kind() == ErrorKind::NotADirectory => (
            Fault::WrongKind,
            format!("`{path}` is no plain folder"),
            "Links are not followed; name a folder.",
        ),
        FsError::Io { source, .. } => {
            (Fault::Io, format!("Cannot use `{path}`: {}", source.kind()), "Try another way.")
        }
        FsError::BadPath { .. }
        | FsError::TwiceChanged { .. }
        | FsError::Reserved { .. }
        | FsError::Busy { .. }
        | FsError::Interrupted { .. } => (Fault::Io, error.to_string(), "Try another way."),
    };
    ToolError::new(fault, what, hint)
}

fn conflict(at: &RelPath, path: &RelPath) -> (Fault, String, &'static str) {
    let what = if at == path {
        format!("`{at}` is there already, or is not what was read")
    } else {
        format!("`{at}` is not what was read")
    };
    (Fault::Stale, what, "Read it again, then decide.")
}

pub(crate) fn not_text(path: &RelPath) -> ToolError {
    let what = format!("`{path}` is no text");
    ToolError::new(Fault::WrongKind, what, "Only text files can be read and edited.")
}
