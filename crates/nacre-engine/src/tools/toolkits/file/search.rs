//! `file_search`: lines by regular expression.
//!
//! Linear by construction: the expression is bounded when it is compiled, lines are matched one by one and only to a
//! bounded length, and between two files the call asks whether it should stop. No expression can hold it up.

use std::ops::ControlFlow;
use std::sync::Arc;

use nacre_core::safefs::{Folder, FsError, RelPath};
use regex::bytes::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::super::footprint::Footprint;
use super::super::super::tool::{Output, SPILL_PREFIX, Tool, ToolContext, ToolError, ToolSpec};
use super::super::super::workspace::{Walk, WalkEnd, WalkedFile, Workspace, is_binary};
use super::super::{check_running, off_thread};
use super::find::Names;
use super::pieces::{Piece, Pieces};
use crate::model::Cancel;
use crate::record::{Category, Fault};

const DEFAULT_RESULTS: u32 = 50;

/// Who asks for more gets these.
const MAX_RESULTS: u32 = 500;
const MAX_CONTEXT: u32 = 10;

/// Files that are larger are searched only where they are named.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// What one call reads of all files together.
const MAX_TOTAL_BYTES: usize = 512 << 20;

/// A line is matched as far as this.
const MAX_LINE_BYTES: usize = 4096;

/// A matching line is shown as far as this.
const SHOWN_LINE_BYTES: usize = 240;

/// The compiled expression and its automaton.
const REGEX_BYTES: usize = 256 << 10;
const AUTOMATON_BYTES: usize = 1 << 20;

/// Searches files.
pub(super) struct FileSearch {
    pub(super) workspace: Arc<Workspace>,
}

/// What to look for, and where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FileSearchInput {
    /// A regular expression, matched line by line.
    #[schemars(length(min = 1, max = 1000))]
    pattern: String,
    /// Take the pattern as plain text.
    #[serde(default)]
    literal: bool,
    #[serde(default)]
    ignore_case: bool,
    /// The folder or file to look in, or `spill:NAME` for long output of an earlier call; the whole workspace if left
    /// out. A file that is named here is searched whatever its size.
    #[schemars(length(max = 4096))]
    under: Option<String>,
    /// Only files whose path matches this glob; with `!` before it, only others.
    #[schemars(length(min = 1, max = 256))]
    files: Option<String>,
    /// No files whose path matches one of these globs.
    #[serde(default)]
    #[schemars(length(max = 20))]
    exclude: Vec<String>,
    /// What to show of each file that matches.
    #[serde(default)]
    show: SearchShown,
    /// Lines to show before and after each match.
    context: Option<u32>,
    /// How many matching lines at most; files, where only these are shown.
    #[schemars(range(min = 1))]
    max_results: Option<u32>,
}

/// What is shown of a file that matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum SearchShown {
    /// Each line as `path:line: text`.
    #[default]
    Lines,
    /// The path once, and its lines below it.
    Grouped,
    /// The path alone.
    Files,
    /// The path, and how many of its lines match.
    Counts,
}

impl Tool for FileSearch {
    type Input = FileSearchInput;

    const SPEC: ToolSpec = ToolSpec {
        name: "file_search",
        toolkit: super::TOOLKIT,
        category: Category::Search,
        description: "Searches the lines of text files for a regular expression. Shows `path:line: text`, or only \
                      files or counts. Files that git ignores are left out.",
        time_limit: super::WALK_LIMIT,
        shown_bytes: 16_000,
    };

    fn footprint(&self, input: &FileSearchInput) -> Result<Footprint, ToolError> {
        match input.spill() {
            Some(name) => super::spill::name(name).map(|_| Footprint::default()),
            None => super::reading_below(&self.workspace, input.under.as_deref()),
        }
    }

    async fn run(&self, input: FileSearchInput, ctx: &ToolContext) -> Result<Output, ToolError> {
        let workspace = Arc::clone(&self.workspace);
        let spill = Arc::clone(&ctx.spill);
        off_thread(ctx, move |cancel| {
            let mut search = Search::new(&input, cancel)?;
            if let (Some(name), Some(under)) = (input.spill(), &input.under) {
                let bytes = super::spill::read(&spill, name)?;
                let _ = search.text(under, &bytes);
                return Ok(search.output(&input.pattern, WalkEnd::default()));
            }
            let under = workspace.folder(input.under.as_deref())?;
            search.alone.clone_from(&under);
            let end = Walk::new(&workspace, cancel)
                .run(under.as_ref(), &mut |found| search.visit(&found))?;
            check_running(cancel)?;
            Ok(search.output(&input.pattern, end))
        })
        .await
    }
}

impl FileSearchInput {
    /// The long output of an earlier call that is to be searched.
    fn spill(&self) -> Option<&str> {
        self.under.as_deref()?.strip_prefix(SPILL_PREFIX)
    }
}

