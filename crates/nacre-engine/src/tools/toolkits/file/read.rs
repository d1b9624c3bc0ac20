//! `file_read`: a file, or some lines of it.

use std::path::Path;
use std::sync::Arc;

use nacre_core::safefs::{Access, RelPath, WriteScope};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::super::footprint::{Area, Footprint};
use super::super::super::tool::{Output, SPILL_PREFIX, Tool, ToolContext, ToolError, ToolSpec};
use super::super::super::workspace::{
    MAX_FILE_BYTES, Workspace, is_binary, not_text, place, tool_error, version_of,
};
use super::super::off_thread;
use crate::record::{Category, Fault};

/// What one call shows unless it asks for fewer.
const MAX_LINES: u32 = 2000;

/// A read ends before its answer would have to be cut in the middle.
const MAX_SHOWN_BYTES: usize = FileRead::SPEC.shown_bytes - 1_000;

/// A longer line was made by a program.
const MAX_LINE_BYTES: usize = 8_000;

/// Reads files.
pub(super) struct FileRead {
    pub(super) workspace: Arc<Workspace>,
}

/// Which file, and which of its lines.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadInput {
    /// Path below the workspace, or `spill:NAME` for long output of an earlier call.
    #[schemars(length(min = 1, max = 4096))]
    path: String,
    /// The first line wanted, from 1.
    #[schemars(range(min = 1))]
    first_line: Option<u32>,
    /// How many lines.
    #[schemars(range(min = 1, max = 2000))]
    n_lines: Option<u32>,
}

impl Tool for FileRead {
    type Input = ReadInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "file_read",
        toolkit: super::TOOLKIT,
        category: Category::Read,
        description: "Reads a text file, with line numbers. Says how many lines it has and its version, which the tools \
                      that change files take. A read that does not show all \
                      of it says at which line to continue.",
        time_limit: super::FILE_LIMIT,
        shown_bytes: 48_000,
    };

    fn footprint(&self, input: &ReadInput) -> Result<Footprint, ToolError> {
        // What an agent's own calls put out is its own, and lies outside the workspace.
        match input.path.strip_prefix(SPILL_PREFIX) {
            Some(name) => place(name).map(|_| Footprint::default()),
            None => Ok(Footprint::reading([Area::File(place(&input.path)?)])),
        }
    }

    async fn run(&self, input: ReadInput, ctx: &ToolContext) -> Result<Output, ToolError> {
        let workspace = Arc::clone(&self.workspace);
        let spill = Arc::clone(&ctx.spill);
        off_thread(ctx, move |_| {
            let (path, bytes) = match input.path.strip_prefix(SPILL_PREFIX) {
                Some(name) => read_spill(&spill, &place(name)?)?,
                None => {
                    let path = place(&input.path)?;
                    let bytes = workspace.read(&path)?;
                    (path, bytes)
                }
            };
            show(&path, &bytes, &input)
        })
        .await
    }
}

/// The lines with their numbers, as many as fit into one answer, and the number of the last.
fn numbered(text: &str, first: usize, wanted: usize) -> (String, usize) {
    let mut shown = String::new();
    let mut last = first - 1;
    for (idx, line) in text.lines().enumerate().skip(first - 1).take(wanted) {
        let end = line.floor_char_boundary(MAX_LINE_BYTES);
        let cut = if end < line.len() {
            format!("… [{} bytes of this line are left out]", line.len() - end)
        } else {
            String::new()
        };
        let line = format!("{:>5}\t{}{cut}\n", idx + 1, &line[..end]);
        if MAX_SHOWN_BYTES < shown.len() + line.len() && !shown.is_empty() {
            break;
        }
        shown += &line;
        last = idx + 1;
    }
    (shown, last)
}

fn read_spill(folder: &Path, name: &RelPath) -> Result<(RelPath, Vec<u8>), ToolError> {
    let read = WriteScope::open(folder, Access::Private)
        .and_then(|scope| scope.read(name, MAX_FILE_BYTES))
        .map_err(|error| tool_error(&error, name))?;
    Ok((name.clone(), read))
}

fn show(path: &RelPath, bytes: &[u8], input: &ReadInput) -> Result<Output, ToolError> {
    if is_binary(bytes) {
        return Err(not_text(path));
    }
    let text = String::from_utf8_lossy(bytes);
    let n_lines = text.lines().count();
    let first = input.first_line.unwrap_or(1) as usize;
    let wanted = input.n_lines.unwrap_or(MAX_LINES).min(MAX_LINES) as usize;
    if n_lines < first && first != 1 {
        let what = format!("`{path}` has only {n_lines} lines");
        return Err(ToolError::new(Fault::Arguments, what, "Ask for lines that it has."));
    }
    let version = version_of(bytes);
    let (lines, last) = numbered(&text, first, wanted);
    let mut shown =
        format!("{path}: lines {first}-{last} of {n_lines}, version {version}\n{lines}");
    if last < n_lines && last < first - 1 + wanted {
        shown += &format!("[Continue at line {}.]\n", last + 1);
    }
    let value = json!({
        "path": path.as_str(), "first_line": first, "last_line": last,
        "n_lines": n_lines, "version": version,
    });
    Ok(Output { text: shown, value, changed: Vec::new() })
}
