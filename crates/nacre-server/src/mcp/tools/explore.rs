//! `explore`

use nacre_api::wire::{ExploreRequest, MapDetail, MapFormat};
use nacre_ops::host::Tolerance;
use nacre_ops::{OpError, map};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::text::{page, shown};
use super::{Effect, Output, ToolSpec, at_most, parse};
use crate::calls::Call;

const MAX_BUDGET: usize = 20_000;

pub(super) const TOOL: ToolSpec = ToolSpec {
    name: "explore",
    title: "Overview of the code",
    description: "What this code base is, from an always current map: entry points, the files that much rests on, the graph \
                  of modules, public symbols, packages of others, tests. Use it once instead of listing and reading folders; \
                  for the code of one task use context.",
    effect: Effect::Reads,
    is_always_loaded: false,
    tolerance: Tolerance::None,
    call,
};

/// How much an overview tells.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Detail {
    Compact,
    Normal,
    Verbose,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// How much to tell. Default compact.
    #[serde(default)]
    detail: Option<Detail>,
    /// Tokens that it may have, at most 20000; lists are cut until it fits.
    #[serde(default)]
    budget: Option<usize>,
    /// The character to go on from, as the part before named it.
    #[serde(default)]
    offset: Option<usize>,
}

fn call(call: &Call, arguments: JsonObject) -> Result<Output, OpError> {
    let Arguments { detail, budget, offset } = parse(arguments)?;
    let budget = budget.map(|budget| at_most("budget", budget, MAX_BUDGET)).transpose()?;
    let detail = detail.map(|detail| match detail {
        Detail::Compact => MapDetail::Compact,
        Detail::Normal => MapDetail::Normal,
        Detail::Verbose => MapDetail::Verbose,
    });
    let request =
        ExploreRequest { format: MapFormat::Text, detail, budget, ..ExploreRequest::default() };
    let answer = map::explore(&call.host, &request, &call.events)?;
    Ok(page(&shown(&answer.payload), offset.unwrap_or(0))?.into())
}
