//! Reads Codex's rollouts, including archived and compressed files. A rollout contains the
//! conversation in up to three streams: model input and output, events shown to the user, and
//! completed items. Each message is emitted once, from the first stream that contains it.

mod events;
mod items;
mod state;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::{AgentSpec, HookContract, Mark};
use crate::agent_config::shared::*;
use crate::transcript::toolkit::*;

use self::state::RolloutParser;

pub(crate) struct Codex;

pub(super) static SPEC: AgentSpec = AgentSpec {
    adapter: Some(&Codex),
    trace_names: &["rollout-x.jsonl"],
    marks: &[
        // Compressed rollouts cannot be recognized by their content.
        (2, Mark::NameStart("rollout-")),
        (2, Mark::NameEnd(".zst")),
        (20, Mark::Line(&["\"payload\""])),
        (20, Mark::Line(&["\"record_type\""])),
        (20, Mark::Line(&["\"session_meta\""])),
        (20, Mark::Line(&["\"call_id\""])),
    ],
    variables: &["CODEX_HOME"],
    shell_variables: &["CODEX_THREAD_ID", "CODEX_CI"],
    signs: |places| vec![places.codex.clone()],
    mcp: Some(|places, program| {
        let lines = vec![
            // A JSON string is also a valid TOML string.
            format!("command = {}", string(&program.text())),
            r#"args = ["mcp"]"#.to_owned(),
            "startup_timeout_sec = 10".to_owned(),
            // Without this setting, non-interactive sessions reject the tools that write memories.
            r#"default_tools_approval_mode = "approve""#.to_owned(),
        ];
        let path = vec!["mcp_servers".to_owned(), "nacre".to_owned()];
        let table = TomlTable { path, lines };
        FileEdit::new(places.codex.join("config.toml"), Edit::Tables(vec![table]))
    }),
    // Codex runs only hooks whose hash is trusted.
    hooks: Some(|places, program| {
        let path = places.codex.join("hooks.json");
        hook_file(path, "codex", program, SECONDS, CONTRACT.hooks(program.has_guard))
    }),
    skill: Some(edit_shared_skill),
    contract: Some(CONTRACT),
    ..AgentSpec::new("codex", "Codex")
};

/// Codex uses Claude Code's format with strict validation: one unknown key makes the whole response
/// invalid.
const CONTRACT: HookContract =
    HookContract { hears: HookContract::ALL_BUT_ENDS, ..HookContract::CLAUDE };

/// Returns entries that mark the hooks as trusted, with the keys and hashes that Codex reported.
pub fn trust(places: &Places, hashes: &[(String, String)]) -> FileEdit {
    let tables = hashes.iter().map(|(key, hash)| TomlTable {
        path: vec!["hooks".to_owned(), "state".to_owned(), key.clone()],
        lines: vec![format!("trusted_hash = {}", string(hash))],
    });
    FileEdit::new(places.codex.join("config.toml"), Edit::Tables(tables.collect()))
}

impl Adapter for Codex {
    fn agent(&self) -> Agent {
        Agent::Codex
    }

    fn roots(&self, homes: &Homes) -> Vec<PathBuf> {
        let codex = homes.var_or("CODEX_HOME", ".codex");
        vec![codex.join("sessions"), codex.join("archived_sessions")]
    }

    fn is_trace(&self, name: &str) -> bool {
        let is_trace = [".jsonl", ".jsonl.zst"].iter().any(|end| name.ends_with(end));
        is_trace && name.starts_with("rollout-")
    }

    fn discover(&self, roots: &[PathBuf]) -> Discovery {
        let mut discovery = walk(roots, Agent::Codex, &|name| self.is_trace(name), &|_| true);
        // Both files exist while Codex is compressing or extracting a rollout. The uncompressed one
        // is current.
        let is_packed = |path: &Path| path.extension() == Some(OsStr::new("zst"));
        let plain: HashSet<PathBuf> = discovery
            .sources
            .iter()
            .filter(|source| !is_packed(&source.path))
            .map(|source| source.path.clone())
            .collect();
        discovery.sources.retain(|source| {
            !is_packed(&source.path) || !plain.contains(&source.path.with_extension(""))
        });
        discovery
    }

    fn read(&self, trace: &Trace, from: Option<&Watermark>, sink: Sink) -> Result<ReadOutcome> {
        let name = file_name(&trace.source.path);
        let facts = SessionFacts::new(Agent::Codex, id_in_name(&name));
        read_lines::<RolloutParser>(trace, self.version(), facts, from, sink)
    }
}

/// Returns the thread ID in `rollout-<time>-<thread id>[_<rollout id>].jsonl`, or the whole name if
/// it contains no ID.
fn id_in_name(name: &str) -> &str {
    let stem = name.split('.').next().unwrap_or(name);
    let stem = stem.split('_').next().unwrap_or(stem);
    stem.len().checked_sub(36).and_then(|start| stem.get(start..)).unwrap_or(stem)
}

impl LineFormat for RolloutParser {
    fn new(carry: Option<&str>) -> Self {
        Self::restore(carry)
    }

