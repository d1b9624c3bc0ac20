//! `delta`

use nacre_api::wire::{CodeChange, CodeDelta, DeltaReport, DeltaRequest, FileDelta, Since};
use nacre_ops::host::Tolerance;
use nacre_ops::{OpError, map};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::text::{Lines, line};
use super::{Effect, Output, ToolSpec, parse};
use crate::calls::Call;

/// Files of one result, symbols of one file, and affected files.
const MAX_FILES: usize = 200;
const MAX_SYMBOLS: usize = 20;
const MAX_AFFECTED: usize = 40;
const MAX_FOLDERS: usize = 20;

/// Names that a line about an affected file tells.
const MAX_USED: usize = 4;

pub(super) const TOOL: ToolSpec = ToolSpec {
    name: "delta",
    title: "What changed in the code",
    description: "Which files and symbols changed, and which other files use what changed its signature: since the last commit \
                  (default), since a commit, or since a revision that an earlier result named. Use it to see what you or \
                  others changed, and what to check after an edit.",
    effect: Effect::Reads,
    is_always_loaded: false,
    tolerance: Tolerance::None,
    call,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// git:REF such as git:HEAD~3, a revision from an earlier result, or 0 for everything. Default git:HEAD.
    #[serde(default)]
    since: Option<String>,
    /// Go on after this path, as the result before named it.
    #[serde(default)]
    after: Option<String>,
}

fn call(call: &Call, arguments: JsonObject) -> Result<Output, OpError> {
    let Arguments { since, after } = parse(arguments)?;
    let since = since.map(|since| since.parse::<Since>()).transpose();
    let since = since.map_err(|expected| OpError::usage(format!("`since`: {expected}")))?;
    let request = DeltaRequest { since, after, limit: Some(MAX_FILES), ..DeltaRequest::default() };
    let report = map::delta(&call.host, &request, &call.events)?;
    Ok(render(&report).into())
}

fn render(report: &DeltaReport) -> String {
    let CodeDelta {
        since,
        added,
        modified,
        removed,
        renamed,
        files,
        next,
        affected,
        affected_folders,
        ..
    } = &report.delta;
    let mut lines = Lines::default();
    lines.add(&format!(
        "{added} added, {modified} modified, {removed} removed, {renamed} renamed since {since}; revision {}\n",
        report.map.revision
    ));
    let mut last = None;
    let mut n_told = 0;
    for file in files {
        if !lines.add(&entry(file)) {
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
            let uses = if names.is_empty() { "a file that is gone" } else { &names };
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

fn entry(file: &FileDelta) -> String {
    let from = file.from.as_ref().map(|from| format!(" from {}", line(from, 300)));
    let mut text =
        format!("{} {}{}", sign(file.change), line(&file.path, 300), from.unwrap_or_default());
    let symbols = file.symbols.as_ref().map(|symbols| symbols.changed.as_slice());
    let symbols = symbols.unwrap_or_default();
    for symbol in symbols.iter().take(MAX_SYMBOLS) {
        let what = if symbol.is_signature { "" } else { " (body)" };
        let (sign, kind) = (sign(symbol.change), symbol.kind.as_str());
        text.push_str(&format!("\n    {sign} {kind} {}{what}", line(&symbol.name, 120)));
    }
    if MAX_SYMBOLS < symbols.len() {
        text.push_str(&format!("\n    … {} more", symbols.len() - MAX_SYMBOLS));
    }
    text
}

fn sign(change: CodeChange) -> char {
    match change {
        CodeChange::Added => '+',
        CodeChange::Modified => '~',
        CodeChange::Removed => '-',
        CodeChange::Renamed => '>',
    }
}
