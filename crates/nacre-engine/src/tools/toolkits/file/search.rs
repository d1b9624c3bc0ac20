//! Finds files by name and lines by regular expression.
//!
//! The compiled expression and the lines are limited in size, so the search takes linear time.
//! Cancellation is checked between files.

use std::ops::ControlFlow;

use globset::{GlobBuilder, GlobMatcher};
use nacre_base::fs::{Folder, FsError};
use regex::bytes::{Regex, RegexBuilder};

use crate::tools::tool::SPILL_PREFIX;
use crate::tools::toolkits::file::read::Pieces;
use crate::tools::toolkits::prelude::*;
use crate::tools::toolkits::truncate_line;
use crate::tools::workspace::{Walk, WalkEnd, is_binary, place};

const DEFAULT_RESULTS: u32 = 50;

const MAX_RESULTS: u32 = 500;
const MAX_CONTEXT: u32 = 10;

/// Maximum size of a searched file. Larger files are searched only if the call names them
/// explicitly.
const MAX_FILE_BYTES: u64 = 4 << 20;

const MAX_TOTAL_BYTES: usize = 512 << 20;

/// Longer lines are matched only up to this length.
const MAX_LINE_BYTES: usize = 4096;

/// Size limit for the compiled expression, and also for its automaton.
const REGEX_BYTES: usize = 256 << 10;
const AUTOMATON_BYTES: usize = 1 << 20;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FileSearch {
    /// A regular expression, matched line by line.
    #[schemars(length(min = 1, max = 1000))]
    pattern: String,
    /// Treat the pattern as plain text.
    #[serde(default)]
    literal: bool,
    #[serde(default)]
    ignore_case: bool,
    /// The folder or file to search, or `spill:NAME` for the long output of an earlier call;
    /// defaults to the whole workspace. A file named here is searched regardless of its size.
    #[schemars(length(max = 4096))]
    under: Option<String>,
    /// Only files whose path matches this glob; a leading `!` excludes matching files instead.
    #[schemars(length(min = 1, max = 256))]
    files: Option<String>,
    /// What to show for each matching file.
    #[serde(default)]
    show: SearchShown,
    /// Lines to show before and after each match.
    context: Option<u32>,
    /// Maximum number of matching lines, or of files if only files are shown.
    #[schemars(range(min = 1))]
    max_results: Option<u32>,
}

/// What to show for each matching file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum SearchShown {
    /// Each line as `path:line: text`.
    #[default]
    Lines,
    /// The path alone.
    Files,
    /// The path and the number of matching lines.
    Counts,
}

impl WorkspaceTool for FileSearch {
    const SPEC: ToolSpec = ToolSpec {
        name: "file_search",
        category: Category::Search,
        description: "Searches the lines of text files for a regular expression. Shows `path:line: text`, or only \
                      files or counts. Files that git ignores are left out.",
        time_limit: super::WALK_LIMIT,
        shown_bytes: 16_000,
    };

    fn footprint(&self, workspace: &Workspace) -> Result<Footprint> {
        match self.spill() {
            Some(name) => place(name).map(|_| Footprint::default()),
            None => super::reading_below(workspace, self.under.as_deref()),
        }
    }

    fn run(&self, workspace: &Workspace, ctx: &ToolContext) -> Result<Output> {
        let mut search = Search::new(self, &ctx.cancel)?;
        if let (Some(name), Some(under)) = (self.spill(), &self.under) {
            let bytes = super::read::read_spill(&ctx.spill, name)?;
            let _ = search.text(under, &bytes);
            return Ok(search.output(&self.pattern, WalkEnd::default()));
        }
        let under = workspace.folder(self.under.as_deref())?;
        search.alone.clone_from(&under);
        let end = Walk::new(workspace, &ctx.cancel)
            .run(under.as_ref(), &mut |path, folder| search.visit(path, folder))?;
        check_running(&ctx.cancel)?;
        Ok(search.output(&self.pattern, end))
    }
}

impl FileSearch {
    fn spill(&self) -> Option<&str> {
        self.under.as_deref()?.strip_prefix(SPILL_PREFIX)
    }
}

fn compile(input: &FileSearch) -> Result<Regex> {
    if !input.literal && (input.pattern.contains('\n') || input.pattern.contains("\\n")) {
        let what = "The expression spans lines, but lines are matched one by one";
        let hint = "Search for one of the lines, with `context`.";
        return Err(ToolError::new(Fault::Arguments, what, hint));
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
                format!("The expression is invalid: {error}")
            };
            let hint =
                "Write a simpler expression, or set `literal` to search for the text itself.";
            ToolError::new(Fault::Arguments, what, hint)
        })
}

