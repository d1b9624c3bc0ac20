//! Qwen Code: one line a record, a tree as Claude Code's, with messages in the parts of Google's API.

mod record;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use self::record::Record;
use super::adapter::{Adapter, Discovery, Homes, ReadOutcome, Trace, Watermark};
use super::emit::Emitter;
use super::error::Result;
use super::event::{EventKind, InjectedReason, Lane, Origin, Place, WordSource};
use super::facts::{Agent, LinkKind, SessionFacts, SessionRole};
use super::genai::{self, TokenKeys};
use super::json::{Cursor, Parsed};
use super::names::short_name;
use super::sink::Sink;
use super::stream::{LineFormat, Start, read_stream};
use super::thread::{Thread, Turn, own_lane};
use super::view::{Fields, items, texts};
use super::voice::{self, Ended, Spot};
use super::walk::{Wanted, walk};

/// Reads what Qwen Code leaves behind.
pub struct Qwen;

/// Where Qwen Code counts what a model call took.
const TOKENS: TokenKeys = TokenKeys {
    prompt: "promptTokenCount",
    output: "candidatesTokenCount",
    cached: "cachedContentTokenCount",
    thoughts: "thoughtsTokenCount",
    tool: "toolUsePromptTokenCount",
    total: "totalTokenCount",
};

impl Adapter for Qwen {
    fn agent(&self) -> Agent {
        Agent::Qwen
    }

    fn version(&self) -> u32 {
        1
    }

    fn roots(&self, homes: &Homes) -> Vec<PathBuf> {
        let own = homes.qwen_home.clone().unwrap_or_else(|| homes.home.join(".qwen"));
        let runtime = homes.qwen_runtime.iter().cloned();
        runtime.chain([own]).map(|folder| folder.join("projects")).collect()
    }

    fn discover(&self, roots: &[PathBuf]) -> Discovery {
        let file = |name: &OsStr| name.to_string_lossy().ends_with(".jsonl");
        let directory = |name: &OsStr| name != "memory" && name != "tool-results";
        walk(roots, &Wanted { agent: Agent::Qwen, file: &file, directory: &directory })
    }

    fn read(&self, trace: &Trace, from: Option<&Watermark>, sink: Sink<'_>) -> Result<ReadOutcome> {
        let path = &trace.source.path;
        let stem = path.file_stem().map(OsStr::to_string_lossy).unwrap_or_default();
        let mut facts = SessionFacts::new(Agent::Qwen, &stem);
        if is_subagent(path) {
            facts.role = SessionRole::SubAgent;
        }
        let format = |carry: Option<&str>| Reader(Thread::new(carry));
        read_stream(path, Start { version: self.version(), facts, format }, from, sink)
    }
}

/// Sub-agents have files of their own, below `subagents` or named after the agent.
fn is_subagent(path: &Path) -> bool {
    let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    name.starts_with("agent-") || path.components().any(|part| part.as_os_str() == "subagents")
}

/// Reads one transcript.
struct Reader(Thread);

impl LineFormat for Reader {
    fn record(
        &mut self,
        cursor: &mut Cursor<'_>,
        place: &Place,
        out: &mut Emitter<'_>,
    ) -> Parsed<()> {
        let record = Record::read(cursor)?;
        self.note_envelope(&record, out);
        let lane = lane_of(&record, out);
        let spot = Spot { place, key: &record.id, time: record.time, lane };
        self.0.begin();
        match record.kind {
            "user" => self.user(&record, &spot, out),
            "assistant" => self.assistant(&record, &spot, out),
            "tool_result" => self.tool_result(&record, &spot, out),
            "system" => self.system(&record, &spot, out),
            other => voice::unknown(&spot, other, record.raw, out),
        }
        self.0.end(&record.id, lane, out);
        Ok(())
    }

    fn cut_record(&mut self, head: &str, place: &Place, out: &mut Emitter<'_>) {
        voice::cut(head, place, out);
    }

    fn finish(&mut self, out: &mut Emitter<'_>) {
        out.facts.ending = self.0.ending();
    }

    fn carry(&self) -> String {
        self.0.carry()
    }
}

fn lane_of(record: &Record<'_>, out: &Emitter<'_>) -> Lane {
    if !record.forked_from.is_empty() {
        Lane::Inherited
    } else if record.is_sidechain {
        Lane::Sidechain
    } else {
        own_lane(out)
    }
}

impl Reader {
    /// Takes over what the envelope of a record says about the session.
    fn note_envelope(&mut self, record: &Record<'_>, out: &mut Emitter<'_>) {
        if !self.0.is_named && !record.session.is_empty() {
            self.0.is_named = true;
            let session = short_name(&record.session);
            if out.facts.role == SessionRole::Main {
                out.facts.id = session;
            } else {
                out.note_link(LinkKind::Parent, &session, None);
                out.facts.id = short_name(&format!("{}@{session}", out.facts.id));
            }
        }
        out.note_cwd(&record.fields.string("cwd"));
        let branch = record.fields.string("gitBranch");
        if branch != "HEAD" {
            out.note_branch(&branch);
        }
        out.note_version(&record.fields.string("version"));
        if record.forked_from.is_empty() {
            record.time.into_iter().for_each(|time| out.note_time(time));
        } else {
            out.note_link(LinkKind::ForkOf, &record.forked_from, None);
        }
    }

