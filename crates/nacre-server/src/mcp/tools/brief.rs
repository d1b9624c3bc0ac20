//! `brief`

use nacre_api::wire::{BriefReport, BriefRequest};
use nacre_ops::host::Tolerance;
use nacre_ops::{OpError, brief as ops};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::text::page;
use super::{Effect, Output, ToolSpec, at_most, parse};
use crate::calls::Call;

const DEFAULT_BUDGET: usize = 1_500;
const MAX_BUDGET: usize = 8_000;

pub(super) const TOOL: ToolSpec = ToolSpec {
    name: "brief",
    title: "Brief me",
    description: "What to know before work begins: decisions that hold, preferences of the person, known pitfalls, recent \
                  work and what it left open, each with its id. With a task or files, what fits them comes first. The \
                  cheapest first call of a session; asks no model.",
    effect: Effect::Reads,
    is_always_loaded: false,
    tolerance: Tolerance::None,
    call,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// What is to be done, in words.
    #[serde(default)]
    task: Option<String>,
    /// Files that it is about.
    #[serde(default)]
    files: Vec<String>,
    /// Tokens that it may have, at most 8000. Default 1500.
    #[serde(default)]
    budget: Option<usize>,
    /// The character to go on from, as the part before named it.
    #[serde(default)]
    offset: Option<usize>,
}

fn call(call: &Call, arguments: JsonObject) -> Result<Output, OpError> {
    let Arguments { task, files, budget, offset } = parse(arguments)?;
    let budget = at_most("budget", budget.unwrap_or(DEFAULT_BUDGET), MAX_BUDGET)?;
    let request = BriefRequest { budget: Some(budget), task, files, scope: None };
    let report = ops::brief(&call.host, &request)?;
    Ok(page(&render(&report), offset.unwrap_or(0))?.into())
}

fn render(report: &BriefReport) -> String {
    let BriefReport { text, left_out, unproven, budget, .. } = report;
    let mut brief = match (text.as_str(), *left_out) {
        ("", 0) => "Nothing is remembered yet.".to_owned(),
        ("", _) => format!("A budget of {budget} has no room for a memory."),
        (text, _) => text.trim_end().to_owned(),
    };
    if *left_out != 0 {
        brief.push_str(&format!("\n\n[{left_out} more memories: memory_search finds them]"));
    }
    if !unproven.is_empty() {
        let n_unproven = unproven.len();
        brief.push_str(&format!(
            "\n[{n_unproven} memories came with this repository and are left out until the person trusts them]"
        ));
    }
    brief
}
