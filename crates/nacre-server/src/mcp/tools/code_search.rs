//! `code_search`

use nacre_api::wire::{CodeSearchMode, MapFormat, SearchCodeRequest};
use nacre_ops::host::Tolerance;
use nacre_ops::{OpError, map};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::text::{page, shown};
use super::{Effect, Output, ToolSpec, at_most, parse};
use crate::calls::Call;

/// About what one result holds.
const DEFAULT_BUDGET: usize = 2_000;
const MAX_BUDGET: usize = 20_000;

pub(super) const TOOL: ToolSpec = ToolSpec {
    name: "code_search",
    title: "Search in the code",
    description: "Search the project's code instead of grep: words (ranked, any form), \"a quoted piece of text\", or a regular \
                  expression with mode=regex. Indexed, so it is fast in large trees and always up to date. Returns files, the \
                  definition first, with the matching lines below the function or class that they lie in; tests, vendored and \
                  generated code come later. Secrets are replaced.",
    effect: Effect::Reads,
    is_always_loaded: false,
    tolerance: Tolerance::None,
    call,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Words or an identifier; "a quoted piece of text"; with mode=regex a regular expression, matched line by line.
    query: String,
    /// How the query is read: words, fixed or regex. Default words, or fixed in double quotes.
    #[serde(default)]
    mode: Option<CodeSearchMode>,
    /// Whether case is ignored. Default: unless the pattern has a letter in upper case.
    #[serde(default)]
    ignore_case: Option<bool>,
    /// Globs of paths such as src, *.rs or !tests.
    #[serde(default)]
    paths: Vec<String>,
    /// Only files of this language, such as python.
    #[serde(default)]
    language: Option<String>,
    /// Lines around each match, 0 to 10. Default 0.
    #[serde(default)]
    context: Option<u32>,
    /// How many matches to show, 1 to 500. Default 30.
    #[serde(default)]
    limit: Option<usize>,
    /// Tokens that it may have, at most 20000. Default 2000.
    #[serde(default)]
    budget: Option<usize>,
    /// List files alone, without their lines.
    #[serde(default)]
    files_only: bool,
    /// The character to go on from, as the part before named it.
    #[serde(default)]
    offset: Option<usize>,
}

fn call(call: &Call, arguments: JsonObject) -> Result<Output, OpError> {
    let arguments: Arguments = parse(arguments)?;
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
    Ok(page(&shown(&answer.payload), arguments.offset.unwrap_or(0))?.into())
}
