//! Tools that search, read, add and archive memories.

use nacre_ops::{OpError, Result, memory};
use nacre_types::{
    FoundMemory, LearningKind, MemoryChange, MemoryIdsRequest, MemoryLink, MemoryQuote,
    MemoryRecordReport, MemoryRecordRequest, MemorySearchReport, MemorySearchRequest,
    MemoryShowReport, MemoryShowRequest, MemoryType, Scope, Speaker, StoreScope,
};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{DEFAULT_LIMIT, Effect, MAX_LIMIT, MAX_OFFSET, ToolSpec, at_most, page_result, parse};
use crate::calls::Call;
use crate::mcp::text::{Lines, SNIPPET_CHARS, line, sanitize};

pub(super) const MEMORY_SEARCH: ToolSpec = ToolSpec {
    name: "memory_search",
    title: "Search project memory",
    description: "Search what this project remembers from earlier sessions: decisions and their reasons, preferences, \
                  conventions, pitfalls, how things are built and run. Use it before you decide something, when something \
                  fails, or when the user refers to earlier work. Searches by words and meaning. Returns titles with ids \
                  and dates; `replaced by` marks an outdated one. memory_get returns the full text of one.",
    is_always_loaded: true,
    call: memory_search,
    ..ToolSpec::takes::<MemorySearchArguments>()
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MemorySearchArguments {
    /// Words or a question; "quoted phrases" and tag:NAME narrow the search.
    query: String,
    /// Only this type.
    r#type: Option<MemoryType>,
    /// Only memories changed since a date, such as 2026-01-31, or within a period, such as 7d.
    since: Option<String>,
    /// Maximum number of results, 1 to 30. Default 8.
    limit: Option<usize>,
    /// Number of results to skip, as stated at the end of the previous result.
    offset: Option<usize>,
}

fn memory_search(call: &Call, arguments: JsonObject) -> Result<String> {
    let MemorySearchArguments { query, r#type, since, limit, offset } = parse(arguments)?;
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
    Ok(render_memory_search(&report, offset))
}

fn render_memory_search(report: &MemorySearchReport, offset: usize) -> String {
    let query = line(&report.query, 200);
    if report.hits.len() <= offset {
        let more = if offset == 0 { "" } else { " more" };
        return format!("No{more} memories found for: {query}");
    }
    let mut lines = Lines::default();
    lines.add(&format!("{} memories for: {query}\n", report.total));
    let mut next = offset;
    for hit in &report.hits[offset..] {
        if !lines.add(&memory_search_entry(hit)) {
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
        footer.push_str(&format!("\n[{n_broken} files cannot be read; run: nacre doctor]"));
    }
    lines.end_with(&footer)
}

fn memory_search_entry(hit: &FoundMemory) -> String {
    let memory = &hit.memory;
    let mut facts = vec![memory.kind.clone().unwrap_or_else(|| memory.r#type.as_str().to_owned())];
    if memory.status != "active" {
        facts.push(memory.status.clone());
    }
    if memory.scope == StoreScope::Global {
        facts.push("global".to_owned());
    }
    facts.extend(memory.trust.map(|trust| trust.as_str().to_owned()));
    facts.extend(memory.stated().and_then(|at| at.get(..10)).map(str::to_owned));
    facts.extend(memory.replaced_by.as_ref().map(|id| format!("replaced by {id}")));
    let title = line(&memory.title, 200);
    let mut text = format!("- {title} [{}] ({})", memory.id, line(&facts.join(", "), 200));
    let snippet = line(&hit.snippet, SNIPPET_CHARS);
    if !snippet.is_empty() && !title.contains(snippet.trim_end_matches(['.', '…'])) {
        text.push_str(&format!("\n  {snippet}"));
    }
    if !hit.same.is_empty() {
        text.push_str(&format!("\n  {} more sessions with this title", hit.same.len()));
    }
    for older in hit.history.iter().take(2) {
        text.push_str(&format!("\n  supersedes: {} [{}]", line(&older.title, 120), older.id));
    }
    text
}

const MAX_QUOTES: usize = 6;
const QUOTE_CHARS: usize = 400;

pub(super) const MEMORY_GET: ToolSpec = ToolSpec {
    name: "memory_get",
    title: "Read a memory",
    description: "Read the full text of one memory, by an id from memory_search or brief: its text, its reasons, what it \
                  supersedes, and the verbatim quotes that prove it. Long memories are split: continue with offset.",
    call: memory_get,
    ..ToolSpec::takes::<MemoryGetArguments>()
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MemoryGetArguments {
    /// The id, or a prefix of it.
    id: String,
    /// Character offset to continue from, as stated at the end of the previous part.
    offset: Option<usize>,
}

fn memory_get(call: &Call, arguments: JsonObject) -> Result<String> {
    let MemoryGetArguments { id, offset } = parse(arguments)?;
    let request = MemoryShowRequest { id, evidence: true, ..MemoryShowRequest::default() };
    let report = memory::show(&call.host, &request, &call.events)?;
    page_result(&render_memory_get(&report), offset)
}

pub(in crate::mcp) fn render_memory_get(report: &MemoryShowReport) -> String {
    let MemoryShowReport { memory, supersedes, superseded_by, body, evidence, .. } = report;
    let mut facts = vec![
        memory.kind.clone().unwrap_or_else(|| memory.r#type.as_str().to_owned()),
        memory.status.clone(),
        memory.scope.as_str().to_owned(),
    ];
    facts.extend(memory.trust.map(|trust| trust.as_str().to_owned()));
    facts.extend(memory.confidence.map(|confidence| format!("confidence {confidence}")));
    facts.extend(memory.stated().map(|at| format!("updated {at}")));
    facts.extend(report.session.as_ref().map(|session| format!("session {}", line(session, 120))));
    facts.extend(memory.replaced_by.as_ref().map(|id| format!("replaced by {id}")));
    let mut text =
        format!("# {}\n\n[{}] {}", line(&memory.title, 300), memory.id, facts.join(", "));
    for (name, values) in [("tags", &memory.tags), ("related", &memory.related)] {
        if !values.is_empty() {
            text.push_str(&format!("\n{name}: {}", line(&values.join(", "), 400)));
        }
    }
    for (name, links) in [("supersedes", supersedes), ("superseded by", superseded_by)] {
        if !links.is_empty() {
            text.push_str(&format!("\n{name}: {}", link_ids(links)));
        }
    }
    text.push_str(&format!("\n\n{}\n", sanitize(body.trim())));
    let proof = evidence.as_ref().filter(|evidence| !evidence.unproven);
    let quotes = proof.map(|evidence| evidence.quotes.as_slice()).unwrap_or_default();
    if !quotes.is_empty() {
        text.push_str("\nEvidence:\n");
        quotes.iter().take(MAX_QUOTES).for_each(|quote| text.push_str(&render_quote(quote)));
    }
    text
}

fn link_ids(links: &[MemoryLink]) -> String {
    let id = |link: &MemoryLink| {
        let doubt = if link.verified { "" } else { " (not verified)" };
        format!("{}{doubt}", link.id)
    };
    links.iter().map(id).collect::<Vec<_>>().join(", ")
}

fn render_quote(quote: &MemoryQuote) -> String {
    let who = match quote.speaker {
        Speaker::Human | Speaker::User => "the user",
        Speaker::Assistant => "an agent",
        Speaker::Tool => "a tool",
    };
    let day = quote.at.get(..10).unwrap_or_default();
    let words = line(&quote.text, QUOTE_CHARS);
    format!("- {who}, {day}: \"{words}\" ({})\n", line(&quote.place, 120))
}

pub(super) const MEMORY_ADD: ToolSpec = ToolSpec {
    name: "memory_add",
    title: "Remember",
    description: "Record what later sessions of this project need to know: a decision of the user, a correction, a \
                  preference, a pitfall that cost time, how something is really done. Do not record what code or git already \
                  says, or the state of a task. Needs a verbatim quote from this session as evidence. Use the user's own sentence \
                  as title and body if possible: what you phrase is recorded as your words. A memory that contradicts its quote, \
                  or would replace the user's words, is queued for review. Known memories are not added twice.",
    effect: Effect::Adds,
    is_always_loaded: true,
    call: memory_add,
    ..ToolSpec::takes::<MemoryAddArguments>()
};

/// Excludes summaries, which are written only by a sync.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum RecordedType {
    Decision,
    Learning,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MemoryAddArguments {
    /// The claim in one sentence of 10 to 200 characters that will still be clear in a year without
    /// context.
    title: String,
    /// The reason and the consequences; 30 to 4000 characters of Markdown.
    body: String,
    /// The sentence from this session that proves the claim, quoted verbatim (8 to 600 characters);
    /// preferably the user's own words.
    quote: String,
    /// decision (default): what was chosen. learning: what was found out.
    r#type: Option<RecordedType>,
    /// Only for a learning. Default insight.
    kind: Option<LearningKind>,
    /// Words to find the memory by.
    #[serde(default)]
    tags: Vec<String>,
    /// Up to 6 situations in which later agents need it, in the words of a prompt or an error
    /// message: a task that would violate it, a symptom, a proposal that was decided against. 4 to
    /// 14 words each.
    #[serde(default)]
    applies: Vec<String>,
    /// The id of the memory that this one supersedes.
    supersedes: Option<String>,
    /// The id of this session, if you know it.
    session: Option<String>,
}

fn memory_add(call: &Call, arguments: JsonObject) -> Result<String> {
    let MemoryAddArguments { title, body, quote, r#type, kind, tags, applies, supersedes, session } =
        parse(arguments)?;
    // Only a learning has a kind.
    let recorded = match (r#type, kind) {
        (Some(RecordedType::Decision), _) | (None, None) => MemoryType::Decision,
        (Some(RecordedType::Learning), _) | (None, Some(_)) => MemoryType::Learning,
    };
    let request = MemoryRecordRequest {
        title,
        body,
        r#type: Some(recorded),
        kind,
        tags,
        applies,
        supersedes,
        quote,
        session: session.or_else(|| call.session.clone()),
        scope: None,
    };
    let report = memory::record(&call.host, &request, "mcp", &call.events)?;
    Ok(render_memory_add(&report))
}

fn render_memory_add(report: &MemoryRecordReport) -> String {
    let MemoryRecordReport { done, id, status, speaker, place, .. } = report;
    if *done != MemoryChange::Added {
        return format!("Nothing added: [{id}] already says this.");
    }
    let place = place.as_deref().unwrap_or_default();
    let evidence = match speaker {
        Some(Speaker::Human | Speaker::User) => format!("The quote is the user's ({place})."),
        Some(Speaker::Assistant) => format!("The quote is an agent's ({place})."),
        Some(Speaker::Tool) => format!("The quote is a tool's ({place})."),
        None => "The quote was not found in any readable session of this project.".to_owned(),
    };
    match status.as_deref() {
        Some("active") => format!("Added [{id}]. {evidence}"),
        _ => format!(
            "Added [{id}] as a candidate. {evidence} The user can accept it with `nacre review accept {id}`."
        ),
    }
}

pub(super) const MEMORY_REMOVE: ToolSpec = ToolSpec {
    name: "memory_remove",
    title: "Archive a memory",
    description: "Archive one memory of this project that is wrong or outdated, by its full id. Searches no longer find it, \
                  and the user can restore it. If something else is true now, use memory_add with supersedes instead. Use it only \
                  if the user says so or the code proves it.",
    effect: Effect::Removes,
    call: memory_remove,
    ..ToolSpec::takes::<MemoryRemoveArguments>()
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MemoryRemoveArguments {
    /// The full id.
    id: String,
}

/// Archives only memories in the store that agents write to, not the user's global ones.
fn memory_remove(call: &Call, arguments: JsonObject) -> Result<String> {
    let MemoryRemoveArguments { id } = parse(arguments)?;
    let scope = match call.host.store_to_write(None)?.scope {
        StoreScope::Project => Scope::ProjectOnly,
        StoreScope::Global => Scope::GlobalOnly,
    };
    let request = MemoryIdsRequest { ids: vec![id.clone()], scope: Some(scope) };
    let known = MemoryShowRequest { id, scope: Some(scope), ..Default::default() };
    let found = memory::show(&call.host, &known, &call.events)?.memory.id;
    if found != known.id {
        return Err(OpError::usage(format!("`{}` is not a full id", known.id))
            .hint(format!("Did you mean `{found}`?")));
    }
    memory::archive(&call.host, &request, &call.events)?;
    Ok(format!("Archived [{found}]. To restore it: nacre memory restore {found}"))
}
