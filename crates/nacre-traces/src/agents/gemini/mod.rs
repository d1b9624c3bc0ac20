//! Reads Gemini CLI sessions. A session is a log of changes to a list of messages or, in older
//! versions, a single document that contains the list. Changed messages are written again, so the
//! complete log is read before anything is emitted. Messages that were dropped from the model's
//! context are kept. Undone messages are kept too, but marked as undone.

mod entries;
mod message;
mod project;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::{AgentSpec, Copies, HookContract, Mark};
use crate::agent_config::shared::*;
use crate::transcript::toolkit::*;

use self::entries::Entries;

pub(crate) struct Gemini;

const CHATS: &str = "chats";

pub(super) static SPEC: AgentSpec = AgentSpec {
    adapter: Some(&Gemini),
    trace_names: &["p/chats/session-x.jsonl", "p/chats/session-x.json", "p/chats/x/y.jsonl"],
    marks: &[(12, Mark::Line(&["\"projectHash\""]))],
    copies: Copies::OfSameStem,
    variables: &["GEMINI_CLI_HOME"],
    shell_variables: &["GEMINI_CLI"],
    signs: |places| vec![places.home.join(".gemini")],
    mcp: Some(|places, program| {
        let path = places.home.join(".gemini/settings.json");
        let server = server(program, vec![SERVER_TIMEOUT]);
        member(path, &["mcpServers", "nacre"], server)
    }),
    hooks: Some(|places, program| {
        let path = places.home.join(".gemini/settings.json");
        hook_file(path, "gemini", program, MILLISECONDS, CONTRACT.hooks(program.has_guard))
    }),
    skill: Some(edit_shared_skill),
    contract: Some(CONTRACT),
    ..AgentSpec::new("gemini", "Gemini CLI")
};

const CONTRACT: HookContract = HookContract {
    events: "SessionStart BeforeAgent BeforeTool AfterTool - AfterAgent SessionEnd",
    hears: HookContract::ALL_BUT_FILES,
    forgets_on_resume: true,
    denial: HookContract::DECISION,
    ..HookContract::CLAUDE
};

impl Adapter for Gemini {
    fn agent(&self) -> Agent {
        Agent::Gemini
    }

    fn roots(&self, homes: &Homes) -> Vec<PathBuf> {
        vec![homes.var("GEMINI_CLI_HOME").unwrap_or(homes.home.clone()).join(".gemini/tmp")]
    }

    fn is_trace(&self, name: &str) -> bool {
        name.ends_with(".jsonl") || (name.starts_with("session-") && name.ends_with(".json"))
    }

    fn discover(&self, roots: &[PathBuf]) -> Discovery {
        let mut discovery = walk(roots, Agent::Gemini, &|name| self.is_trace(name), &|name| {
            !matches!(name, "tool-outputs" | "logs")
        });
        // A project's directory also contains other files. A file that the user passes explicitly
        // is always read.
        let is_chat = |path: &Path| path.ancestors().skip(1).any(|above| above.ends_with(CHATS));
        discovery.sources.retain(|source| is_chat(&source.path) || roots.contains(&source.path));
        discovery
    }

    fn read(&self, trace: &Trace, _from: Option<&Watermark>, sink: Sink) -> Result<ReadOutcome> {
        let path = &trace.source.path;
        let mut facts = SessionFacts::new(Agent::Gemini, &trace.source.stem());
        facts.cwd = project::folder_of(path);
        note_parent(path, &mut facts);
        if path.extension() == Some(OsStr::new("json")) {
            return whole::read_document(path, facts, sink, read_items);
        }
        let outcome = read_lines::<Entries>(trace, self.version(), facts, None, sink)?;
        Ok(ReadOutcome { watermark: None, ..outcome })
    }
}

/// A sub-agent's file is in a directory named after the parent session.
fn note_parent(path: &Path, facts: &mut SessionFacts) {
    let above = path.parent().filter(|above| above.file_name() != Some(OsStr::new(CHATS)));
    let is_below = above
        .and_then(Path::parent)
        .is_some_and(|folder| folder.file_name() == Some(OsStr::new(CHATS)));
    let parent = above.map(file_name).unwrap_or_default();
    if is_below {
        facts.role = SessionRole::SubAgent;
        facts.links.push(parent_link(&parent));
    }
}

fn read_items(text: &str, out: &mut Emitter) -> Parsed<()> {
    let mut entries = Entries::default();
    let mut n_items = 0_u64;
    let parsed = whole::parts(text, &["messages", "history"], |part| match part {
        DocumentPart::Field(key, raw) => note_member(key, raw, out),
        DocumentPart::Item(raw) => {
            let place = voice::row(&format!("messages/{n_items}"));
            n_items += 1;
            if let Some(message) = out.open_record(raw) {
                entries.put(&message, raw, &place, out);
            }
        }
    });
    entries.give(out);
    out.facts.ending = entries.ending();
    parsed
}

impl LineFormat for Entries {
    fn new(_carry: Option<&str>) -> Self {
        Self::default()
    }

    fn record(&mut self, record: &Record, out: &mut Emitter) {
        if let Some(id) = record.text("$rewindTo") {
            self.rewind(&id);
        } else if !record.raw("$set").is_empty() {
            patch(self, &record.object("$set"), record.place, out);
        } else if !record.raw("id").is_empty() || !record.raw("type").is_empty() {
            self.put(record, record.text, record.place, out);
        } else {
            patch(self, record, record.place, out);
        }
    }

    fn finish(&mut self, out: &mut Emitter) {
        self.give(out);
    }

    fn ending(&self) -> Ending {
        self.talk.thread.ending()
    }
}

/// Updates the session's members. The messages in an update are the model's context, so existing
/// messages may be shortened or missing. Therefore, unknown messages are added, but none are
/// removed.
fn patch(entries: &mut Entries, members: &Fields, place: &Position, out: &mut Emitter) {
    for (key, raw) in members.members() {
        if key != "messages" {
            note_member(key, raw, out);
            continue;
        }
        let mut has_bad = false;
        for item in items(raw) {
            match Fields::read(item) {
                Some(message) => entries.put_new(&message, item, place, out),
                None => has_bad = true,
            }
        }
        out.report.mended_lines += u64::from(has_bad);
    }
}

fn note_member(key: &str, raw: &str, out: &mut Emitter) {
    let text = || text_of(raw).unwrap_or_default();
    match key {
        "sessionId" if !text().is_empty() => {
            let id = short_name(&text());
            out.facts.id = match out.facts.links.first() {
                Some(link) if out.facts.role != SessionRole::Main => {
                    short_name(&format!("{id}@{}", link.session))
                }
                _ => id,
            };
        }
        "kind" if text() == "subagent" => out.facts.role = SessionRole::SubAgent,
        "summary" => out.note_title(&text()),
        "startTime" | "lastUpdated" => {
            out.note_time(text().parse::<jiff::Timestamp>().ok());
        }
        "directories" => {
            for folder in items(raw).into_iter().filter_map(text_of) {
                out.note_cwd(&folder);
            }
        }
        _ => {}
    }
}
