//! `file_read`: a file, or some lines of it.

use std::sync::Arc;

use nacre_core::safefs::OpenFile;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::super::footprint::{Area, Footprint};
use super::super::super::tool::{Output, SPILL_PREFIX, Tool, ToolContext, ToolError, ToolSpec};
use super::super::super::workspace::{MAX_FILE_BYTES, Workspace, is_binary, not_text, version_of};
use super::super::{check_running, off_thread};
use super::pieces::{Piece, Pieces, unread};
use crate::model::Cancel;
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
    /// Path of the file, or `spill:NAME` for long output of an earlier call.
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
            Some(name) => super::spill::name(name).map(|_| Footprint::default()),
            None => Ok(Footprint::reading([Area::File(self.workspace.place(&input.path)?)])),
        }
    }

    async fn run(&self, input: ReadInput, ctx: &ToolContext) -> Result<Output, ToolError> {
        let workspace = Arc::clone(&self.workspace);
        let spill = Arc::clone(&ctx.spill);
        off_thread(ctx, move |cancel| {
            if let Some(name) = input.path.strip_prefix(SPILL_PREFIX) {
                return show(name, &super::spill::read(&spill, name)?, &input);
            }
            let path = workspace.place(&input.path)?;
            let file = workspace.open_file(&path)?;
            match file.size {
                0..=MAX_FILE_BYTES => show(path.as_str(), &workspace.read(&path)?, &input),
                _ => show_large(path.as_str(), file, &input, cancel),
            }
        })
        .await
    }
}

/// The lines that a call wants, as many as fit into one answer.
struct Window {
    /// The first line, from 1.
    first: usize,
    wanted: usize,
    text: String,
    /// The number of the last line that is shown, and of the last that there is.
    last: usize,
    n_lines: usize,
    is_full: bool,
}

impl Window {
    fn new(input: &ReadInput) -> Self {
        let first = input.first_line.unwrap_or(1) as usize;
        let wanted = input.n_lines.unwrap_or(MAX_LINES).min(MAX_LINES) as usize;
        let text = String::new();
        Self { first, wanted, text, last: first - 1, n_lines: 0, is_full: false }
    }

    /// Takes the lines that follow `n_before` others.
    fn take(&mut self, n_before: usize, text: &str) {
        for (idx, line) in text.lines().enumerate() {
            let number = n_before + idx + 1;
            self.n_lines = number;
            // A line that is longer than a piece comes in parts.
            let is_new = self.last < number && !self.is_full;
            if is_new && (self.first..self.first + self.wanted).contains(&number) {
                self.show(number, line);
            }
        }
    }

    fn show(&mut self, number: usize, line: &str) {
        let end = line.floor_char_boundary(MAX_LINE_BYTES);
        let cut = if end < line.len() {
            format!("… [{} bytes of this line are left out]", line.len() - end)
        } else {
            String::new()
        };
        let line = format!("{number:>5}\t{}{cut}\n", &line[..end]);
        if MAX_SHOWN_BYTES < self.text.len() + line.len() && !self.text.is_empty() {
            self.is_full = true;
            return;
        }
        self.text += &line;
        self.last = number;
    }

    /// The answer; `about` says more of the file than its lines.
    fn output(
        self,
        path: &str,
        about: &str,
        value: Value,
        is_all_asked: bool,
    ) -> Result<Output, ToolError> {
        let Self { first, last, n_lines, .. } = self;
        if n_lines < first && first != 1 {
            let what = format!("`{path}` has only {n_lines} lines");
            return Err(ToolError::new(Fault::Arguments, what, "Ask for lines that it has."));
        }
        let mut text = format!("{path}: lines {first}-{last} of {n_lines}{about}\n{}", self.text);
        if last < n_lines && (is_all_asked || self.is_full) {
            text += &format!("[Continue at line {}.]\n", last + 1);
        }
        let mut value = value;
        value["first_line"] = first.into();
        value["last_line"] = last.into();
        value["n_lines"] = n_lines.into();
        Ok(Output { text, value, changed: Vec::new() })
    }
}

/// Shows lines of a file that was read.
fn show(path: &str, bytes: &[u8], input: &ReadInput) -> Result<Output, ToolError> {
    if is_binary(bytes) {
        return Err(not_text(path));
    }
    let mut window = Window::new(input);
    window.take(0, &String::from_utf8_lossy(bytes));
    let version = version_of(bytes);
    let value = json!({ "path": path, "version": version });
    window.output(path, &format!(", version {version}"), value, input.n_lines.is_none())
}

/// Shows lines of a file that is too large to be read at once. It has no version: it cannot be edited.
fn show_large(
    path: &str,
    file: OpenFile,
    input: &ReadInput,
    cancel: &Cancel,
) -> Result<Output, ToolError> {
    let size = file.size;
    let mut window = Window::new(input);
    let mut pieces = Pieces::new(file);
    while let Some(Piece { n_before, bytes }) =
        pieces.next().map_err(|error| unread(path, &error))?
    {
        check_running(cancel)?;
        if n_before == 0 && is_binary(&bytes) {
            return Err(not_text(path));
        }
        window.take(n_before, &String::from_utf8_lossy(&bytes));
    }
    let seen = if pieces.is_cut() { " that were looked at" } else { "" };
    let about = format!("{seen}; {size} bytes, too large to be edited");
    window.output(path, &about, json!({ "path": path, "n_bytes": size }), input.n_lines.is_none())
}