struct Search<'c> {
    regex: Regex,
    /// The name patterns that select files, and whether matching files are searched or skipped.
    names: Option<(Names, bool)>,
    show: SearchShown,
    cancel: &'c Cancel,
    context: usize,
    max_results: usize,
    text: String,
    n_matches: usize,
    n_bytes: usize,
    n_searched: usize,
    n_passed_over: usize,
    too_large: Vec<String>,
    n_long_lines: usize,
    alone: Option<RelPath>,
    is_full: bool,
}

impl<'c> Search<'c> {
    fn new(input: &FileSearch, cancel: &'c Cancel) -> Result<Self> {
        let names = |files: &str| match files.strip_prefix('!') {
            Some(others) => Names::new(others).map(|names| (names, false)),
            None => Names::new(files).map(|names| (names, true)),
        };
        Ok(Self {
            regex: compile(input)?,
            names: input.files.as_deref().map(names).transpose()?,
            show: input.show,
            cancel,
            context: input.context.unwrap_or(0).min(MAX_CONTEXT) as usize,
            max_results: input.max_results.unwrap_or(DEFAULT_RESULTS).min(MAX_RESULTS) as usize,
            text: String::new(),
            n_matches: 0,
            n_bytes: 0,
            n_searched: 0,
            n_passed_over: 0,
            too_large: Vec::new(),
            n_long_lines: 0,
            alone: None,
            is_full: false,
        })
    }

