//! pi: one line an entry, the branches of a talk in one file.

mod entry;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::adapter::{Adapter, Discovery, Homes, ReadOutcome, Trace, Watermark};
use super::emit::Emitter;
use super::error::Result;
use super::event::{Lane, Place};
use super::facts::{Agent, LinkKind, SessionFacts};
use super::json::{Cursor, Malformed, Parsed};
use super::names::short_name;
use super::sink::Sink;
use super::stream::{LineFormat, Start, read_stream};
use super::thread::Thread;
use super::view::Fields;
use super::voice::{self, Spot};
use super::walk::{Wanted, walk};

/// Reads what pi leaves behind.
pub struct Pi;

impl Adapter for Pi {
    fn agent(&self) -> Agent {
        Agent::Pi
    }

    fn version(&self) -> u32 {
        1
    }

    fn roots(&self, homes: &Homes) -> Vec<PathBuf> {
        let own = homes.pi_agent.clone().unwrap_or_else(|| homes.home.join(".pi/agent"));
        vec![own.join("sessions")]
    }

    fn discover(&self, roots: &[PathBuf]) -> Discovery {
        let file = |name: &OsStr| name.to_string_lossy().ends_with(".jsonl");
        walk(roots, &Wanted { agent: Agent::Pi, file: &file, directory: &|_| true })
    }

    fn read(&self, trace: &Trace, from: Option<&Watermark>, sink: Sink<'_>) -> Result<ReadOutcome> {
        let path = &trace.source.path;
        let stem = path.file_stem().map(OsStr::to_string_lossy).unwrap_or_default();
        let facts = SessionFacts::new(Agent::Pi, id_in_name(&stem));
        let start = Start { version: self.version(), facts, format: Reader::new };
        read_stream(path, start, from, sink)
    }
}

/// The session's id in `<time>_<id>`.
fn id_in_name(stem: &str) -> &str {
    stem.split_once('_').map_or(stem, |(_, id)| id)
}

/// Reads one session.
struct Reader {
    thread: Thread,
    /// When the session was made from another one: what is older was copied.
    forked: Option<Timestamp>,
}

#[derive(Default, Serialize, Deserialize)]
struct Carry {
    thread: String,
    forked: Option<Timestamp>,
}

impl Reader {
    fn new(carry: Option<&str>) -> Self {
        let carry: Carry =
            carry.and_then(|carry| serde_json::from_str(carry).ok()).unwrap_or_default();
        Self { thread: Thread::new(Some(&carry.thread)), forked: carry.forked }
    }

    /// The first line: what is known about the session as a whole.
    fn header(&mut self, header: &Fields<'_>, time: Option<Timestamp>, out: &mut Emitter<'_>) {
        let id = header.string("id");
        if !self.thread.is_named && !id.is_empty() {
            self.thread.is_named = true;
            out.facts.id = short_name(&id);
        }
        out.note_cwd(&header.string("cwd"));
        out.note_model(&header.string("modelId"));
        let parents = ["parentSession", "branchedFrom"].map(|key| header.string(key));
        let Some(parent) = parents.iter().find(|parent| !parent.is_empty()) else { return };
        self.forked = time;
        // The other session is named by the path of its file.
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
        let lane = self.lane(time);
        if let Some(time) = time
            && lane == Lane::Main
        {
            out.note_time(time);
        }
        let (id, parent) = (record.string("id"), record.string("parentId"));
        let spot = Spot { place, key: &id, time, lane };
        self.thread.begin();
        match record.word("type") {
            "session" => self.header(&record, time, out),
            "message" => {
                self.message(&spot, &parent, &record.object("message"), record.raw("message"), out);
            }
            kind => self.entry(kind, &spot, &record, raw, out),
        }
        self.thread.end(&id, lane, out);
        Ok(())
    }

    fn cut_record(&mut self, head: &str, place: &Place, out: &mut Emitter<'_>) {
        voice::cut(head, place, out);
    }

    fn finish(&mut self, out: &mut Emitter<'_>) {
        out.facts.ending = self.thread.ending();
    }

    fn carry(&self) -> String {
        let carry = Carry { thread: self.thread.carry(), forked: self.forked };
        serde_json::to_string(&carry).unwrap_or_default()
    }
}