    fn user(&mut self, record: &Record<'_>, spot: &Spot<'_>, out: &mut Emitter<'_>) {
        let content = record.content();
        let provenance = record.fields.word("provenance");
        let is_own = !matches!(provenance, "" | "real_user");
        match record.subtype {
            "notification" | "background_task_completed" => {
                for text in texts(content) {
                    voice::injected(spot, InjectedReason::TaskNotice, &text, out);
                }
            }
            "mid_turn_user_message" if spot.lane == Lane::Main => self.queued(record, spot, out),
            "cron" | "goal_runtime" | "goal_state" => marked(spot, content, out),
            _ if is_own => marked(spot, content, out),
            _ => genai::user(&mut self.0, spot, &record.parent, content, out),
        }
    }

    /// Words that were typed while the agent worked.
    fn queued(&mut self, record: &Record<'_>, spot: &Spot<'_>, out: &mut Emitter<'_>) {
        let mut is_first = true;
        for text in texts(record.content()) {
            voice::added(spot, &text, out);
            let words = super::injected::split_user(&text)
                .into_iter()
                .filter(|piece| matches!(piece.author, super::injected::Author::Person(_)));
            for piece in words {
                if is_first {
                    self.0.chain.note_prompt(&record.parent, out);
                }
                is_first = false;
                self.0.turn = Turn::Open;
                voice::words(spot, WordSource::Queued, &piece.text, out);
            }
        }
    }

    fn assistant(&mut self, record: &Record<'_>, spot: &Spot<'_>, out: &mut Emitter<'_>) {
        if spot.lane != Lane::Inherited {
            out.note_model(&record.fields.string("model"));
            let usage = record.fields.object("usageMetadata");
            out.facts.tokens.add(genai::tokens(&usage, TOKENS));
        }
        genai::agent(&mut self.0, spot, record.content(), out);
    }

    fn tool_result(&mut self, record: &Record<'_>, spot: &Spot<'_>, out: &mut Emitter<'_>) {
        let ended = match record.fields.object("toolCallResult").word("status") {
            "error" | "cancelled" => Some(Ended::Badly),
            _ => None,
        };
        for part in items(record.content()) {
            let part = Fields::of(part);
            let response = part.object("functionResponse");
            if response.is_empty() {
                let text = part.string("text");
                voice::injected(spot, InjectedReason::CommandOutput, &text, out);
            } else {
                genai::response(&mut self.0, spot, &response, ended, out);
            }
        }
    }

    fn system(&mut self, record: &Record<'_>, spot: &Spot<'_>, out: &mut Emitter<'_>) {
        let payload = record.fields.object("systemPayload");
        match record.subtype {
            "chat_compression" => {
                let info = payload.raw("info");
                out.push(spot.draft(EventKind::Compaction, Origin::Host, info));
            }
            "custom_title" => out.note_title(&payload.string("customTitle")),
            "session_model" => out.note_model(&payload.string("modelId")),
            "rewind" => self.0.chain.rewind(&record.parent, out),
            "parent_session" => {
                out.facts.role = SessionRole::SubAgent;
                out.note_link(LinkKind::Parent, &payload.string("parentSessionId"), None);
            }
            "slash_command" if payload.word("phase") != "result" => {
                command(spot, &payload.string("rawCommand"), out);
            }
            // The program's own state, and what other records say as well.
            "slash_command"
            | "ui_telemetry"
            | "at_command"
            | "attribution_snapshot"
            | "notification"
            | "background_task_completed"
            | "session_notes"
            | "session_source"
            | "session_execution_engine"
            | "session_approval_mode"
            | "omni_recall"
            | "agent_bootstrap"
            | "agent_launch_prompt"
            | "agent_retry"
            | "agent_session_ready"
            | "file_history_snapshot"
            | "user_text_elements"
            | "session_artifact_event"
            | "session_artifact_snapshot"
            | "session_sources_snapshot"
            | "branch_checkpoint"
            | "goal_state"
            | "goal_runtime"
            | "goal_turn_end"
            | "turn_result" => {}
            other => voice::unknown(spot, &format!("system {other}"), record.raw, out),
        }
    }
}

/// A message that the agent marked as its own.
fn marked(spot: &Spot<'_>, content: &str, out: &mut Emitter<'_>) {
    for text in texts(content) {
        voice::marked_user(spot, &text, out);
    }
}

/// A slash command: what follows its name is the person's.
fn command(spot: &Spot<'_>, raw: &str, out: &mut Emitter<'_>) {
    let (name, rest) = raw.trim().split_once(char::is_whitespace).unwrap_or((raw.trim(), ""));
    voice::injected(spot, InjectedReason::Command, name, out);
    voice::words(spot, WordSource::CommandArgs, rest, out);
}
