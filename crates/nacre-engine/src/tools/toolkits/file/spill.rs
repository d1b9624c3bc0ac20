//! Long outputs of earlier calls, which lie outside the workspace and are an agent's own.

use std::path::Path;

use nacre_core::safefs::{Access, FsError, RelPath, WriteScope};

use super::super::super::tool::ToolError;
use super::super::super::workspace::{MAX_FILE_BYTES, place, tool_error};
use crate::record::Fault;

/// The name of one, as a model wrote it behind the prefix.
pub(super) fn name(text: &str) -> Result<RelPath, ToolError> {
    place(text)
}

/// Reads one.
pub(super) fn read(folder: &Path, text: &str) -> Result<Vec<u8>, ToolError> {
    let name = name(text)?;
    let read = WriteScope::open(folder, Access::Private)
        .and_then(|scope| scope.read(&name, MAX_FILE_BYTES));
    read.map_err(|error| if error.is_missing() { gone(&name) } else { unread(&error, &name) })
}

/// Long outputs are kept for a while only.
fn gone(name: &RelPath) -> ToolError {
    let what = format!("The output `{name}` is not kept any more");
    ToolError::new(Fault::NotFound, what, "Make the call again that it came from.")
}

fn unread(error: &FsError, name: &RelPath) -> ToolError {
    tool_error(error, name)
}