    fn visit(&mut self, path: &RelPath, folder: &Folder) -> ControlFlow<()> {
        if self.names.as_ref().is_some_and(|(names, wanted)| names.matches(path) != *wanted) {
            return ControlFlow::Continue(());
        }
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

    fn text(&mut self, path: &str, bytes: &[u8]) -> ControlFlow<()> {
        if is_binary(bytes) {
            self.n_passed_over += 1;
            return ControlFlow::Continue(());
        }
        self.n_searched += 1;
        match self.show {
            SearchShown::Lines => self.lines(path, bytes, 0),
            SearchShown::Files | SearchShown::Counts => self.add_count(path, self.count(bytes)),
        }
    }

    fn large(&mut self, path: &RelPath, folder: &Folder) -> ControlFlow<()> {
        let Ok(file) = folder.open_file(path.name()) else {
            self.n_passed_over += 1;
            return ControlFlow::Continue(());
        };
        let mut pieces = Pieces::new(file);
        let mut n_matching = 0;
        while let Ok(Some(bytes)) = pieces.next() {
            let n_before = pieces.n_before;
            if n_before == 0 && is_binary(&bytes) {
                self.n_passed_over += 1;
                return ControlFlow::Continue(());
            }
            match self.show {
                SearchShown::Lines => {
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
        self.add_count(path.as_str(), n_matching)
    }

    /// Returns the number of matching lines. If only file names are shown, stops at the first
    /// match.
    fn count(&self, bytes: &[u8]) -> usize {
        let most = if self.show == SearchShown::Files { 1 } else { usize::MAX };
        let lines = bytes.split(|byte| *byte == b'\n');
        lines.filter(|line| self.is_match(line)).take(most).count()
    }

    fn is_match(&self, line: &[u8]) -> bool {
        self.regex.is_match(&line[..line.len().min(MAX_LINE_BYTES)])
    }

    fn add_count(&mut self, path: &str, n_lines: usize) -> ControlFlow<()> {
        if n_lines == 0 {
            return ControlFlow::Continue(());
        }
        if self.max_results <= self.n_matches {
            self.is_full = true;
            return ControlFlow::Break(());
        }
        self.n_matches += 1;
        self.text += &match self.show {
            SearchShown::Counts => format!("{path}: {n_lines}\n"),
            SearchShown::Lines | SearchShown::Files => format!("{path}\n"),
        };
        if self.cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn lines(&mut self, path: &str, bytes: &[u8], n_before: usize) -> ControlFlow<()> {
        let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
        let mut shown_to = 0;
        for (idx, line) in lines.iter().enumerate() {
            self.n_long_lines += usize::from(MAX_LINE_BYTES < line.len());
            if !self.is_match(line) {
                if idx % 16 == 0 && self.cancel.is_cancelled() {
                    return ControlFlow::Break(());
                }
                continue;
            }
            if self.max_results <= self.n_matches {
                self.is_full = true;
                return ControlFlow::Break(());
            }
            self.n_matches += 1;
            let from = idx.saturating_sub(self.context).max(shown_to);
            let to = (idx + 1 + self.context).min(lines.len());
            for (at, line) in lines.iter().enumerate().take(to).skip(from) {
                let mark = if at == idx { ':' } else { '-' };
                let number = n_before + at + 1;
                let line = String::from_utf8_lossy(line);
                let line = truncate_line(line.trim_end_matches('\r'));
                self.text += &format!("{path}{mark}{number}{mark} {line}\n");
            }
            shown_to = to.max(shown_to);
        }
        ControlFlow::Continue(())
    }

    fn output(self, pattern: &str, end: WalkEnd) -> Output {
        let mut text = self.text;
        let n_searched = self.n_searched;
        if self.n_matches == 0 {
            text += &format!("No line matches `{pattern}` ({n_searched} files searched).\n");
        }
        if self.is_full {
            text += "[There are more matches; narrow the search.]\n";
        }
        if end.is_cut {
            text += "[There are more files than one search covers; specify a directory.]\n";
        }
        if self.n_long_lines != 0 {
            let n_lines = self.n_long_lines;
            text += &format!(
                "[In {n_lines} lines, only the first {MAX_LINE_BYTES} bytes were searched.]\n"
            );
        }
        if self.n_passed_over != 0 {
            text += &format!("[{} binary files were not searched.]\n", self.n_passed_over);
        }
        if let [first, ..] = self.too_large.as_slice() {
            let n_files = self.too_large.len();
            text += &format!(
                "[{n_files} files larger than 4 MB were not searched; name one in `under`, such as \
                 `{first}`.]\n"
            );
        }
        Output::text(text)
    }
}

const DEFAULT_PATHS: u32 = 100;
const MAX_PATHS: u32 = 1000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FileFind {
    /// A glob such as `src/**/*.rs` or `*.md`; without `*?[{`, any part of the path, ignoring case.
    #[schemars(length(min = 1, max = 256))]
    pattern: String,
    /// The folder or file to search; defaults to the whole workspace.
    #[schemars(length(max = 4096))]
    under: Option<String>,
    /// How many paths at most.
    #[schemars(range(min = 1))]
    max_results: Option<u32>,
}

impl WorkspaceTool for FileFind {
    const SPEC: ToolSpec = ToolSpec {
        name: "file_find",
        category: Category::Search,
        description: "Lists files whose path matches a glob, in order of their names. Files that git ignores are left out.",
        time_limit: super::WALK_LIMIT,
        shown_bytes: 12_000,
    };

    fn footprint(&self, workspace: &Workspace) -> Result<Footprint> {
        super::reading_below(workspace, self.under.as_deref())
    }

    fn run(&self, workspace: &Workspace, ctx: &ToolContext) -> Result<Output> {
        let names = Names::new(&self.pattern)?;
        let under = workspace.folder(self.under.as_deref())?;
        let max_results = self.max_results.unwrap_or(DEFAULT_PATHS).min(MAX_PATHS) as usize;
        let mut paths: Vec<String> = Vec::new();
        let mut n_found = 0;
        let end = Walk::new(workspace, &ctx.cancel).run(under.as_ref(), &mut |path, _| {
            if names.matches(path) {
                n_found += 1;
                if paths.len() < max_results {
                    paths.push(path.to_string());
                }
            }
            ControlFlow::Continue(())
        })?;
        check_running(&ctx.cancel)?;
        Ok(Output::text(paths.join("\n") + &summary(&self.pattern, n_found, paths.len(), end)))
    }
}

enum Names {
    Glob(GlobMatcher),
    Part(String),
}

impl Names {
    fn new(pattern: &str) -> Result<Self> {
        if !pattern.contains(['*', '?', '[', '{']) {
            return Ok(Self::Part(pattern.to_lowercase()));
        }
        let glob = GlobBuilder::new(pattern).literal_separator(true).build().map_err(|error| {
            let what = format!("`{pattern}` is not a valid glob: {}", error.kind());
            ToolError::new(Fault::Arguments, what, "Write one such as `src/**/*.rs`.")
        })?;
        Ok(Self::Glob(glob.compile_matcher()))
    }

    /// Returns whether the path matches. A glob without a slash is matched against the file name in
    /// any directory.
    fn matches(&self, path: &RelPath) -> bool {
        match self {
            Self::Glob(glob) if glob.glob().glob().contains('/') => glob.is_match(path.as_str()),
            Self::Glob(glob) => glob.is_match(path.name()),
            Self::Part(part) => path.as_str().to_lowercase().contains(part),
        }
    }
}

fn summary(pattern: &str, n_found: usize, n_shown: usize, end: WalkEnd) -> String {
    let more = if end.is_cut { "; there are more files than one search covers" } else { "" };
    match n_found {
        0 => format!("No file matches `{pattern}` ({} files checked{more}).", end.n_files),
        _ if n_shown < n_found => {
            format!(
                "\n[{n_shown} of {n_found} paths; specify a directory or a longer pattern{more}]"
            )
        }
        _ if end.is_cut => format!("\n[{n_found} paths{more}]"),
        _ => String::new(),
    }
}
