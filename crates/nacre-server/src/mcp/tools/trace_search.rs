//! `trace_search`

use nacre_api::wire::{TraceHit, TraceSearchReport, TraceSearchRequest};
use nacre_ops::host::Tolerance;
use nacre_ops::{OpError, trace};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::text::{Lines, SNIPPET_CHARS, line};
use super::{Effect, Output, ToolSpec, at_most, parse};
use crate::calls::Call;

const DEFAULT_LIMIT: usize = 8;
const MAX_LIMIT: usize = 30;
const MAX_OFFSET: usize = 300;

pub(super) const TOOL: ToolSpec = ToolSpec {
    name: "trace_search",
    title: "Search earlier sessions",
    description: "Search what was said in earlier sessions of coding agents in this project (Claude Code, Codex, Cursor, \
                  OpenCode, Gemini CLI and others): messages of the person and of agents, as they were. Use it when memory_search finds nothing. What \
                  is found is raw talk, not agreed knowledge.",
    effect: Effect::Reads,
    is_always_loaded: false,
    tolerance: Tolerance::None,
    call,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Words, or "quoted phrases".
    query: String,
    /// Only sessions of this agent, such as claude, codex, cursor, opencode, gemini or copilot.
    #[serde(default)]
    agent: Option<String>,
    /// Only what was said since a day or an age, such as 2026-01-31 or 7d.
    #[serde(default)]
    since: Option<String>,
    /// How many to list, 1 to 30. Default 8.
    #[serde(default)]
    limit: Option<usize>,
    /// How many to skip: the number that the result before named.
    #[serde(default)]
    offset: Option<usize>,
}

/// Without a project every session of this machine would be searched; those of other projects are not this agent's.
fn call(call: &Call, arguments: JsonObject) -> Result<Output, OpError> {
    let Arguments { query, agent, since, limit, offset } = parse(arguments)?;
    if call.host.project.is_none() {
        return Err(call.host.no_project());
    }
    let limit = at_most("limit", limit.unwrap_or(DEFAULT_LIMIT), MAX_LIMIT)?.max(1);
    let offset = at_most("offset", offset.unwrap_or(0), MAX_OFFSET)?;
    let request = TraceSearchRequest {
        query,
        agent,
        since,
        // One more tells whether there are more.
        limit: Some(offset + limit + 1),
        ..TraceSearchRequest::default()
    };
    let report = trace::search(&call.host, &request)?;
    Ok(render(&report, offset, limit).into())
}

fn render(report: &TraceSearchReport, offset: usize, limit: usize) -> String {
    let query = line(&report.query, 200);
    if report.hits.len() <= offset {
        return format!("Nothing was said about: {query}. `nacre sync` reads new sessions.");
    }
    let mut lines = Lines::default();
    lines.add(&format!("Said about: {query}\n"));
    let mut next = offset;
    for hit in report.hits[offset..].iter().take(limit) {
        if !lines.add(&entry(hit)) {
            break;
        }
        next += 1;
    }
    let has_more = next < report.hits.len();
    lines.end_with(&if has_more { format!("[More: offset={next}]") } else { String::new() })
}

fn entry(hit: &TraceHit) -> String {
    let day = hit.at.as_deref().and_then(|at| at.get(..10)).unwrap_or("no date");
    let title = hit.title.as_deref().map(|title| format!(", \"{}\"", line(title, 80)));
    let title = title.unwrap_or_default();
    let id = line(&hit.id, 100);
    let snippet = line(&hit.snippet, SNIPPET_CHARS);
    format!("- {}, {day}, {} ({id}:{}{title})\n  {snippet}", hit.kind, hit.agent, hit.sequence)
}
