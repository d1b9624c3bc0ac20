//! Reads Copilot CLI's sessions. Each session has a directory with a log in which every line is one
//! event. Events store the typed text separately from the text sent to the model. Hook events
//! duplicate other events and are skipped.

#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::{AgentSpec, HookContract, InputKeys, Mark};
use crate::agent_config::shared::*;
use crate::transcript::toolkit::*;

pub(crate) struct Copilot;

const TOKENS: [&str; 5] =
    ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens"];

const EVENTS: &str = "events.jsonl";

pub(super) static SPEC: AgentSpec = AgentSpec {
    adapter: Some(&Copilot),
    trace_names: &["x/events.jsonl", "x.jsonl"],
    marks: &[
        (11, Mark::Line(&["\"type\":\"session.start\""])),
        (11, Mark::Line(&["\"type\":\"user.message\""])),
        (11, Mark::Line(&["\"type\":\"assistant.message\""])),
    ],
    variables: &["COPILOT_HOME"],
    shell_variables: &["COPILOT_CLI"],
    signs: |places| vec![places.home.join(".copilot")],
    mcp: Some(|places, program| {
        let tools = Json::List(vec![Json::text("*")]);
        let server = server(program, vec![("type", Json::text("local")), ("tools", tools)]);
        member(places.home.join(".copilot/mcp-config.json"), &["mcpServers", "nacre"], server)
    }),
    hooks: Some(|places, program| {
        let path = places.home.join(".copilot/hooks/nacre.json");
        FileEdit::new(path, Edit::Whole(hooks_file(program)))
    }),
    skill: Some(edit_shared_skill),
    contract: Some(CONTRACT),
    ..AgentSpec::new("copilot", "Copilot CLI")
};

const CONTRACT: HookContract = HookContract {
    // Copilot uses the second name in each list when it runs hooks written for Claude Code.
    keys: InputKeys {
        session: &["sessionId", "session_id"],
        prompt: &["prompt", "initialPrompt"],
        tool: &["toolName", "tool_name"],
        arguments: &["toolArgs", "tool_input"],
        trace: &["transcriptPath", "transcript_path"],
        ..InputKeys::CLAUDE
    },
    events: "sessionStart userPromptSubmitted preToolUse postToolUse - agentStop sessionEnd",
    forgets_on_resume: true,
    context: r#"{"additionalContext":$JSON}"#,
    denial: r#"{"permissionDecision":"deny","permissionDecisionReason":$JSON}"#,
    ..HookContract::CLAUDE
};

/// Hooks are stored in a separate file. The commands always succeed, because a failing hook before
/// a tool call would block every tool.
fn hooks_file(program: &Program) -> String {
    let events = CONTRACT.hooks(program.has_guard).map(|HookSpec { event, name, .. }| {
        let hook = Json::Map(vec![
            ("type", Json::text("command")),
            ("bash", Json::text(format!("{} || exit 0", program.hook("copilot", event)))),
            ("timeoutSec", Json::Number(SECONDS)),
        ]);
        (name, Json::List(vec![hook]))
    });
    let file = Json::Map(vec![
        ("version", Json::Number(1)),
        ("description", Json::text(MARK)),
        ("hooks", Json::Map(events.collect())),
    ]);
    let layout = Layout { newline: "\n", unit: "  ".to_owned(), is_open: true, is_spaced: true };
    format!("{}\n", layout.value(&file, ""))
}

impl Adapter for Copilot {
    fn agent(&self) -> Agent {
        Agent::Copilot
    }

    fn roots(&self, homes: &Homes) -> Vec<PathBuf> {
        vec![homes.var_or("COPILOT_HOME", ".copilot").join("session-state")]
    }

    fn is_searched(&self, directory: &str) -> bool {
        !matches!(directory, "files" | "checkpoints" | "research")
    }

    fn read(&self, trace: &Trace, from: Option<&Watermark>, sink: Sink) -> Result<ReadOutcome> {
        let path = &trace.source.path;
        let facts = SessionFacts::new(Agent::Copilot, &id_of(path));
        let mut outcome =
            read_lines::<ThreadReader<Self>>(trace, self.version(), facts, from, sink)?;
        note_title(path, &mut outcome.facts);
        Ok(outcome)
    }
}

/// The session ID is the directory's name or, in older versions, the file's name.
fn id_of(path: &Path) -> String {
    if path.file_name() == Some(OsStr::new(EVENTS)) {
        path.parent().map(file_name).unwrap_or_default()
    } else {
        file_stem(path)
    }
}

fn note_title(path: &Path, facts: &mut SessionFacts) {
    if facts.title.is_some() || path.file_name() != Some(OsStr::new(EVENTS)) {
        return;
    }
    let text = whole::sidecar(&path.with_file_name("workspace.yaml")).unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("name:")).unwrap_or_default();
    let name = name.trim().trim_matches(['"', '\'']);
    if !name.is_empty() && !name.starts_with(['|', '>']) {
        facts.title = Some(short_name(name));
    }
}

impl ThreadFormat for Copilot {
    fn record(thread: &mut Thread, record: &Record, out: &mut Emitter) {
        let data = record.object("data");
        let time = record.time("timestamp");
        out.note_time(time);
        // Events from a sub-agent are interleaved with those from its caller.
        let is_own = data.raw("parentToolCallId").is_empty() && record.raw("agentId").is_empty();
        let lane = if is_own { own_lane(out) } else { Lane::Sidechain };
        let id = record.string("id");
        let spot = Spot { place: record.place, key: &id, time, lane };
        thread.begin();
        event(thread, record, &spot, &data, out);
        thread.end(&id, lane, out);
    }
}

