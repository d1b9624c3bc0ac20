//! Factory's droid: one line a record, messages in the blocks of Anthropic's API.
//!
//! Tokens and the model stand in a file beside the transcript.

#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::adapter::{Adapter, Discovery, Homes, ReadOutcome, Trace, Watermark};
use super::blocks;
use super::emit::Emitter;
use super::error::Result;
use super::event::{EventKind, Origin, Place};
use super::facts::{Agent, LinkKind, SessionFacts, SessionRole, Tokens};
use super::json::{Cursor, Malformed, Parsed};
use super::names::short_name;
use super::sink::Sink;
use super::stream::{LineFormat, Start, read_stream};
use super::thread::{Thread, own_lane};
use super::view::{Fields, texts};
use super::voice::{self, Spot};
use super::walk::{Wanted, walk};

/// Reads what droid leaves behind.
pub struct Droid;

impl Adapter for Droid {
    fn agent(&self) -> Agent {
        Agent::Droid
    }

    fn version(&self) -> u32 {
        1
    }

    fn roots(&self, homes: &Homes) -> Vec<PathBuf> {
        vec![homes.home.join(".factory/sessions")]
    }

    fn discover(&self, roots: &[PathBuf]) -> Discovery {
        let file = |name: &OsStr| name.to_string_lossy().ends_with(".jsonl");
        walk(roots, &Wanted { agent: Agent::Droid, file: &file, directory: &|_| true })
    }

    fn read(&self, trace: &Trace, from: Option<&Watermark>, sink: Sink<'_>) -> Result<ReadOutcome> {
        let path = &trace.source.path;
        let stem = path.file_stem().map(OsStr::to_string_lossy).unwrap_or_default();
        let facts = SessionFacts::new(Agent::Droid, &stem);
        let format = |carry: Option<&str>| Reader(Thread::new(carry));
        let start = Start { version: self.version(), facts, format };
        let mut outcome = read_stream(path, start, from, sink)?;
        note_settings(path, &mut outcome.facts);
        Ok(outcome)
    }
}

/// Takes tokens and the model from the file beside the transcript.
fn note_settings(path: &Path, facts: &mut SessionFacts) {
    let Some(text) = super::whole::sidecar(&path.with_extension("settings.json")) else { return };
    let settings = Fields::of(&text);
    let usage = settings.object("tokenUsage");
    facts.tokens = Tokens {
        input: usage.count("inputTokens"),
        output: usage.count("outputTokens"),
        cached: usage.count("cacheReadTokens"),
        cache_write: usage.count("cacheCreationTokens"),
        reasoning: usage.count("thinkingTokens"),
    };
    let model = short_name(&settings.string("model"));
    if !model.is_empty() && facts.models.is_empty() {
        facts.models.push(model);
    }
}

/// Reads one transcript.
struct Reader(Thread);

impl Reader {
    fn session_start(&mut self, record: &Fields<'_>, out: &mut Emitter<'_>) {
        let id = record.string("id");
        if !self.0.is_named && !id.is_empty() {
            self.0.is_named = true;
            out.facts.id = short_name(&id);
        }
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

    fn message(
        &mut self,
        spot: &Spot<'_>,
        parent: &str,
        message: &Fields<'_>,
        raw: &str,
        out: &mut Emitter<'_>,
    ) {
        let content = message.raw("content");
        match (message.word("role"), message.word("visibility")) {
            // Shown to the person, and said by nobody.
            (_, "user_only") => {
                texts(content).iter().for_each(|text| voice::note(spot, text, out));
            }
            ("user" | "system", "llm_only") => {
                texts(content).iter().for_each(|text| voice::marked_user(spot, text, out));
            }
            ("user", _) => blocks::user(&mut self.0, spot, parent, content, out),
            ("assistant", _) => {
                out.note_model(&message.string("modelId"));
                blocks::agent(&mut self.0, spot, content, out);
            }
            ("system", _) => {}
            (other, _) => voice::unknown(spot, &format!("message {other}"), raw, out),
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
        let raw = cursor.raw()?;
        let record = Fields::read(raw).ok_or(Malformed)?;
        let time = record.time("timestamp");
        time.into_iter().for_each(|time| out.note_time(time));
        let (id, parent) = (record.string("id"), record.string("parentId"));
        let lane = own_lane(out);
        let spot = Spot { place, key: &id, time, lane };
        self.0.begin();
        match record.word("type") {
            "session_start" => self.session_start(&record, out),
            "message" => {
                self.message(&spot, &parent, &record.object("message"), record.raw("message"), out);
            }
            "compaction_state" => {
                out.push(spot.draft(EventKind::Compaction, Origin::Host, ""));
                let text = ["summaryText", "summary"].map(|key| record.string(key));
                text.iter().for_each(|text| voice::recap(&spot, text, out));
            }
            "agent_turn_outcome" => self.0.close(),
            "session_title" => out.note_title(&record.string("title")),
            "todo_state" | "session_end" => {}
            other => voice::unknown(&spot, other, raw, out),
        }
        self.0.end(&id, lane, out);
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