    fn record(&mut self, record: &Record, out: &mut Emitter) {
        let time = record.time("timestamp");
        let lane = self.lane(time, record, out);
        let spot = Spot { place: record.place, key: "", time, lane };
        let (kind, raw) = (record.word("type"), record.raw("payload"));
        let payload = Fields::of(raw);
        match kind {
            // These records contain program state, or mark a message that is recorded separately.
            "world_state"
            | "inter_agent_communication"
            | "inter_agent_communication_metadata"
            | "security_risk_score" => {}
            _ if raw.is_empty() => self.bare_line(kind, record, &spot, out),
            "response_item" => self.item(&payload, raw, &spot, out),
            "event_msg" => self.event(&payload, raw, &spot, out),
            "session_meta" => self.session_meta(&payload, time, out),
            "turn_context" => {
                if self.saved.copying_since.is_none() {
                    out.note_cwd(&payload.string("cwd"));
                    out.note_model(&payload.string("model"));
                }
            }
            "compacted" => {
                self.flush_held(out);
                let text = payload.string("message");
                out.push(spot.draft(EventKind::Compaction, TextOrigin::Host, &text));
            }
            other => {
                voice::emit_unknown(&Spot { lane: Lane::Main, ..spot }, other, record.text, out);
            }
        }
    }

    fn cut_record(&mut self, head: &str, place: &Position, out: &mut Emitter) {
        // Nearly all overlong lines are compaction records.
        let is_compaction = front(head, 256).contains("\"type\":\"compacted\"");
        let kind = if is_compaction { EventKind::Compaction } else { EventKind::Meta };
        let draft = Draft::new(kind, TextOrigin::Host, head, place.clone());
        out.push(Draft { is_error: !is_compaction, ..draft });
    }

    fn finish(&mut self, out: &mut Emitter) {
        self.flush_held(out);
    }

    fn ending(&self) -> Ending {
        if self.saved.has_turns {
            if self.saved.open_turns == 0 { Ending::Finished } else { Ending::Active }
        } else if self.saved.last_is_answer && self.calls.is_empty() {
            Ending::Finished
        } else {
            Ending::Unknown
        }
    }

    fn carry(&self) -> String {
        self.to_carry()
    }
}

impl RolloutParser {
    /// Reads a line without an envelope, as older versions wrote it: first the session, then items
    /// and state.
    fn bare_line(&mut self, kind: &str, record: &Record, spot: &Spot, out: &mut Emitter) {
        if !record.word("record_type").is_empty() {
        } else if kind.is_empty() && !record.word("id").is_empty() {
            self.session_meta(record, spot.time, out);
        } else if items::is_item(kind) {
            self.item(record, record.text, spot, out);
        } else {
            voice::emit_unknown(&Spot { lane: Lane::Main, ..*spot }, kind, record.text, out);
        }
    }

    fn session_meta(&mut self, header: &Fields, time: Option<Timestamp>, out: &mut Emitter) {
        let (id, source) = (header.word("id"), header.raw("source"));
        if self.saved.has_meta {
            // A header from another session means that its history was copied into this one.
            if id != out.facts.id && !id.is_empty() {
                self.saved.copying_since = time;
                if out.facts.links.is_empty() {
                    out.note_link(LinkKind::ForkOf, id, None);
                }
            }
            return;
        }
        self.saved.has_meta = true;
        out.facts.role = if source.contains("\"thread_spawn\"") {
            SessionRole::SubAgent
        } else if source.contains("\"subagent\"") || source.contains("\"internal\"") {
            SessionRole::Helper
        } else {
            SessionRole::Main
        };
        // A sub-agent inherits its parent's history and gets its prompts from the parent agent. The
        // prompts for `codex exec` come from programs.
        let is_interactive = match source {
            "\"cli\"" | "\"vscode\"" => true,
            "" => matches!(header.word("originator"), "" | "codex_cli_rs"),
            _ => false,
        };
        let is_spawned = out.facts.role == SessionRole::SubAgent;
        self.saved.is_programs = !is_spawned && !is_interactive;
        let own_from = header.number("subagent_history_start_ordinal");
        self.saved.own_from_ordinal = own_from.and_then(|ordinal| u64::try_from(ordinal).ok());
        if !id.is_empty() {
            out.facts.id = short_name(id);
        }
        out.note_link(LinkKind::ForkOf, header.word("forked_from_id"), None);
        let parent = header.word("parent_thread_id");
        if parent != id {
            out.note_link(LinkKind::Parent, parent, None);
        }
        if is_spawned {
            let spawn = header.object("source").object("subagent").object("thread_spawn");
            out.note_link(LinkKind::Parent, spawn.word("parent_thread_id"), None);
        }
        out.note_link(LinkKind::Continues, header.object("history_base").word("thread_id"), None);
        out.note_cwd(&header.string("cwd"));
        let git = header.object("git");
        out.note_branch(&git.string("branch"));
        out.note_repository(&git.string("repository_url"));
        out.note_version(header.word("cli_version"));
    }
}
