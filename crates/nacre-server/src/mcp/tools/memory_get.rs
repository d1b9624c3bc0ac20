//! `memory_get`

use nacre_api::wire::{
    MemoryLink, MemoryQuote, MemoryShowReport, MemoryShowRequest, Speaker, TrustLevel,
};
use nacre_ops::host::Tolerance;
use nacre_ops::{OpError, memory};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::text::{line, page, shown};
use super::{Effect, Output, ToolSpec, parse};
use crate::calls::Call;

/// Quotes that are shown, and how much of each.
const MAX_QUOTES: usize = 6;
const QUOTE_CHARS: usize = 400;

pub(super) const TOOL: ToolSpec = ToolSpec {
    name: "memory_get",
    title: "Read a memory",
    description: "Read one memory whole, by the id that memory_search or brief gave: its text, its reasons, what it \
                  supersedes, and the verbatim quotes that prove it. A long one comes in parts: go on with offset.",
    effect: Effect::Reads,
    is_always_loaded: false,
    tolerance: Tolerance::None,
    call,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The id, or the start of it.
    id: String,
    /// The character to go on from, as the part before named it.
    #[serde(default)]
    offset: Option<usize>,
}

fn call(call: &Call, arguments: JsonObject) -> Result<Output, OpError> {
    let Arguments { id, offset } = parse(arguments)?;
    let request = MemoryShowRequest { id, evidence: true, ..MemoryShowRequest::default() };
    let report = memory::show(&call.host, &request, &call.events)?;
    Ok(page(&render(&report), offset.unwrap_or(0))?.into())
}

/// A memory as Markdown.
pub(in super::super) fn render(report: &MemoryShowReport) -> String {
    let MemoryShowReport { memory, supersedes, superseded_by, body, evidence, .. } = report;
    let mut facts = vec![
        memory.kind.clone().unwrap_or_else(|| memory.r#type.as_str().to_owned()),
        memory.status.clone(),
        memory.scope.as_str().to_owned(),
    ];
    facts.extend(memory.trust.map(|trust| trust.as_str().to_owned()));
    if memory.trust == Some(TrustLevel::Quarantined) {
        return format!(
            "[{}] {}\n\nIt gives an order that the person did not give, and is shown to them alone: nacre review",
            memory.id,
            facts.join(", ")
        );
    }
    facts.extend(memory.confidence.map(|confidence| format!("confidence {confidence}")));
    facts.extend(memory.updated.as_ref().map(|at| format!("updated {at}")));
    let mut text =
        format!("# {}\n\n[{}] {}", line(&memory.title, 300), memory.id, facts.join(", "));
    for (name, values) in [("tags", &memory.tags), ("related", &memory.related)] {
        if !values.is_empty() {
            text.push_str(&format!("\n{name}: {}", line(&values.join(", "), 400)));
        }
    }
    for (name, links) in [("supersedes", supersedes), ("superseded by", superseded_by)] {
        if !links.is_empty() {
            text.push_str(&format!("\n{name}: {}", ids(links)));
        }
    }
    text.push_str(&format!("\n\n{}\n", shown(body.trim())));
    let proof = evidence.as_ref().filter(|evidence| !evidence.unproven);
    let quotes = proof.map(|evidence| evidence.quotes.as_slice()).unwrap_or_default();
    if !quotes.is_empty() {
        text.push_str("\nEvidence:\n");
        quotes.iter().take(MAX_QUOTES).for_each(|quote| text.push_str(&said(quote)));
    }
    text
}

fn ids(links: &[MemoryLink]) -> String {
    let id = |link: &MemoryLink| {
        let doubt = if link.verified { "" } else { " (not verified)" };
        format!("{}{doubt}", link.id)
    };
    links.iter().map(id).collect::<Vec<_>>().join(", ")
}

fn said(quote: &MemoryQuote) -> String {
    let who = match quote.speaker {
        Speaker::Human | Speaker::User => "the person",
        Speaker::Assistant => "an agent",
        Speaker::Tool => "a tool",
    };
    let day = quote.at.get(..10).unwrap_or_default();
    let words = line(&quote.text, QUOTE_CHARS);
    format!("- {who}, {day}: \"{words}\" ({})\n", line(&quote.place, 120))
}
