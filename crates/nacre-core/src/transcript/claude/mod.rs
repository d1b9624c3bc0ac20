//! Claude Code: the projects tree, with sub-agent files, sidechains, summaries and compaction.
//!
//! A file is read in its own order, not along the chain of parents: after a compaction the chain
//! holds only the last part of the talk, and timestamps run backwards in half of all files.

mod record;
mod side;
mod state;
mod talk;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use self::record::Record;
use self::state::Reader;
use super::adapter::{Adapter, Discovery, Homes, ReadOutcome, Trace, Watermark};
use super::emit::{Draft, Emitter};
use super::error::Result;
use super::event::{EventKind, Origin, Place};
use super::facts::{Agent, LinkKind, SessionFacts, SessionRole};
use super::json::{Cursor, Parsed};
use super::lines::open_regular;
use super::sink::Sink;
use super::stream::{LineFormat, Start, read_stream};
use super::walk::{Wanted, walk};

/// Reads what Claude Code leaves behind.
pub struct Claude;

/// The most that is read of the small file beside a sub-agent's transcript.
const MAX_SIDECAR: u64 = 64 * 1024;

impl Adapter for Claude {
    fn agent(&self) -> Agent {
        Agent::Claude
    }

    fn version(&self) -> u32 {
        1
    }

    fn roots(&self, homes: &Homes) -> Vec<PathBuf> {
        let configs = if homes.claude_config.is_empty() {
            vec![homes.home.join(".claude"), homes.config().join("claude")]
        } else {
            homes.claude_config.clone()
        };
        let mut roots: Vec<PathBuf> =
            configs.into_iter().map(|config| config.join("projects")).collect();
        let desktop = "Claude/local-agent-mode-sessions";
        roots.push(homes.home.join("Library/Application Support").join(desktop));
        roots.push(homes.config().join(desktop));
        roots.extend(homes.app_data.iter().map(|app_data| app_data.join(desktop)));
        roots
    }

    fn discover(&self, roots: &[PathBuf]) -> Discovery {
        walk(
            roots,
            &Wanted {
                agent: Agent::Claude,
                file: &|name| is_transcript(name),
                directory: &|name| {
                    name != OsStr::new("tool-results") && name != OsStr::new("memory")
                },
            },
        )
    }

    fn read(&self, trace: &Trace, from: Option<&Watermark>, sink: Sink<'_>) -> Result<ReadOutcome> {
        let path = &trace.source.path;
        let stem = path.file_stem().map(OsStr::to_string_lossy).unwrap_or_default();
        let mut facts = SessionFacts::new(Agent::Claude, &stem);
        facts.role = role_of(&stem);
        let start = Start { version: self.version(), facts, format: Reader::new };
        let mut outcome = read_stream(path, start, from, sink)?;
        if outcome.facts.role != SessionRole::Main
            && let Some(call) = spawning_call(path)
        {
            link_call(&mut outcome.facts, &call);
        }
        Ok(outcome)
    }
}

fn is_transcript(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.ends_with(".jsonl") && name != "history.jsonl" && name != "journal.jsonl"
}

/// What the name of a file says about the session in it.
fn role_of(stem: &str) -> SessionRole {
    match stem.strip_prefix("agent-") {
        Some(id) if id.starts_with("aprompt_suggestion") || id.starts_with("acompact") => {
            SessionRole::Helper
        }
        Some(_) => SessionRole::SubAgent,
        None => SessionRole::Main,
    }
}

/// The call that made a sub-agent, from the small file beside its transcript.
fn spawning_call(path: &Path) -> Option<String> {
    use std::io::Read;

    let file = open_regular(&path.with_extension("meta.json")).ok()?;
    let mut text = String::new();
    file.take(MAX_SIDECAR).read_to_string(&mut text).ok()?;
    let mut call = None;
    Cursor::new(&text)
        .object(|key, value| {
            if key == "toolUseId" {
                call = value.maybe_string()?.map(|id| super::names::short_name(&id.decode()));
            }
            Ok(())
        })
        .ok()?;
    call
}

fn link_call(facts: &mut SessionFacts, call: &str) {
    for link in &mut facts.links {
        if link.kind == LinkKind::Parent && link.call.is_none() {
            link.call = Some(call.to_owned());
        }
    }
}

impl LineFormat for Reader {
    fn record(
        &mut self,
        cursor: &mut Cursor<'_>,
        place: &Place,
        out: &mut Emitter<'_>,
    ) -> Parsed<()> {
        let start = cursor.clone();
        let record = Record::read(cursor)?;
        self.note_envelope(&record, out);
        match record.kind {
            "user" => self.user(&record, place, out),
            "assistant" => self.assistant(&record, place, out),
            "system" => self.system(&record, place, out),
            "attachment" => self.attachment(&record, place, out),
            "queue-operation" => self.queue_operation(&record, place, out),
            "summary" => self.summary(&record, place, out),
            "ai-title" | "custom-title" => note_title(&record, out),
            // Repeats what other records hold, or settings of the program.
            "progress"
            | "file-history-snapshot"
            | "file-history-delta"
            | "last-prompt"
            | "permission-mode"
            | "mode"
            | "agent-name"
            | "pr-link"
            | "bridge-session"
            | "tag"
            | "content-replacement" => {}
            other => {
                let raw = start.clone().raw().unwrap_or_default();
                let draft = Draft {
                    timestamp: record.timestamp,
                    ..Draft::new(EventKind::Meta, Origin::Host, raw, place.clone())
                };
                out.unknown(other, draft);
            }
        }
        self.note_chain(&record, out);
        Ok(())
    }

    fn cut_record(&mut self, head: &str, place: &Place, out: &mut Emitter<'_>) {
        out.push(Draft {
            is_error: true,
            ..Draft::new(EventKind::Meta, Origin::Host, head, place.clone())
        });
    }

    fn finish(&mut self, out: &mut Emitter<'_>) {
        out.facts.ending = self.ending();
    }

    fn carry(&self) -> String {
        self.to_carry()
    }
}

fn note_title(record: &Record<'_>, out: &mut Emitter<'_>) {
    if let Some(title) = record.title {
        out.note_title(&title.decode());
    }
}
