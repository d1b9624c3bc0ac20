//! Reads Claude Code's transcripts, including sub-agent files, sidechains, summaries and
//! compaction. Records are read in file order rather than by following their parents, because a
//! compaction breaks the chain of parents. Timestamps do not help with ordering, because they go
//! backwards in half of all files.

mod side;
mod talk;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{AgentSpec, HookContract, Mark};
use crate::agent_config::shared::*;
use crate::transcript::toolkit::*;

pub(crate) struct Claude;

pub(super) static SPEC: AgentSpec = AgentSpec {
    adapter: Some(&Claude),
    trace_names: &["s.jsonl", "agent-a1.jsonl", "agent-acompact1.jsonl"],
    marks: &[
        (30, Mark::Line(&["\"sessionId\""])),
        (30, Mark::Line(&["\"parentUuid\""])),
        (30, Mark::Line(&["\"leafUuid\""])),
        (30, Mark::Line(&["\"isSidechain\""])),
    ],
    variables: &["CLAUDE_CONFIG_DIR"],
    shell_variables: &["CLAUDECODE"],
    signs: |places| vec![places.claude.clone(), places.claude_json.clone()],
    // Claude Code itself rewrites this file often.
    mcp: Some(|places, program| {
        let server = server(program, vec![("type", Json::text("stdio"))]);
        member(places.claude_json.clone(), &["mcpServers", "nacre"], server)
    }),
    // Hooks are added to the user settings, because Claude Code reads project settings only if it
    // is started in the project's root.
    hooks: Some(|places, program| {
        let path = places.claude.join("settings.json");
        hook_file(path, "claude", program, SECONDS, CONTRACT.hooks(program.has_guard))
    }),
    skill: Some(|places, _| skill(places.claude.join("skills/nacre/SKILL.md"))),
    contract: Some(CONTRACT),
    ..AgentSpec::new("claude", "Claude Code")
};

/// The hook at the end of a turn adds no context, because context would start another turn. A
/// command that fails has its own event.
const CONTRACT: HookContract = HookContract {
    events: "SessionStart UserPromptSubmit PreToolUse PostToolUseFailure SubagentStart Stop SessionEnd",
    hears: HookContract::ALL_BUT_ENDS,
    ..HookContract::CLAUDE
};

impl Adapter for Claude {
    fn agent(&self) -> Agent {
        Agent::Claude
    }

    fn roots(&self, homes: &Homes) -> Vec<PathBuf> {
        let mut configs = config_folders(homes);
        if configs.is_empty() {
            configs = vec![homes.home.join(".claude"), homes.config().join("claude")];
        }
        let mut roots: Vec<PathBuf> =
            configs.into_iter().map(|config| config.join("projects")).collect();
        let desktop = "Claude/local-agent-mode-sessions";
        roots.push(homes.home.join("Library/Application Support").join(desktop));
        roots.push(homes.config().join(desktop));
        roots
    }

    fn is_trace(&self, name: &str) -> bool {
        name.ends_with(".jsonl") && name != "history.jsonl" && name != "journal.jsonl"
    }

    fn is_searched(&self, directory: &str) -> bool {
        directory != "tool-results" && directory != "memory"
    }

    fn read(&self, trace: &Trace, from: Option<&Watermark>, sink: Sink) -> Result<ReadOutcome> {
        let path = &trace.source.path;
        let stem = trace.source.stem();
        let mut facts = SessionFacts::new(Agent::Claude, &stem);
        facts.role = role_of(&stem);
        let mut outcome = read_lines::<TranscriptParser>(trace, self.version(), facts, from, sink)?;
        if outcome.facts.role != SessionRole::Main
            && let Some(call) = spawning_call(path)
        {
            for link in &mut outcome.facts.links {
                if link.kind == LinkKind::Parent && link.call.is_none() {
                    link.call = Some(call.clone());
                }
            }
        }
        Ok(outcome)
    }
}

/// `CLAUDE_CONFIG_DIR` can contain several directories, separated by commas.
pub fn config_folders(homes: &Homes) -> Vec<PathBuf> {
    let folders = homes.variables.get("CLAUDE_CONFIG_DIR").map(String::as_str).unwrap_or_default();
    folders.split(',').filter(|part| !part.is_empty()).map(PathBuf::from).collect()
}

fn role_of(stem: &str) -> SessionRole {
    match stem.strip_prefix("agent-") {
        Some(id) if id.starts_with("aprompt_suggestion") || id.starts_with("acompact") => {
            SessionRole::Helper
        }
        Some(_) => SessionRole::SubAgent,
        None => SessionRole::Main,
    }
}

fn spawning_call(path: &Path) -> Option<String> {
    let text = whole::sidecar(&path.with_extension("meta.json"))?;
    Fields::of(&text).text("toolUseId").map(|id| short_name(&id))
}

/// Record types that duplicate other records or contain program settings.
const SILENT: &str = "\
    progress file-history-snapshot file-history-delta last-prompt permission-mode mode agent- \
    name pr-link bridge-session tag content-replacement";

