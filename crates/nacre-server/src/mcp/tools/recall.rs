//! Tools that search memories and sessions, or report a project's status.

use nacre_ops::host::Tolerance;
use nacre_ops::{Result, ask as ask_ops, brief as brief_ops, status as status_ops, trace};
use nacre_types::{
    AskReport, AskRequest, BriefReport, BriefRequest, EmptyRequest, MemoryAnswer, ModelAnswer,
    StatusReport, StoreStatus, TraceHit, TraceSearchReport, TraceSearchRequest,
};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{DEFAULT_LIMIT, Effect, MAX_LIMIT, MAX_OFFSET, ToolSpec, at_most, page_result, parse};
use crate::calls::Call;
use crate::mcp::text::{Lines, SNIPPET_CHARS, line, sanitize};

const NOT_KNOWN: &str = "Nothing in memory answers that.";
const NOT_SURE: &str = "Nothing in memory clearly answers that. Closest:";

const DEFAULT_BRIEF_BUDGET: usize = 1_500;
const MAX_BRIEF_BUDGET: usize = 8_000;

pub(super) const BRIEF: ToolSpec = ToolSpec {
    name: "brief",
    title: "Brief me",
    description: "Get what you need to know before starting work: current decisions, user \
     preferences, known pitfalls, recent work and its open tasks, each with its id. With a task \
     or files, matching memories come first. The cheapest first call of a session; uses no \
     model.",
    call: brief,
    ..ToolSpec::takes::<BriefArguments>()
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BriefArguments {
    /// The task, in words.
    task: Option<String>,
    /// Files that the task is about.
    #[serde(default)]
    files: Vec<String>,
    /// Maximum number of tokens, up to 8000. Default 1500.
    budget: Option<usize>,
    /// Character offset to continue from, as stated at the end of the previous part.
    offset: Option<usize>,
}

fn brief(call: &Call, arguments: JsonObject) -> Result<String> {
    let BriefArguments { task, files, budget, offset } = parse(arguments)?;
    let budget = at_most("budget", budget.unwrap_or(DEFAULT_BRIEF_BUDGET), MAX_BRIEF_BUDGET)?;
    let request = BriefRequest { budget: Some(budget), task, files, scope: None };
    let report = brief_ops::brief(&call.host, &request)?;
    page_result(&render_brief(&report), offset)
}

fn render_brief(report: &BriefReport) -> String {
    let BriefReport { text, left_out, unproven, budget, .. } = report;
    let mut brief = match (text.as_str(), *left_out) {
        ("", 0) => "Nothing is remembered yet.".to_owned(),
        ("", _) => format!("A budget of {budget} tokens is too small for any memory."),
        (text, _) => text.trim_end().to_owned(),
    };
    if !unproven.is_empty() {
        let n_unproven = unproven.len();
        brief.push_str(&format!(
            "\n\n[{n_unproven} memories came with this repository and are hidden until the user \
             trusts them]"
        ));
    }
    brief
}

pub(super) const ASK: ToolSpec = ToolSpec {
    name: "ask",
    title: "Ask project memory",
    description: "Answer one question from this project's memory, with proof: the memory that answers it, its relevant line, \
                  and the quote behind it; or that nothing is known. Use it for a question such as why is the queue in \
                  SQLite; for a topic use memory_search.",
    effect: Effect::ReadsAndAsks,
    call: ask,
    ..ToolSpec::takes::<AskArguments>()
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AskArguments {
    /// One question, in a sentence.
    question: String,
    /// Let the user's configured model write the answer, which is slower and not free. Default
    /// false.
    #[serde(default)]
    use_model: bool,
    /// Character offset to continue from, as stated at the end of the previous part.
    offset: Option<usize>,
}

fn ask(call: &Call, arguments: JsonObject) -> Result<String> {
    let AskArguments { question, use_model, offset } = parse(arguments)?;
    let request = AskRequest { question, no_model: !use_model, ..AskRequest::default() };
    let text = match ask_ops::ask(&call.host, &request, &call.events)? {
        AskReport::Model(answer) => by_model(&answer),
        AskReport::Memories(answer) => by_memories(&answer),
    };
    page_result(&text, offset)
}

fn by_model(answer: &ModelAnswer) -> String {
    let mut text = match &answer.answer {
        Some(answer) => sanitize(answer.trim()),
        None => NOT_KNOWN.to_owned(),
    };
    if !answer.memories.is_empty() {
        text.push_str("\n\nSources:");
    }
    for memory in &answer.memories {
        let title = line(&memory.title, 200);
        text.push_str(&format!("\n- {title} [{}] ({})", memory.id, memory.status));
    }
    if let Some(error) = &answer.error {
        text.push_str(&format!("\n[The answer is incomplete: {}]", line(error, 200)));
    }
    text
}

fn by_memories(answer: &MemoryAnswer) -> String {
    let mut text = match (answer.known, answer.memories.as_slice()) {
        (true, _) => String::new(),
        (false, []) => format!("{NOT_KNOWN}\n"),
        (false, _) => format!("{NOT_SURE}\n"),
    };
    for memory in &answer.memories {
        let title = line(&memory.title, 200);
        let trust = memory.trust.map(|trust| format!(", {}", trust.as_str())).unwrap_or_default();
        let day = memory.updated.as_deref().and_then(|at| at.get(..10)).unwrap_or("no date");
        let replaced = memory.replaced_by.as_ref().map(|id| format!(", replaced by {id}"));
        let replaced = replaced.unwrap_or_default();
        let facts = format!("{}, {}, {day}{trust}{replaced}", memory.r#type, memory.status);
        text.push_str(&format!("- {title} [{}] ({facts})", memory.id));
        if !memory.line.is_empty() {
            text.push_str(&format!("\n  {}", line(&memory.line, SNIPPET_CHARS)));
        }
        if let Some(proof) = &memory.proof {
            let day = proof.at.get(..10).unwrap_or_default();
            text.push_str(&format!("\n  said {day}: \"{}\"", line(&proof.text, SNIPPET_CHARS)));
        }
        text.push('\n');
    }
    if let Some(said) = &answer.said {
        let day = said.at.as_deref().and_then(|at| at.get(..10)).unwrap_or_default();
        let said = format!("\"{}\" ({})", line(&said.text, SNIPPET_CHARS), said.place);
        text.push_str(&format!("In a session ({day}), the user said: {said}\n"));
    }
    text
}

pub(super) const TRACE_SEARCH: ToolSpec = ToolSpec {
    name: "trace_search",
    title: "Search earlier sessions",
    description: "Search the original messages of earlier coding agent sessions in this project (Claude Code, Codex, Cursor, \
                  OpenCode, Gemini CLI and others), from the user and from agents. Use it when memory_search finds nothing. Results \
                  are raw conversation, not confirmed knowledge.",
    call: trace_search,
    ..ToolSpec::takes::<TraceSearchArguments>()
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TraceSearchArguments {
    /// Words, or "quoted phrases".
    query: String,
    /// Only sessions from this agent, such as claude, codex, cursor, opencode, gemini or copilot.
    agent: Option<String>,
    /// Only messages since a date, such as 2026-01-31, or within a period, such as 7d.
    since: Option<String>,
    /// Maximum number of results, 1 to 30. Default 8.
    limit: Option<usize>,
    /// Number of results to skip, as stated at the end of the previous result.
    offset: Option<usize>,
}

/// Fails outside a project, because the search would include every session on this machine.
fn trace_search(call: &Call, arguments: JsonObject) -> Result<String> {
    let TraceSearchArguments { query, agent, since, limit, offset } = parse(arguments)?;
    if call.host.project.is_none() {
        return Err(call.host.no_project());
    }
    let limit = at_most("limit", limit.unwrap_or(DEFAULT_LIMIT), MAX_LIMIT)?.max(1);
    let offset = at_most("offset", offset.unwrap_or(0), MAX_OFFSET)?;
    let request = TraceSearchRequest {
        query,
        agent,
        since,
        // Request one additional result to find out whether there are more.
        limit: Some(offset + limit + 1),
        ..TraceSearchRequest::default()
    };
    let report = trace::search(&call.host, &request)?;
    Ok(render_trace_search(&report, offset, limit))
}

fn render_trace_search(report: &TraceSearchReport, offset: usize, limit: usize) -> String {
    let query = line(&report.query, 200);
    if report.hits.len() <= offset {
        return format!("No messages match: {query}. `nacre sync` reads new sessions.");
    }
    let mut lines = Lines::default();
    lines.add(&format!("Messages matching: {query}\n"));
    let mut next = offset;
    let mut session = "";
    for hit in report.hits[offset..].iter().take(limit) {
        let heading = if hit.id == session { String::new() } else { session_heading(hit) };
        let snippet = line(&hit.snippet, SNIPPET_CHARS);
        if !lines.add(&format!("{heading}- [{}] {}: {snippet}", hit.sequence, hit.kind)) {
            break;
        }
        session = &hit.id;
        next += 1;
    }
    let has_more = next < report.hits.len();
    lines.end_with(&if has_more { format!("[More: offset={next}]") } else { String::new() })
}

fn session_heading(hit: &TraceHit) -> String {
    let day = hit.at.as_deref().and_then(|at| at.get(..10)).unwrap_or("no date");
    let title = hit.title.as_deref().map(|title| format!(", \"{}\"", line(title, 80)));
    let title = title.unwrap_or_default();
    format!("Session {}, {day}, {}{title}\n", line(&hit.id, 100), hit.agent)
}

pub(super) const STATUS: ToolSpec = ToolSpec {
    name: "status",
    title: "State of project memory",
    description: "Show the project, its number of memories by type, how many are queued for review or unreadable, the known \
                  agent sessions, and the time of the last sync. Use it when memory seems empty or wrong.",
    tolerance: Tolerance::OfRepository,
    call: status,
    ..ToolSpec::takes::<EmptyRequest>()
};

fn status(call: &Call, arguments: JsonObject) -> Result<String> {
    let report = status_ops::status(&call.host, &parse(arguments)?)?;
    Ok(render_status(&report))
}

fn render_status(report: &StatusReport) -> String {
    let mut lines = Lines::default();
    let root = report.root.as_deref().map(|root| line(root, 300));
    lines.add(&match (&report.project, root) {
        (Some(name), Some(root)) => format!("Project {} in {root}", line(name, 100)),
        (None, Some(root)) => format!("Project in {root} (not registered)"),
        (_, None) => "No project in this directory; `nacre init` creates one".to_owned(),
    });
    for store in &report.stores {
        lines.add(&store_line(store));
    }
    // Agents must not see other projects' sessions.
    let is_here = |project: &Option<String>| project.is_some() && *project == report.root;
    for seen in report.sessions.iter().filter(|seen| is_here(&seen.project)) {
        let states: Vec<String> =
            seen.states.iter().map(|(state, n)| format!("{n} {state}")).collect();
        let (agent, n_seen) = (&seen.agent, seen.seen);
        lines.add(&format!("Sessions of {agent}: {n_seen} seen, {}", states.join(", ")));
    }
    let last = report.last_sync.as_deref().unwrap_or("never");
    lines.add(&format!("Last sync: {}", line(last, 200)));
    if let Some(mistake) = &report.config {
        lines.add(&format!("The repository's settings are invalid: {}", line(mistake, 300)));
    }
    lines.end_with("")
}

fn store_line(store: &StoreStatus) -> String {
    let counts: Vec<String> = store
        .memories
        .iter()
        .map(|count| format!("{} {}", count.active, count.r#type.as_str()))
        .collect();
    let mut text = format!("Memories ({}): {}", store.scope.as_str(), counts.join(", "));
    if store.candidates != 0 {
        text.push_str(&format!("; {} to review (nacre review)", store.candidates));
    }
    if store.broken != 0 {
        text.push_str(&format!("; {} cannot be read (nacre doctor)", store.broken));
    }
    text
}
