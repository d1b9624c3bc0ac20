//! Reads files of any size, and the stored output of earlier calls.

use std::io::{self, Read as _};
use std::path::Path;

use nacre_base::fs::{Access, OpenFile, WriteScope};

use crate::tools::tool::SPILL_PREFIX;
use crate::tools::toolkits::prelude::*;
use crate::tools::workspace::{MAX_FILE_BYTES, is_binary, not_text, place, tool_error, version_of};

/// Default and maximum number of lines.
const MAX_LINES: u32 = 2000;

/// Slightly below the pipeline's limit, so that the pipeline does not truncate the output again.
const MAX_SHOWN_BYTES: usize = <FileRead as WorkspaceTool>::SPEC.shown_bytes - 1_000;

const MAX_LINE_BYTES: usize = 8_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FileRead {
    /// The file's path, or `spill:NAME` for the long output of an earlier call.
    #[schemars(length(min = 1, max = 4096))]
    path: String,
    /// The first line to return, counting from 1.
    #[schemars(range(min = 1))]
    first_line: Option<u32>,
    /// How many lines.
    #[schemars(range(min = 1, max = 2000))]
    n_lines: Option<u32>,
}

impl WorkspaceTool for FileRead {
    const SPEC: ToolSpec = ToolSpec {
        name: "file_read",
        category: Category::Read,
        description: "Reads a text file, with line numbers. Shows how many lines it has and its version, which the tools \
                      that change files take. A read that does not show all \
                      of it names the line to continue at.",
        time_limit: super::FILE_LIMIT,
        shown_bytes: 48_000,
    };

    fn footprint(&self, workspace: &Workspace) -> Result<Footprint> {
        // The stored output of earlier calls is outside the workspace, so reading it needs no
        // permission.
        match self.path.strip_prefix(SPILL_PREFIX) {
            Some(name) => place(name).map(|_| Footprint::default()),
            None => Ok(Footprint::reading([Area::File(workspace.place(&self.path)?)])),
        }
    }

    fn run(&self, workspace: &Workspace, ctx: &ToolContext) -> Result<Output> {
        if let Some(name) = self.path.strip_prefix(SPILL_PREFIX) {
            return show(name, &read_spill(&ctx.spill, name)?, self);
        }
        let path = workspace.place(&self.path)?;
        let file = workspace.open_file(&path)?;
        match file.size {
            0..=MAX_FILE_BYTES => show(path.as_str(), &workspace.read(&path)?, self),
            _ => show_large(path.as_str(), file, self, &ctx.cancel),
        }
    }
}

struct Window {
    first: usize,
    wanted: usize,
    text: String,
    /// Number of the last displayed line. `n_lines` is the number of the last line read.
    last: usize,
    n_lines: usize,
    is_full: bool,
}

impl Window {
    fn new(input: &FileRead) -> Self {
        let first = input.first_line.unwrap_or(1) as usize;
        let wanted = input.n_lines.unwrap_or(MAX_LINES).min(MAX_LINES) as usize;
        let text = String::new();
        Self { first, wanted, text, last: first - 1, n_lines: 0, is_full: false }
    }

    fn take(&mut self, n_before: usize, text: &str) {
        for (idx, line) in text.lines().enumerate() {
            let number = n_before + idx + 1;
            self.n_lines = number;
            // A line longer than the read buffer arrives in parts.
            let is_new = self.last < number && !self.is_full;
            if is_new && (self.first..self.first + self.wanted).contains(&number) {
                self.show(number, line);
            }
        }
    }

