//! Reads pi's sessions. Each file has one JSON entry per line and contains every branch of a
//! conversation.

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use jiff::Timestamp;

use super::{AgentSpec, HookContract, Mark};
use crate::agent_config::shared::*;
use crate::transcript::toolkit::*;

pub(crate) struct Pi;

pub(super) static SPEC: AgentSpec = AgentSpec {
    adapter: Some(&Pi),
    marks: &[(15, Mark::Line(&["\"type\":\"session\"", "\"timestamp\":", "\"cwd\":"]))],
    variables: &["PI_CODING_AGENT_DIR"],
    shell_variables: &["PI_CODING_AGENT"],
    signs: |places| vec![places.home.join(".pi")],
    // pi does not support MCP. Its hooks are implemented by an extension that runs inside pi.
    hooks: Some(|places, program| {
        let path = places.home.join(".pi/agent/extensions/nacre.ts");
        script(path, include_str!("extension.ts"), program)
    }),
    skill: Some(edit_shared_skill),
    contract: Some(HookContract::PLUGIN),
    ..AgentSpec::new("pi", "pi")
};

impl Adapter for Pi {
    fn agent(&self) -> Agent {
        Agent::Pi
    }

    fn roots(&self, homes: &Homes) -> Vec<PathBuf> {
        vec![homes.var_or("PI_CODING_AGENT_DIR", ".pi/agent").join("sessions")]
    }

    fn read(&self, trace: &Trace, from: Option<&Watermark>, sink: Sink) -> Result<ReadOutcome> {
        let facts = SessionFacts::new(Agent::Pi, id_in_name(&trace.source.stem()));
        read_lines::<TranscriptParser>(trace, self.version(), facts, from, sink)
    }
}

fn id_in_name(stem: &str) -> &str {
    stem.split_once('_').map_or(stem, |(_, id)| id)
}

struct TranscriptParser {
    thread: Thread,
    /// The time at which this session was forked from another one. Earlier entries are copies.
    forked: Option<Timestamp>,
}

impl TranscriptParser {
    fn header(&mut self, header: &Fields, time: Option<Timestamp>, out: &mut Emitter) {
        self.thread.name(&header.string("id"), out);
        out.note_cwd(&header.string("cwd"));
        out.note_model(&header.string("modelId"));
        let parents = ["parentSession", "branchedFrom"].map(|key| header.string(key));
        let Some(parent) = parents.iter().find(|parent| !parent.is_empty()) else { return };
        self.forked = time;
        // The parent session is given as a file path.
        let name = parent.rsplit(['/', '\\']).next().unwrap_or_default();
        let stem = name.strip_suffix(".jsonl").unwrap_or(name);
        out.note_link(LinkKind::ForkOf, id_in_name(stem), None);
    }

    fn lane(&self, time: Option<Timestamp>) -> Lane {
        match (self.forked, time) {
            (Some(forked), Some(time)) if time < forked => Lane::Inherited,
            _ => Lane::Main,
        }
    }
}

impl LineFormat for TranscriptParser {
    fn new(carry: Option<&str>) -> Self {
        let (thread, forked): (String, Option<Timestamp>) = from_carry(carry);
        Self { thread: Thread::restore(from_carry(Some(&thread))), forked }
    }

    fn record(&mut self, record: &Record, out: &mut Emitter) {
        let time = record.time("timestamp");
        let lane = self.lane(time);
        out.note_time(time.filter(|_| lane == Lane::Main));
        let id = record.string("id");
        let spot = Spot { place: record.place, key: &id, time, lane };
        self.thread.begin();
        match record.word("type") {
            "session" => self.header(record, time, out),
            "message" => self.message(record, &spot, out),
            "compaction" => {
                let kept = record.string("firstKeptEntryId");
                out.push(spot.draft(EventKind::Compaction, TextOrigin::Host, &kept));
                voice::recap(&spot, &record.string("summary"), out);
            }
            "branch_summary" => voice::recap(&spot, &record.string("summary"), out),
            "custom_message" => voice::emit_marked_texts(&spot, record.raw("content"), out),
            "model_change" => out.note_model(&record.string("modelId")),
            "session_info" => out.note_title(&record.string("name")),
            // These records contain settings, or markers that only pi itself uses.
            "thinking_level_change" | "custom" | "label" | "leaf" => {}
            other => voice::emit_unknown(&spot, other, record.text, out),
        }
        self.thread.end(&id, lane, out);
    }

    fn ending(&self) -> Ending {
        self.thread.ending()
    }

    fn carry(&self) -> String {
        to_carry(&(to_carry(&self.thread.to_carry()), self.forked))
    }
}

impl TranscriptParser {
    fn message(&mut self, record: &Record, spot: &Spot, out: &mut Emitter) {
        let message = record.object("message");
        let content = message.raw("content");
        match message.word("role") {
            "user" => {
                blocks::user(&mut self.thread, spot, &record.string("parentId"), content, out);
            }
            "assistant" => self.assistant(spot, &message, out),
            "toolResult" => {
                let has_failed = message.truth("isError");
                self.thread.result(spot, &message.string("toolCallId"), has_failed, content, out);
            }
            "bashExecution" => {
                voice::words(spot, WordSource::Shell, &message.string("command"), out);
                let output = message.string("output");
                voice::emit_injected(spot, InjectedReason::CommandOutput, &output, out);
            }
            "custom" | "hookMessage" => voice::emit_marked_texts(spot, content, out),
            "branchSummary" | "compactionSummary" => {
                voice::recap(spot, &message.string("summary"), out);
            }
            other => {
                voice::emit_unknown(spot, &format!("message {other}"), record.raw("message"), out);
            }
        }
    }

    fn assistant(&mut self, spot: &Spot, message: &Fields, out: &mut Emitter) {
        if spot.lane != Lane::Inherited {
            out.note_model(&message.string("model"));
            let keys = ["input", "output", "cacheRead", "cacheWrite", "reasoning"];
            out.facts.tokens.add(message.object("usage").tokens(keys));
        }
        blocks::agent(&mut self.thread, spot, message.raw("content"), out);
        let reason = message.word("stopReason");
        if matches!(reason, "aborted" | "error") {
            self.thread.close();
            let text = message.string("errorMessage");
            voice::failure(spot, if text.is_empty() { reason } else { &text }, out);
        }
    }
}
