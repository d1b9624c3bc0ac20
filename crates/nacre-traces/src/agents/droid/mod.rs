//! Reads sessions from Factory's Droid: one JSON record per line, with messages in Anthropic API
//! format. Token counts and the model are in a settings file next to the transcript.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use super::{AgentSpec, HookContract, Mark};
use crate::agent_config::shared::*;
use crate::transcript::toolkit::*;

pub(crate) struct Droid;

const TOKENS: [&str; 5] =
    ["inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens", "thinkingTokens"];

pub(super) static SPEC: AgentSpec = AgentSpec {
    adapter: Some(&Droid),
    marks: &[(10, Mark::Line(&["\"type\":\"session_start\""]))],
    shell_variables: &["FACTORY_EXEC_TARGET_AUTONOMY"],
    signs: |places| vec![places.home.join(".factory")],
    mcp: Some(|places, program| {
        let server = server(program, vec![("type", Json::text("stdio"))]);
        member(places.home.join(".factory/mcp.json"), &["mcpServers", "nacre"], server)
    }),
    // Hooks are stored in a separate file with the events at the top level.
    hooks: Some(|places, program| {
        let hooks = CONTRACT.hooks(program.has_guard);
        let groups = hook_groups("droid", program, SECONDS, hooks);
        let edit = Edit::Hooks { agent: "droid", keys: Vec::new(), groups };
        FileEdit::new(places.home.join(".factory/hooks.json"), edit)
    }),
    skill: Some(edit_shared_skill),
    contract: Some(CONTRACT),
    ..AgentSpec::new("droid", "Factory droid")
};

/// Hooks return context as plain text and refuse a tool call with an exit code.
const CONTRACT: HookContract =
    HookContract { context: "$TEXT", denial: "$TEXT", denial_code: 2, ..HookContract::CLAUDE };

impl Adapter for Droid {
    fn agent(&self) -> Agent {
        Agent::Droid
    }

    fn roots(&self, homes: &Homes) -> Vec<PathBuf> {
        vec![homes.home.join(".factory/sessions")]
    }

    fn read(&self, trace: &Trace, from: Option<&Watermark>, sink: Sink) -> Result<ReadOutcome> {
        let path = &trace.source.path;
        let facts = SessionFacts::new(Agent::Droid, &trace.source.stem());
        let mut outcome =
            read_lines::<ThreadReader<Self>>(trace, self.version(), facts, from, sink)?;
        note_settings(path, &mut outcome.facts);
        Ok(outcome)
    }
}

fn note_settings(path: &Path, facts: &mut SessionFacts) {
    let Some(text) = whole::sidecar(&path.with_extension("settings.json")) else {
        return;
    };
    let settings = Fields::of(&text);
    facts.tokens = settings.object("tokenUsage").tokens(TOKENS);
    let model = short_name(&settings.string("model"));
    if !model.is_empty() && facts.models.is_empty() {
        facts.models.push(model);
    }
}

fn session_start(thread: &mut Thread, record: &Fields, out: &mut Emitter) {
    thread.name(&record.string("id"), out);
    out.note_cwd(&record.string("cwd"));
    for key in ["title", "sessionTitle"] {
        out.note_title(&record.string(key));
    }
    out.note_link(LinkKind::ForkOf, &record.string("parent"), None);
    let caller = record.string("callingSessionId");
    if !caller.is_empty() {
        out.facts.role = SessionRole::SubAgent;
        let call = record.string("callingToolUseId");
        out.note_link(LinkKind::Parent, &caller, (!call.is_empty()).then_some(&*call));
    }
}

fn message(thread: &mut Thread, record: &Record, spot: &Spot, out: &mut Emitter) {
    let message = record.object("message");
    let content = message.raw("content");
    match (message.word("role"), message.word("visibility")) {
        (_, "user_only") => {
            texts(content).iter().for_each(|text| voice::note(spot, text, out));
        }
        ("user" | "system", "llm_only") => voice::emit_marked_texts(spot, content, out),
        ("user", _) => blocks::user(thread, spot, &record.string("parentId"), content, out),
        ("assistant", _) => {
            out.note_model(&message.string("modelId"));
            blocks::agent(thread, spot, content, out);
        }
        ("system", _) => {}
        (other, _) => {
            voice::emit_unknown(spot, &format!("message {other}"), record.raw("message"), out);
        }
    }
}

impl ThreadFormat for Droid {
    fn record(thread: &mut Thread, record: &Record, out: &mut Emitter) {
        let time = record.time("timestamp");
        out.note_time(time);
        let id = record.string("id");
        let lane = own_lane(out);
        let spot = Spot { place: record.place, key: &id, time, lane };
        thread.begin();
        match record.word("type") {
            "session_start" => session_start(thread, record, out),
            "message" => message(thread, record, &spot, out),
            "compaction_state" => {
                out.push(spot.draft(EventKind::Compaction, TextOrigin::Host, ""));
                let text = ["summaryText", "summary"].map(|key| record.string(key));
                text.iter().for_each(|text| voice::recap(&spot, text, out));
            }
            "agent_turn_outcome" => thread.close(),
            "session_title" => out.note_title(&record.string("title")),
            "todo_state" | "session_end" => {}
            other => voice::emit_unknown(&spot, other, record.text, out),
        }
        thread.end(&id, lane, out);
    }
}
