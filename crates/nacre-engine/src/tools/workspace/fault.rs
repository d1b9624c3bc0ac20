//! Errors of files in words for a model.

use std::fmt::Display;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

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

/// The same for a path that may begin at the root of the file system: it is taken where it lies below `root`.
pub(crate) fn place_below(root: &Path, text: &str) -> Result<RelPath, ToolError> {
    match absolute_below(root, text) {
        None => place(text),
        Some(Ok(rest)) => place(&rest),
        Some(Err(error)) => Err(error),
    }
}

/// The same for a folder; `None` is the root itself.
pub(crate) fn folder_below(root: &Path, text: &str) -> Result<Option<RelPath>, ToolError> {
    if matches!(text, "" | "." | "./" | "/") {
        return Ok(None);
    }
    match absolute_below(root, text) {
        None => place(text).map(Some),
        Some(Ok(rest)) if rest.is_empty() => Ok(None),
        Some(Ok(rest)) => place(&rest).map(Some),
        Some(Err(error)) => Err(error),
    }
}

/// What an absolute path is below `root`; `None` for a path that is not absolute. Links on the way to the root are the
/// person's own; those below it are refused by whoever opens the place.
fn absolute_below(root: &Path, text: &str) -> Option<Result<String, ToolError>> {
    let path = Path::new(text);
    if !path.is_absolute() {
        return None;
    }
    let below = |path: &Path, root: &Path| {
        // Collected anew, without `.` and double slashes.
        let rest: PathBuf = path.strip_prefix(root).ok()?.components().collect();
        Some(rest.to_string_lossy().into_owned())
    };
    let found = below(path, root).or_else(|| {
        let real = root.canonicalize().ok()?;
        below(path, &real).or_else(|| below(&resolved(path)?, &real))
    });
    Some(found.ok_or_else(|| {
        let what = format!("`{text}` lies outside the workspace");
        let hint = "Name a place below the workspace, such as `src/main.rs`.";
        ToolError::new(Fault::Arguments, what, hint)
    }))
}

/// The path without links, as far as it exists; what does not exist yet follows as it is written.
fn resolved(path: &Path) -> Option<PathBuf> {
    if path.components().any(|part| part == Component::ParentDir) {
        return None;
    }
    let (there, real) =
        path.ancestors().find_map(|there| Some((there, there.canonicalize().ok()?)))?;
    Some(real.join(path.strip_prefix(there).ok()?))
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
            "Read it with `file_read`, or look for the part that you need with `file_search` and `under`.",
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

pub(crate) fn not_text(path: impl Display) -> ToolError {
    let what = format!("`{path}` is no text");
    ToolError::new(Fault::WrongKind, what, "Only text files can be read and edited.")
}