const MAX_MESSAGES: usize = 4096;
const MAX_QUEUED: usize = 256;
/// How many entries of each map are stored in a watermark.
const CARRIED: usize = 128;

struct TranscriptParser {
    thread: Thread,
    /// For each queued prompt, how many more times it should appear as a message.
    queued: RecentMap<u32>,
    usage: RecentMap<[u64; 4]>,
}

#[derive(Default, Serialize, Deserialize)]
struct Carry {
    #[serde(flatten)]
    thread: ThreadCarry,
    queued: Vec<(u64, u32)>,
    usage: Vec<(u64, [u64; 4])>,
}

impl LineFormat for TranscriptParser {
    fn new(carry: Option<&str>) -> Self {
        let carry: Carry = from_carry(carry);
        Self {
            thread: Thread::restore(carry.thread),
            queued: RecentMap::restore(MAX_QUEUED, carry.queued),
            usage: RecentMap::restore(MAX_MESSAGES, carry.usage),
        }
    }

    fn record(&mut self, record: &Record, out: &mut Emitter) {
        let is_forked = !record.raw("forkedFrom").is_empty();
        let lane = if is_forked {
            Lane::Inherited
        } else if record.truth("isSidechain") || out.facts.role != SessionRole::Main {
            Lane::Sidechain
        } else {
            Lane::Main
        };
        let (key, time) = (record.word("uuid"), record.time("timestamp"));
        let spot = Spot { place: record.place, key, time, lane };
        self.note_envelope(record, &spot, out);
        match record.word("type") {
            "user" => self.user(record, &spot, out),
            "assistant" => self.assistant(record, &spot, out),
            "system" => self.system(record, &spot, out),
            "attachment" => self.attachment(record, &spot, out),
            "queue-operation" => self.queue_operation(record, &spot, out),
            "summary" => side::summary(record, &spot, out),
            "ai-title" => out.note_title(&record.string("aiTitle")),
            "custom-title" => out.note_title(&record.string("customTitle")),
            kind if contains_word(SILENT, kind) => {}
            other => {
                let spot = Spot { key: "", lane: Lane::Main, ..spot };
                voice::emit_unknown(&spot, other, record.text, out);
            }
        }
        self.thread.end(key, lane, out);
    }

    fn ending(&self) -> Ending {
        self.thread.ending()
    }

    fn carry(&self) -> String {
        to_carry(&Carry {
            thread: self.thread.to_carry(),
            queued: self.queued.youngest(CARRIED),
            usage: self.usage.youngest(CARRIED),
        })
    }
}

impl TranscriptParser {
    fn note_envelope(&mut self, record: &Record, spot: &Spot, out: &mut Emitter) {
        let session = record.word("sessionId");
        if !self.thread.is_named && !session.is_empty() {
            self.thread.is_named = true;
            if out.facts.role != SessionRole::Main {
                out.note_link(LinkKind::Parent, session, None);
                out.facts.id = short_name(&format!("{}@{session}", out.facts.id));
            } else if !is_uuid(&out.facts.id) {
                out.facts.id = short_name(session);
            }
        }
        if spot.lane == Lane::Inherited {
            let origin = record.object("forkedFrom");
            out.note_link(LinkKind::ForkOf, origin.word("sessionId"), None);
        } else {
            out.note_time(spot.time);
        }
        out.note_cwd(&record.string("cwd"));
        out.note_branch(&record.string("gitBranch"));
        out.note_version(record.word("version"));
    }

    /// Records a queued prompt, so that the message that repeats it is recognized when the agent
    /// processes it.
    fn note_queued(&mut self, text: &str) {
        let key = text_hash(text.trim());
        let count = self.queued.get(key).copied().unwrap_or(0);
        self.queued.insert(key, count + 1);
    }

    fn take_queued(&mut self, text: &str) -> bool {
        let key = text_hash(text.trim());
        match self.queued.get(key).copied() {
            None => false,
            Some(1) => self.queued.remove(key).is_some(),
            Some(count) => {
                self.queued.insert(key, count - 1);
                true
            }
        }
    }

    /// Counts each model message's tokens once. Every line of a message contains usage data, but
    /// only the last line has the final numbers.
    fn note_usage(&mut self, id: &str, usage: &Fields, out: &mut Emitter) {
        let keys = [
            "input_tokens",
            "output_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
        ];
        let key = text_hash(id);
        let mut most = self.usage.get(key).copied().unwrap_or_default();
        let tokens = &mut out.facts.tokens;
        let totals =
            [&mut tokens.input, &mut tokens.output, &mut tokens.cached, &mut tokens.cache_write];
        for ((total, most), key) in totals.into_iter().zip(&mut most).zip(keys) {
            let now = usage.count(key);
            *total = total.saturating_add(now.saturating_sub(*most));
            *most = now.max(*most);
        }
        if !id.is_empty() {
            self.usage.insert(key, most);
        }
    }
}

fn is_uuid(name: &str) -> bool {
    name.len() == 36
        && name.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}