fn event(thread: &mut Thread, record: &Record, spot: &Spot, data: &Fields, out: &mut Emitter) {
    match record.word("type") {
        "session.start" | "session.resume" | "session.context_changed" => {
            session(thread, data, out);
        }
        "user.message" => user(thread, spot, data, out),
        "assistant.message" => assistant(thread, spot, data, out),
        "assistant.reasoning" => {
            thread.agent(spot, EventKind::Reasoning, &data.string("content"), out);
        }
        "tool.user_requested" | "tool.execution_start" => {
            call(thread, spot, data, "toolName", out);
        }
        "tool.execution_complete" => result(thread, spot, data, out),
        "system.notification" => {
            voice::emit_injected(spot, InjectedReason::TaskNotice, &data.string("content"), out);
        }
        "session.model_change" => out.note_model(&data.string("newModel")),
        "session.title_changed" => out.note_title(&data.string("title")),
        "session.error" => voice::failure(spot, &data.string("message"), out),
        "session.truncation" | "session.compaction_complete" => compaction(spot, data, out),
        "session.shutdown" => shutdown(thread, data, out),
        "assistant.turn_start" if spot.lane == Lane::Main => thread.turn = TurnState::Open,
        "abort" => {
            thread.close();
            voice::note(spot, &data.string("reason"), out);
        }
        kind if is_silent(kind) => {}
        other => voice::emit_unknown(spot, other, record.text, out),
    }
}

fn session(thread: &mut Thread, data: &Fields, out: &mut Emitter) {
    thread.name(&data.string("sessionId"), out);
    out.note_version(&data.string("copilotVersion"));
    out.note_model(&data.string("selectedModel"));
    let inner = data.object("context");
    let context = if inner.is_empty() { data } else { &inner };
    out.note_cwd(&context.string("cwd"));
    out.note_branch(&context.string("branch"));
    let (host, name) = (context.string("repositoryHost"), context.string("repository"));
    if !host.is_empty() && !name.is_empty() {
        out.note_repository(&format!("https://{host}/{name}"));
    }
}

fn user(thread: &mut Thread, spot: &Spot, data: &Fields, out: &mut Emitter) {
    let (typed, sent) = (data.string("content"), data.string("transformedContent"));
    let source = data.word("source");
    if !matches!(source, "" | "user") {
        return voice::emit_marked_user(spot, &typed, out);
    }
    let added = sent.replacen(&*typed, "", 1);
    if !typed.is_empty() && added.len() < sent.len() && !added.trim().is_empty() {
        let reason = reason_of(&added).or_if_unknown(InjectedReason::Environment);
        voice::emit_injected(spot, reason, &added, out);
    }
    // Events have no branches, because Copilot removes turns from the file when they are undone.
    thread.user(spot, "", &typed, out);
}

fn assistant(thread: &mut Thread, spot: &Spot, data: &Fields, out: &mut Emitter) {
    out.note_model(&data.string("model"));
    let output = data.count("outputTokens");
    out.facts.tokens.add(Tokens { output, ..Tokens::default() });
    thread.agent(spot, EventKind::Reasoning, &data.string("reasoningText"), out);
    thread.agent(spot, EventKind::Assistant, &data.string("content"), out);
    for request in data.items("toolRequests") {
        call(thread, spot, &Fields::of(request), "name", out);
    }
}

/// A tool call may appear in a message, as a start event, or as both.
fn call(thread: &mut Thread, spot: &Spot, call: &Fields, name: &str, out: &mut Emitter) {
    let id = call.string("toolCallId");
    if !id.is_empty() && thread.calls.is_open(&id) {
        return;
    }
    let raw = call.raw("arguments");
    let text = text_of(raw);
    thread.call(spot, &id, &call.string(name), text.as_deref().unwrap_or(raw), out);
}

fn result(thread: &mut Thread, spot: &Spot, data: &Fields, out: &mut Emitter) {
    let (result, error) = (data.object("result"), data.object("error"));
    let raw = match (result.raw("content"), error.raw("message")) {
        ("", "") => data.raw("result"),
        ("", message) => message,
        (content, _) => content,
    };
    let has_failed = data.raw("success") == "false";
    thread.result(spot, &data.string("toolCallId"), has_failed, raw, out);
}

/// Handles the event written when the program exits normally. Its token counts cover the whole
/// session.
fn shutdown(thread: &mut Thread, data: &Fields, out: &mut Emitter) {
    thread.close();
    let inner = data.object("accountingSnapshot");
    let data = if data.raw("modelMetrics").is_empty() { &inner } else { data };
    let mut total = Tokens::default();
    for (_, model) in data.object("modelMetrics").members() {
        let mut used = Fields::of(model).object("usage").tokens(TOKENS);
        used.input = used.input.saturating_sub(used.cached);
        total.add(used);
    }
    if total != Tokens::default() {
        out.facts.tokens = total;
    }
}

fn compaction(spot: &Spot, data: &Fields, out: &mut Emitter) {
    out.push(spot.draft(EventKind::Compaction, TextOrigin::Host, &data.string("reason")));
    voice::recap(spot, &data.string("summaryContent"), out);
}

const SILENT: &str = "\
    system.message assistant.turn_start assistant.turn_end assistant.intent assistant.usage \
    tool.execution_progress tool.execution_partial_result session.info session.warning \
    session.idle session.mode_changed session.plan_changed session.workspace_file_changed \
    session.snapshot_rewind session.handoff session.usage_info session.usage_record \
    session.usage_checkpoint session.auto_mode_resolved session.permissions_changed \
    session.compaction_start session.task_complete";
const SILENT_FAMILIES: &str = "hook permission subagent skill user_input elicitation";

fn is_silent(kind: &str) -> bool {
    let family = kind.split('.').next().unwrap_or_default();
    contains_word(SILENT_FAMILIES, family) || contains_word(SILENT, kind)
}