    fn show(&mut self, number: usize, line: &str) {
        let end = line.floor_char_boundary(MAX_LINE_BYTES);
        let cut = if end < line.len() {
            format!("… [{} bytes of this line omitted]", line.len() - end)
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

    /// Builds the output. `about` describes the file itself.
    fn output(self, path: &str, about: &str, is_all_asked: bool) -> Result<Output> {
        let Self { first, last, n_lines, .. } = self;
        if n_lines < first && first != 1 {
            let what = format!("`{path}` has only {n_lines} lines");
            return Err(ToolError::new(Fault::Arguments, what, "Request an existing line range."));
        }
        let mut text = format!("{path}: lines {first}-{last} of {n_lines}{about}\n{}", self.text);
        if last < n_lines && (is_all_asked || self.is_full) {
            text += &format!("[Continue at line {}.]\n", last + 1);
        }
        Ok(Output::text(text))
    }
}

fn show(path: &str, bytes: &[u8], input: &FileRead) -> Result<Output> {
    if is_binary(bytes) {
        return Err(not_text(path));
    }
    let mut window = Window::new(input);
    window.take(0, &String::from_utf8_lossy(bytes));
    let version = version_of(bytes);
    window.output(path, &format!(", version {version}"), input.n_lines.is_none())
}

/// Shows lines of a file that is too large to read at once. The output contains no version, so the
/// file cannot be edited.
fn show_large(path: &str, file: OpenFile, input: &FileRead, cancel: &Cancel) -> Result<Output> {
    let size = file.size;
    let mut window = Window::new(input);
    let mut pieces = Pieces::new(file);
    let unread = |error: io::Error| {
        let what = format!("Cannot read `{path}`: {}", error.kind());
        ToolError::new(Fault::Io, what, "Try again.")
    };
    while let Some(bytes) = pieces.next().map_err(unread)? {
        let n_before = pieces.n_before;
        check_running(cancel)?;
        if n_before == 0 && is_binary(&bytes) {
            return Err(not_text(path));
        }
        window.take(n_before, &String::from_utf8_lossy(&bytes));
    }
    let seen = if pieces.is_cut() { " that were looked at" } else { "" };
    let about = format!("{seen}; {size} bytes, too large to edit");
    window.output(path, &about, input.n_lines.is_none())
}

/// Size of the read buffer. Longer lines arrive in parts.
const PIECE_BYTES: usize = 4 << 20;

/// Maximum number of bytes read in one call. In larger files, everything after this point is
/// ignored.
const MAX_READ_BYTES: u64 = 1 << 30;

pub(super) struct Pieces {
    file: OpenFile,
    rest: Vec<u8>,
    n_read: u64,
    n_lines: usize,
    /// Number of lines before the current piece.
    pub(super) n_before: usize,
    is_at_end: bool,
}

impl Pieces {
    pub(super) fn new(file: OpenFile) -> Self {
        Self { file, rest: Vec::new(), n_read: 0, n_lines: 0, n_before: 0, is_at_end: false }
    }

    pub(super) fn is_cut(&self) -> bool {
        MAX_READ_BYTES <= self.n_read
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = std::mem::take(&mut self.rest);
        if !self.is_at_end && bytes.len() < PIECE_BYTES {
            let wanted = (PIECE_BYTES - bytes.len()) as u64;
            let n_new = self.file.by_ref().take(wanted).read_to_end(&mut bytes)? as u64;
            self.n_read += n_new;
            self.is_at_end = n_new < wanted || self.is_cut();
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        let last = memchr::memrchr(b'\n', &bytes);
        if let Some(last) = last.filter(|_| !self.is_at_end) {
            self.rest = bytes.split_off(last + 1);
        }
        self.n_before = self.n_lines;
        self.n_lines += memchr::memchr_iter(b'\n', &bytes).count();
        Ok(Some(bytes))
    }
}

pub(super) fn read_spill(folder: &Path, name: &str) -> Result<Vec<u8>> {
    let path = place(name)?;
    let read = WriteScope::open(folder, Access::Private)
        .and_then(|scope| scope.read(&path, MAX_FILE_BYTES));
    read.map_err(|error| {
        if error.is_missing() {
            let what = format!("The output `{path}` is no longer stored");
            return ToolError::new(Fault::NotFound, what, "Repeat the call that produced it.");
        }
        tool_error(&error, &path)
    })
}