/// Compiles a bounded expression.
fn compile(input: &FileSearchInput) -> Result<Regex, ToolError> {
    if !input.literal && (input.pattern.contains('\n') || input.pattern.contains("\\n")) {
        let what = "The expression spans lines, and lines are matched one by one";
        return Err(ToolError::new(
            Fault::Arguments,
            what,
            "Look for one of the lines, with `context`.",
        ));
    }
    let pattern = if input.literal { regex::escape(&input.pattern) } else { input.pattern.clone() };
    RegexBuilder::new(&pattern)
        .case_insensitive(input.ignore_case)
        .size_limit(REGEX_BYTES)
        .dfa_size_limit(AUTOMATON_BYTES)
        .nest_limit(50)
        .build()
        .map_err(|error| {
            let what = if matches!(error, regex::Error::CompiledTooBig(_)) {
                "The expression is too large".to_owned()
            } else {
                format!("The expression cannot be read: {error}")
            };
            let hint = "Write a simpler one, or set `literal` to look for the text itself.";
            ToolError::new(Fault::Arguments, what, hint)
        })
}

struct Search<'c> {
    regex: Regex,
    names: Option<Names>,
    excluded: Vec<Names>,
    show: SearchShown,
    cancel: &'c Cancel,
    context: usize,
    max_results: usize,
    text: String,
    matches: Vec<Value>,
    n_bytes: usize,
    n_searched: usize,
    n_passed_over: usize,
    /// Some that are too large to be searched with others.
    too_large: Vec<String>,
    n_long_lines: usize,
    /// The one file that is searched, where there is only one.
    alone: Option<RelPath>,
    /// The path that the last lines stand below.
    heading: String,
    is_full: bool,
}

impl<'c> Search<'c> {
    fn new(input: &FileSearchInput, cancel: &'c Cancel) -> Result<Self, ToolError> {
        let excluded = input.files.as_deref().and_then(|files| files.strip_prefix('!'));
        let names = input.files.as_deref().filter(|_| excluded.is_none());
        let excluded = input.exclude.iter().map(String::as_str).chain(excluded);
        Ok(Self {
            regex: compile(input)?,
            names: names.map(Names::new).transpose()?,
            excluded: excluded.map(Names::new).collect::<Result<_, _>>()?,
            show: input.show,
            cancel,
            context: input.context.unwrap_or(0).min(MAX_CONTEXT) as usize,
            max_results: input.max_results.unwrap_or(DEFAULT_RESULTS).min(MAX_RESULTS) as usize,
            text: String::new(),
            matches: Vec::new(),
            n_bytes: 0,
            n_searched: 0,
            n_passed_over: 0,
            too_large: Vec::new(),
            n_long_lines: 0,
            alone: None,
            heading: String::new(),
            is_full: false,
        })
    }

    fn visit(&mut self, found: &WalkedFile<'_>) -> ControlFlow<()> {
        let WalkedFile::File { path, folder } = found else { return ControlFlow::Continue(()) };
        let is_excluded = self.excluded.iter().any(|names| names.matches(path));
        if is_excluded || self.names.as_ref().is_some_and(|names| !names.matches(path)) {
            return ControlFlow::Continue(());
        }
        self.file(path, folder)
    }

    fn file(&mut self, path: &RelPath, folder: &Folder) -> ControlFlow<()> {
        let bytes = match folder.read(path.name(), MAX_FILE_BYTES) {
            Ok(bytes) => bytes,
            Err(FsError::TooLarge { .. }) if self.alone.as_ref() == Some(path) => {
                return self.large(path, folder);
            }
            Err(FsError::TooLarge { .. }) => {
                self.too_large.push(path.to_string());
                return ControlFlow::Continue(());
            }
            Err(_) => {
                self.n_passed_over += 1;
                return ControlFlow::Continue(());
            }
        };
        self.n_bytes += bytes.len();
        if MAX_TOTAL_BYTES < self.n_bytes {
            self.is_full = true;
            return ControlFlow::Break(());
        }
        self.text(path.as_str(), &bytes)
    }

    /// Searches a text that is there as a whole.
    fn text(&mut self, path: &str, bytes: &[u8]) -> ControlFlow<()> {
        if is_binary(bytes) {
            self.n_passed_over += 1;
            return ControlFlow::Continue(());
        }
        self.n_searched += 1;
        match self.show {
            SearchShown::Lines | SearchShown::Grouped => self.lines(path, bytes, 0),
            SearchShown::Files | SearchShown::Counts => self.counted(path, self.count(bytes)),
        }
    }

