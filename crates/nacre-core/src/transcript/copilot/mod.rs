//! Copilot CLI: one line an event, in a folder for each session.
//!
//! What a person typed stands beside what was made of it for the model, so nothing has to be guessed
//! there. Events of hooks repeat what other events say and are left.

mod talk;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::adapter::{Adapter, Discovery, Homes, ReadOutcome, Trace, Watermark};
use super::emit::Emitter;
use super::error::Result;
use super::event::{Lane, Place};
use super::facts::{Agent, SessionFacts};
use super::json::{Cursor, Malformed, Parsed};
use super::sink::Sink;
use super::stream::{LineFormat, Start, read_stream};
use super::thread::{Thread, own_lane};
use super::view::Fields;
use super::voice::{self, Spot};
use super::walk::{Wanted, walk};

/// Reads what Copilot CLI leaves behind.
pub struct Copilot;

/// The file of a session in its folder.
const EVENTS: &str = "events.jsonl";

impl Adapter for Copilot {
    fn agent(&self) -> Agent {
        Agent::Copilot
    }

    fn version(&self) -> u32 {
        1
    }

    fn roots(&self, homes: &Homes) -> Vec<PathBuf> {
        let own = homes.copilot_home.clone().unwrap_or_else(|| homes.home.join(".copilot"));
        vec![own.join("session-state")]
    }

    fn discover(&self, roots: &[PathBuf]) -> Discovery {
        let file = |name: &OsStr| name.to_string_lossy().ends_with(".jsonl");
        let directory =
            |name: &OsStr| !matches!(name.to_str(), Some("files" | "checkpoints" | "research"));
        walk(roots, &Wanted { agent: Agent::Copilot, file: &file, directory: &directory })
    }

    fn read(&self, trace: &Trace, from: Option<&Watermark>, sink: Sink<'_>) -> Result<ReadOutcome> {
        let path = &trace.source.path;
        let facts = SessionFacts::new(Agent::Copilot, &id_of(path));
        let format = |carry: Option<&str>| Reader(Thread::new(carry));
        let start = Start { version: self.version(), facts, format };
        let mut outcome = read_stream(path, start, from, sink)?;
        note_title(path, &mut outcome.facts);
        Ok(outcome)
    }
}

/// What the place of a file says about the session's id: its folder, or in older versions its name.
fn id_of(path: &Path) -> String {
    let named = if path.file_name() == Some(OsStr::new(EVENTS)) {
        path.parent().and_then(Path::file_name)
    } else {
        path.file_stem()
    };
    named.map(OsStr::to_string_lossy).unwrap_or_default().into_owned()
}

/// Takes the name of a session from the small file beside its events.
fn note_title(path: &Path, facts: &mut SessionFacts) {
    if facts.title.is_some() || path.file_name() != Some(OsStr::new(EVENTS)) {
        return;
    }
    let text = super::whole::sidecar(&path.with_file_name("workspace.yaml")).unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("name:")).unwrap_or_default();
    let name = name.trim().trim_matches(['"', '\'']);
    if !name.is_empty() && !name.starts_with(['|', '>']) {
        facts.title = Some(super::names::short_name(name));
    }
}

/// Reads the events of one session.
struct Reader(Thread);

impl LineFormat for Reader {
    fn record(
        &mut self,
        cursor: &mut Cursor<'_>,
        place: &Place,
        out: &mut Emitter<'_>,
    ) -> Parsed<()> {
        let raw = cursor.raw()?;
        let record = Fields::read(raw).ok_or(Malformed)?;
        let data = record.object("data");
        let time = record.time("timestamp");
        time.into_iter().for_each(|time| out.note_time(time));
        // A sub-agent's talk stands between the events of the one that called it.
        let is_own = data.raw("parentToolCallId").is_empty() && record.raw("agentId").is_empty();
        let lane = if is_own { own_lane(out) } else { Lane::Sidechain };
        let id = record.string("id");
        let spot = Spot { place, key: &id, time, lane };
        self.0.begin();
        self.event(record.word("type"), &spot, &data, raw, out);
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
