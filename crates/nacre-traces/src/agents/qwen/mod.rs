//! Reads Qwen Code's sessions: one JSON record per line, with messages in Google API format. As in
//! Claude Code's transcripts, records form a tree.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use super::{AgentSpec, HookContract, Mark};
use crate::agent_config::shared::*;
use crate::transcript::toolkit::*;

pub(crate) struct Qwen;

const TOKENS: [&str; 6] = [
    "promptTokenCount",
    "candidatesTokenCount",
    "cachedContentTokenCount",
    "thoughtsTokenCount",
    "toolUsePromptTokenCount",
    "totalTokenCount",
];

pub(super) static SPEC: AgentSpec = AgentSpec {
    adapter: Some(&Qwen),
    trace_names: &["p/chats/s.jsonl", "p/subagents/agent-1.jsonl"],
    marks: &[
        (13, Mark::Line(&["\"parentUuid\"", "\"systemPayload\""])),
        (13, Mark::Line(&["\"parentUuid\"", "\"parts\":["])),
    ],
    variables: &["QWEN_HOME", "QWEN_RUNTIME_DIR"],
    shell_variables: &["QWEN_CODE"],
    signs: |places| vec![places.home.join(".qwen")],
    mcp: Some(|places, program| {
        let path = places.home.join(".qwen/settings.json");
        member(path, &["mcpServers", "nacre"], server(program, vec![SERVER_TIMEOUT]))
    }),
    hooks: Some(|places, program| {
        let path = places.home.join(".qwen/settings.json");
        hook_file(path, "qwen", program, MILLISECONDS, CONTRACT.hooks(program.has_guard))
    }),
    skill: Some(edit_shared_skill),
    contract: Some(CONTRACT),
    ..AgentSpec::new("qwen", "Qwen Code")
};

/// Hooks never ask the agent to continue at the end of a turn, because Qwen Code always reports
/// that a hook has already done so. It also calls the prompt hook with an empty prompt after each
/// tool.
const CONTRACT: HookContract = HookContract {
    hears: HookContract::ALL_BUT_FILES,
    forgets_on_resume: true,
    ..HookContract::CLAUDE
};

/// System records that contain program state or repeat other records.
const SILENT: &str = "\
    slash_command ui_telemetry at_command attribution_snapshot notification \
    background_task_completed session_notes session_source session_execution_engine \
    session_approval_mode omni_recall agent_bootstrap agent_launch_prompt agent_retry \
    agent_session_ready file_history_snapshot user_text_elements session_artifact_event \
    session_artifact_snapshot session_sources_snapshot branch_checkpoint goal_state goal_runtime \
    goal_turn_end turn_result";

impl Adapter for Qwen {
    fn agent(&self) -> Agent {
        Agent::Qwen
    }

    fn roots(&self, homes: &Homes) -> Vec<PathBuf> {
        let runtime = homes.var("QWEN_RUNTIME_DIR").into_iter();
        let folders = runtime.chain([homes.var_or("QWEN_HOME", ".qwen")]);
        folders.map(|folder| folder.join("projects")).collect()
    }

    fn is_searched(&self, directory: &str) -> bool {
        directory != "memory" && directory != "tool-results"
    }

    fn read(&self, trace: &Trace, from: Option<&Watermark>, sink: Sink) -> Result<ReadOutcome> {
        let path = &trace.source.path;
        let mut facts = SessionFacts::new(Agent::Qwen, &trace.source.stem());
        if is_subagent(path) {
            facts.role = SessionRole::SubAgent;
        }
        read_lines::<ThreadReader<Self>>(trace, self.version(), facts, from, sink)
    }
}

/// Sub-agents have separate files, either in `subagents` or named after the agent.
fn is_subagent(path: &Path) -> bool {
    let name = file_name(path);
    name.starts_with("agent-") || path.components().any(|part| part.as_os_str() == "subagents")
}

impl ThreadFormat for Qwen {
    fn record(thread: &mut Thread, record: &Record, out: &mut Emitter) {
        note_envelope(thread, record, out);
        let (lane, id) = (lane_of(record, out), record.string("uuid"));
        let time = record.time("timestamp");
        let spot = Spot { place: record.place, key: &id, time, lane };
        thread.begin();
        match record.word("type") {
            "user" => user(thread, record, &spot, out),
            "assistant" => assistant(thread, record, &spot, out),
            "tool_result" => tool_result(thread, record, &spot, out),
            "system" => system(thread, record, &spot, out),
            other => voice::emit_unknown(&spot, other, record.text, out),
        }
        thread.end(&id, lane, out);
    }
}

fn lane_of(record: &Record, out: &Emitter) -> Lane {
    if !record.raw("forkedFrom").is_empty() {
        Lane::Inherited
    } else if record.truth("isSidechain") {
        Lane::Sidechain
    } else {
        own_lane(out)
    }
}

