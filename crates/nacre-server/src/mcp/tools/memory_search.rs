//! `memory_search`

use nacre_api::wire::{FoundMemory, MemorySearchReport, MemorySearchRequest, MemoryType};
use nacre_ops::host::Tolerance;
use nacre_ops::{OpError, memory};
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
    name: "memory_search",
    title: "Search project memory",
    description: "Search what this project remembers from earlier sessions: decisions and their reasons, preferences, \
                  conventions, pitfalls, how things are built and run. Use it before you decide something, when something \
                  fails, or when the person refers to earlier work. Finds by words and by meaning. Returns titles with ids; \
                  memory_get reads one whole.",
    effect: Effect::Reads,
    is_always_loaded: true,
    tolerance: Tolerance::None,
    call,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Words or a question; "quoted phrases" and tag:NAME narrow it.
    query: String,
    /// Only this type.
    #[serde(default)]
    r#type: Option<MemoryType>,
    /// Only what changed since a day or an age, such as 2026-01-31 or 7d.
    #[serde(default)]
    since: Option<String>,
    /// How many to list, 1 to 30. Default 8.
    #[serde(default)]
    limit: Option<usize>,
    /// How many to skip: the number that the result before named.
    #[serde(default)]
    offset: Option<usize>,
}

fn call(call: &Call, arguments: JsonObject) -> Result<Output, OpError> {
    let Arguments { query, r#type, since, limit, offset } = parse(arguments)?;
    let limit = at_most("limit", limit.unwrap_or(DEFAULT_LIMIT), MAX_LIMIT)?.max(1);
    let offset = at_most("offset", offset.unwrap_or(0), MAX_OFFSET)?;
    let request = MemorySearchRequest {
        query,
        r#type,
        since,
        limit: Some(offset + limit),
        ..MemorySearchRequest::default()
    };
    let report = memory::search(&call.host, &request)?;
    Ok(render(&report, offset).into())
}

fn render(report: &MemorySearchReport, offset: usize) -> String {
    let query = line(&report.query, 200);
    if report.hits.len() <= offset {
        let more = if offset == 0 { "" } else { " more" };
        return format!("No{more} memories for: {query}");
    }
    let mut lines = Lines::default();
    lines.add(&format!("{} memories for: {query}\n", report.total));
    let mut next = offset;
    for hit in &report.hits[offset..] {
        if !lines.add(&entry(hit)) {
            break;
        }
        next += 1;
    }
    let more = report.total.saturating_sub(next);
    let mut footer = match more {
        0 => String::new(),
        more => format!("[{more} more: offset={next}]"),
    };
    if !report.broken.is_empty() {
        let n_broken = report.broken.len();
        footer.push_str(&format!("\n[{n_broken} files cannot be read: nacre doctor]"));
    }
    lines.end_with(&footer)
}

fn entry(hit: &FoundMemory) -> String {
    let memory = &hit.memory;
    let mut facts = vec![memory.kind.clone().unwrap_or_else(|| memory.r#type.as_str().to_owned())];
    if memory.status != "active" {
        facts.push(memory.status.clone());
    }
    if memory.scope == nacre_api::wire::StoreScope::Global {
        facts.push("global".to_owned());
    }
    facts.extend(memory.trust.map(|trust| trust.as_str().to_owned()));
    let day = memory.updated.as_deref().and_then(|at| at.get(..10));
    facts.extend(day.map(str::to_owned));
    let title = line(&memory.title, 200);
    let mut text = format!("- {title} [{}] ({})", memory.id, line(&facts.join(", "), 100));
    let snippet = line(&hit.snippet, SNIPPET_CHARS);
    if !snippet.is_empty() && !title.contains(&snippet) {
        text.push_str(&format!("\n  {snippet}"));
    }
    for older in hit.history.iter().take(2) {
        text.push_str(&format!("\n  supersedes: {} [{}]", line(&older.title, 120), older.id));
    }
    text
}
