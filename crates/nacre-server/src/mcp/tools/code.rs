//! Tools that use the code map.

use nacre_ops::{OpError, Result, map};
use nacre_types::{
    CodeDelta, CodeSearchMode, ContextRequest, DeltaReport, DeltaRequest, ExploreRequest,
    FileDelta, MapDetail, MapFormat, SearchCodeRequest, Since,
};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{ToolSpec, at_most, page_result, parse};
use crate::calls::Call;
use crate::mcp::text::{Lines, line, sanitize};

/// Enough tokens to almost fill one result.
const DEFAULT_BUDGET: usize = 2_000;
const MAX_BUDGET: usize = 20_000;

pub(super) const CONTEXT: ToolSpec = ToolSpec {
    name: "context",
    title: "Code for a task",
    description: "Find the files and code that a task needs, by words, meaning, imports and memory, \
     within a token budget: whole symbols if there is room, otherwise signatures or names. \
     Omitted symbols are listed. Use it instead of searching and reading many files. Secrets are \
     replaced.",
    call: context,
    ..ToolSpec::takes::<ContextArguments>()
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ContextArguments {
    /// The task in plain language. Required unless files are given.
    task: Option<String>,
    /// Files to include.
    #[serde(default)]
    files: Vec<String>,
    /// Maximum number of tokens, up to 20000. Default 2000.
    budget: Option<usize>,
    /// List only the files, without code.
    #[serde(default)]
    files_only: bool,
    /// Character offset to continue from, as stated at the end of the previous part.
    offset: Option<usize>,
}

fn context(call: &Call, arguments: JsonObject) -> Result<String> {
    let ContextArguments { task, files, budget, files_only, offset } = parse(arguments)?;
    let budget = at_most("budget", budget.unwrap_or(DEFAULT_BUDGET), MAX_BUDGET)?;
    if task.is_none() && files.is_empty() {
        return Err(OpError::usage("`task` or `files` is required"));
    }
    let request = ContextRequest {
        format: MapFormat::Text,
        task,
        files,
        budget: Some(budget),
        files_only,
        ..ContextRequest::default()
    };
    let answer = map::context(&call.host, &request, &call.events)?;
    page_result(&sanitize(&answer.payload), offset)
}

pub(super) const CODE_SEARCH: ToolSpec = ToolSpec {
    name: "code_search",
    title: "Search the code",
    description: "Search the project's code instead of grep: words (ranked, any form), \"quoted literal text\", or a regular \
                  expression with mode=regex. Indexed, so it is fast in large trees and always up to date. Returns files, definitions \
                  first, with matching lines below their function or class; tests, vendored and generated code come last. Secrets \
                  are replaced.",
    call: code_search,
    ..ToolSpec::takes::<CodeSearchArguments>()
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CodeSearchArguments {
    /// Words or an identifier; "quoted literal text"; with mode=regex a regular expression, matched
    /// line by line.
    query: String,
    /// How to interpret the query: words, fixed or regex. Default: words, or fixed if the query is
    /// in double quotes.
    mode: Option<CodeSearchMode>,
    /// Whether to ignore case. On by default, unless the pattern contains an uppercase letter.
    ignore_case: Option<bool>,
    /// Path globs such as src, *.rs or !tests.
    #[serde(default)]
    paths: Vec<String>,
    /// Only files of this language, such as python.
    language: Option<String>,
    /// Lines around each match, 0 to 10. Default 0.
    context: Option<u32>,
    /// Maximum number of matches, 1 to 500. Default 30.
    limit: Option<usize>,
    /// Maximum number of tokens, up to 20000. Default 2000.
    budget: Option<usize>,
    /// List only the files, without lines.
    #[serde(default)]
    files_only: bool,
    /// Character offset to continue from, as stated at the end of the previous part.
    offset: Option<usize>,
}

fn code_search(call: &Call, arguments: JsonObject) -> Result<String> {
    let arguments: CodeSearchArguments = parse(arguments)?;
    let budget = at_most("budget", arguments.budget.unwrap_or(DEFAULT_BUDGET), MAX_BUDGET)?;
    let request = SearchCodeRequest {
        format: MapFormat::Text,
        query: arguments.query,
        mode: arguments.mode,
        ignore_case: arguments.ignore_case,
        paths: arguments.paths,
        language: arguments.language,
        context: arguments.context,
        limit: arguments.limit,
        budget: Some(budget),
        files_only: arguments.files_only,
        ..SearchCodeRequest::default()
    };
    let answer = map::search_code(&call.host, &request, &call.events)?;
    page_result(&sanitize(&answer.payload), arguments.offset)
}

pub(super) const EXPLORE: ToolSpec = ToolSpec {
    name: "explore",
    title: "Overview of the code",
    description: "Get an overview of this code base from an up-to-date map: entry points, files \
     that many others depend on, the module graph, public symbols, external packages, tests. Use \
     it once instead of listing and reading directories; for the code of one task use context.",
    call: explore,
    ..ToolSpec::takes::<ExploreArguments>()
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ExploreArguments {
    /// Level of detail. Default compact.
    detail: Option<MapDetail>,
    /// Maximum number of tokens, up to 20000. Lists are truncated to fit.
    budget: Option<usize>,
    /// Character offset to continue from, as stated at the end of the previous part.
    offset: Option<usize>,
}

fn explore(call: &Call, arguments: JsonObject) -> Result<String> {
    let ExploreArguments { detail, budget, offset } = parse(arguments)?;
    let budget = budget.map(|budget| at_most("budget", budget, MAX_BUDGET)).transpose()?;
    let request =
        ExploreRequest { format: MapFormat::Text, detail, budget, ..ExploreRequest::default() };
    let answer = map::explore(&call.host, &request, &call.events)?;
    page_result(&sanitize(&answer.payload), offset)
}

/// Maximum number of files per result, symbols per file, and affected files.
const MAX_FILES: usize = 200;
const MAX_SYMBOLS: usize = 20;
const MAX_AFFECTED: usize = 40;
const MAX_FOLDERS: usize = 20;

const MAX_USED: usize = 4;

pub(super) const DELTA: ToolSpec = ToolSpec {
    name: "delta",
    title: "What changed in the code",
    description: "Show which files and symbols changed, and which other files use symbols whose signature changed: since the last \
                  commit (default), a commit, or a revision from an earlier result. Use it to see what you or others changed, and \
                  what to check after an edit.",
    call: delta,
    ..ToolSpec::takes::<DeltaArguments>()
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DeltaArguments {
    /// git:REF such as git:HEAD~3, a revision from an earlier result, or 0 for everything.
    /// Default git:HEAD.
    since: Option<String>,
    /// Continue after this path, as stated at the end of the previous result.
    after: Option<String>,
}

fn delta(call: &Call, arguments: JsonObject) -> Result<String> {
    let DeltaArguments { since, after } = parse(arguments)?;
    let since = since.map(|since| since.parse::<Since>()).transpose();
    let since = since.map_err(|expected| OpError::usage(format!("`since`: {expected}")))?;
    let request = DeltaRequest { since, after, limit: Some(MAX_FILES), ..DeltaRequest::default() };
    let report = map::delta(&call.host, &request, &call.events)?;
    Ok(render_delta(&report))
}

fn render_delta(report: &DeltaReport) -> String {
    let CodeDelta { since, added, modified, removed, renamed, files, next, .. } = &report.delta;
    let CodeDelta { affected, affected_folders, .. } = &report.delta;
    let mut lines = Lines::default();
    lines.add(&format!(
        "{added} added, {modified} modified, {removed} removed, {renamed} renamed since {since}; revision {}\n",
        report.map.revision
    ));
    let mut last = None;
    let mut n_told = 0;
    for file in files {
        if !lines.add(&delta_entry(file)) {
            break;
        }
        last = Some(file.path.as_str());
        n_told += 1;
    }
    let is_cut = n_told < files.len();
    let n_affected = affected.len();
    for folder in affected_folders.iter().take(if is_cut { 0 } else { MAX_FOLDERS }) {
        lines.add(&format!("! {} affected in {}/", folder.files, line(&folder.path, 300)));
    }
    let shown = affected.iter().take(if is_cut { 0 } else { MAX_AFFECTED });
    let n_shown = shown
        .take_while(|file| {
            let names = file.symbols.iter().take(MAX_USED).map(String::as_str);
            let names = names.collect::<Vec<_>>().join(", ");
            let uses = if names.is_empty() { "a deleted file" } else { &names };
            lines.add(&format!("! {} (affected: uses {})", line(&file.path, 300), line(uses, 200)))
        })
        .count();
    let more = match (is_cut, next) {
        (true, _) => last.map(|last| format!("[More files: after={last}]")),
        (false, Some(next)) => Some(format!("[More files: after={next}]")),
        (false, None) if n_shown < n_affected => {
            Some(format!("[{} more affected files]", n_affected - n_shown))
        }
        (false, None) => None,
    };
    lines.end_with(&more.unwrap_or_default())
}

fn delta_entry(file: &FileDelta) -> String {
    let from = file.from.as_ref().map(|from| format!(" from {}", line(from, 300)));
    let mut text =
        format!("{} {}{}", file.change.sign(), line(&file.path, 300), from.unwrap_or_default());
    let symbols = file.symbols.as_ref().map(|symbols| symbols.changed.as_slice());
    let symbols = symbols.unwrap_or_default();
    for symbol in symbols.iter().take(MAX_SYMBOLS) {
        let what = if symbol.is_signature { "" } else { " (body)" };
        let (sign, kind) = (symbol.change.sign(), symbol.kind.as_str());
        text.push_str(&format!("\n    {sign} {kind} {}{what}", line(&symbol.name, 120)));
    }
    if MAX_SYMBOLS < symbols.len() {
        text.push_str(&format!("\n    … {} more", symbols.len() - MAX_SYMBOLS));
    }
    text
}