fn note_envelope(thread: &mut Thread, record: &Record, out: &mut Emitter) {
    let session = short_name(&record.string("sessionId"));
    if !thread.is_named && !session.is_empty() {
        thread.is_named = true;
        if out.facts.role == SessionRole::Main {
            out.facts.id = session;
        } else {
            out.note_link(LinkKind::Parent, &session, None);
            out.facts.id = short_name(&format!("{}@{session}", out.facts.id));
        }
    }
    out.note_cwd(&record.string("cwd"));
    out.note_branch(&record.string("gitBranch"));
    out.note_version(&record.string("version"));
    if record.raw("forkedFrom").is_empty() {
        out.note_time(record.time("timestamp"));
    } else {
        out.note_link(LinkKind::ForkOf, record.object("forkedFrom").word("sessionId"), None);
    }
}

fn user(thread: &mut Thread, record: &Record, spot: &Spot, out: &mut Emitter) {
    let content = content_of(record);
    let provenance = record.word("provenance");
    let is_own = !matches!(provenance, "" | "real_user");
    match record.word("subtype") {
        "notification" | "background_task_completed" => {
            for text in texts(content) {
                voice::emit_injected(spot, InjectedReason::TaskNotice, &text, out);
            }
        }
        "mid_turn_user_message" if spot.lane == Lane::Main => {
            emit_queued(thread, record, spot, out);
        }
        "cron" | "goal_runtime" | "goal_state" => voice::emit_marked_texts(spot, content, out),
        _ if is_own => voice::emit_marked_texts(spot, content, out),
        _ => genai::user(thread, spot, record.word("parentUuid"), content, out),
    }
}

fn emit_queued(thread: &mut Thread, record: &Record, spot: &Spot, out: &mut Emitter) {
    let mut is_first = true;
    for text in texts(content_of(record)) {
        voice::emit_added(spot, &text, out);
        let words = split_user(&text).into_iter().filter(|piece| piece.origin.person().is_some());
        for piece in words {
            if is_first {
                thread.chain.note_prompt(record.word("parentUuid"), out);
            }
            is_first = false;
            thread.turn = TurnState::Open;
            voice::words(spot, WordSource::Queued, &piece.text, out);
        }
    }
}

fn assistant(thread: &mut Thread, record: &Record, spot: &Spot, out: &mut Emitter) {
    if spot.lane != Lane::Inherited {
        out.note_model(&record.string("model"));
        let usage = record.object("usageMetadata");
        out.facts.tokens.add(genai::tokens(&usage, TOKENS));
    }
    genai::agent(thread, spot, content_of(record), out);
}

fn tool_result(thread: &mut Thread, record: &Record, spot: &Spot, out: &mut Emitter) {
    let has_failed = match record.object("toolCallResult").word("status") {
        "error" | "cancelled" => Some(true),
        _ => None,
    };
    for part in items(content_of(record)) {
        let part = Fields::of(part);
        let response = part.object("functionResponse");
        if response.is_empty() {
            let text = part.string("text");
            voice::emit_injected(spot, InjectedReason::CommandOutput, &text, out);
        } else {
            genai::response(thread, spot, &response, has_failed, out);
        }
    }
}

fn system(thread: &mut Thread, record: &Record, spot: &Spot, out: &mut Emitter) {
    let payload = record.object("systemPayload");
    match record.word("subtype") {
        "chat_compression" => {
            let info = payload.raw("info");
            out.push(spot.draft(EventKind::Compaction, TextOrigin::Host, info));
        }
        "custom_title" => out.note_title(&payload.string("customTitle")),
        "session_model" => out.note_model(&payload.string("modelId")),
        "rewind" => thread.chain.rewind(record.word("parentUuid"), out),
        "parent_session" => {
            out.facts.role = SessionRole::SubAgent;
            out.note_link(LinkKind::Parent, &payload.string("parentSessionId"), None);
        }
        "slash_command" if payload.word("phase") != "result" => {
            command(spot, &payload.string("rawCommand"), out);
        }
        kind if contains_word(SILENT, kind) => {}
        other => voice::emit_unknown(spot, &format!("system {other}"), record.text, out),
    }
}

fn content_of<'a>(record: &Record<'a>) -> &'a str {
    record.object("message").raw("parts")
}

fn command(spot: &Spot, raw: &str, out: &mut Emitter) {
    let (name, rest) = raw.trim().split_once(char::is_whitespace).unwrap_or((raw.trim(), ""));
    voice::emit_injected(spot, InjectedReason::Command, name, out);
    voice::words(spot, WordSource::CommandArgs, rest, out);
}