    /// Searches a file of any size, piece by piece.
    fn large(&mut self, path: &RelPath, folder: &Folder) -> ControlFlow<()> {
        let Ok(file) = folder.open_file(path.name()) else {
            self.n_passed_over += 1;
            return ControlFlow::Continue(());
        };
        let mut pieces = Pieces::new(file);
        let mut n_matching = 0;
        while let Ok(Some(Piece { n_before, bytes })) = pieces.next() {
            if n_before == 0 && is_binary(&bytes) {
                self.n_passed_over += 1;
                return ControlFlow::Continue(());
            }
            match self.show {
                SearchShown::Lines | SearchShown::Grouped => {
                    self.lines(path.as_str(), &bytes, n_before)?;
                }
                SearchShown::Files | SearchShown::Counts => n_matching += self.count(&bytes),
            }
            if self.cancel.is_cancelled() {
                return ControlFlow::Break(());
            }
        }
        self.n_searched += 1;
        self.is_full |= pieces.is_cut();
        self.counted(path.as_str(), n_matching)
    }

    /// How many lines match, or whether one does.
    fn count(&self, bytes: &[u8]) -> usize {
        let most = if self.show == SearchShown::Files { 1 } else { usize::MAX };
        let is_match = |line: &&[u8]| self.regex.is_match(&line[..line.len().min(MAX_LINE_BYTES)]);
        bytes.split(|byte| *byte == b'\n').filter(is_match).take(most).count()
    }

    /// Takes in how many lines of a file match.
    fn counted(&mut self, path: &str, n_lines: usize) -> ControlFlow<()> {
        if n_lines == 0 {
            return ControlFlow::Continue(());
        }
        if self.max_results <= self.matches.len() {
            self.is_full = true;
            return ControlFlow::Break(());
        }
        self.matches.push(match self.show {
            SearchShown::Counts => json!({ "path": path, "n_lines": n_lines }),
            SearchShown::Lines | SearchShown::Grouped | SearchShown::Files => {
                json!({ "path": path })
            }
        });
        self.text += &match self.show {
            SearchShown::Counts => format!("{path}: {n_lines}\n"),
            SearchShown::Lines | SearchShown::Grouped | SearchShown::Files => format!("{path}\n"),
        };
        if self.cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Shows the lines that match, of a piece with `n_before` lines before it.
    fn lines(&mut self, path: &str, bytes: &[u8], n_before: usize) -> ControlFlow<()> {
        let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        let mut shown_to = 0;
        for (idx, line) in lines.iter().enumerate() {
            self.n_long_lines += usize::from(MAX_LINE_BYTES < line.len());
            if !self.regex.is_match(&line[..line.len().min(MAX_LINE_BYTES)]) {
                if idx % 16 == 0 && self.cancel.is_cancelled() {
                    return ControlFlow::Break(());
                }
                continue;
            }
            if self.max_results <= self.matches.len() {
                self.is_full = true;
                return ControlFlow::Break(());
            }
            self.matches.push(json!({ "path": path, "line": n_before + idx + 1 }));
            if self.show == SearchShown::Grouped && self.heading != path {
                self.text += &format!("{path}\n");
                path.clone_into(&mut self.heading);
            }
            let from = idx.saturating_sub(self.context).max(shown_to);
            let to = (idx + 1 + self.context).min(lines.len());
            for (at, line) in lines.iter().enumerate().take(to).skip(from) {
                let mark = if at == idx { ':' } else { '-' };
                let place = if self.show == SearchShown::Grouped {
                    format!("  {}{mark}", n_before + at + 1)
                } else {
                    format!("{path}{mark}{}{mark}", n_before + at + 1)
                };
                self.text += &format!("{place} {}\n", shown_line(line));
            }
            shown_to = to.max(shown_to);
        }
        ControlFlow::Continue(())
    }

    fn output(self, pattern: &str, end: WalkEnd) -> Output {
        let mut text = self.text;
        let n_searched = self.n_searched;
        if self.matches.is_empty() {
            text += &format!("No line matches `{pattern}` ({n_searched} files searched).\n");
        }
        if self.is_full {
            text += "[There are more matches; narrow the search.]\n";
        }
        if end.is_cut {
            text += "[There are more files than one search looks at; name a folder.]\n";
        }
        if self.n_long_lines != 0 {
            let n_lines = self.n_long_lines;
            text += &format!(
                "[{n_lines} lines are longer than {MAX_LINE_BYTES} bytes and were searched only so far.]\n"
            );
        }
        if self.n_passed_over != 0 {
            text += &format!("[{} binary files were not searched.]\n", self.n_passed_over);
        }
        if let [first, ..] = self.too_large.as_slice() {
            let n_files = self.too_large.len();
            text += &format!(
                "[{n_files} files of more than 4 MB were not searched; name one in `under`, such as `{first}`.]\n"
            );
        }
        let value = json!({ "matches": self.matches, "n_searched": n_searched });
        Output { text, value, changed: Vec::new() }
    }
}

fn shown_line(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end_matches('\r');
    let end = text.floor_char_boundary(SHOWN_LINE_BYTES);
    if end < text.len() { format!("{}…", &text[..end]) } else { text.to_owned() }
}
