//! Gemini CLI: a log of changes to a list of messages, and before that the list as one document.
//!
//! A message comes again whenever something is added to it, so a trace is read to its end before
//! anything is given. What the agent dropped from its context is still talk and stays; what the
//! person took back stays too and is marked.

mod entries;
mod message;
mod project;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use self::entries::Entries;
use super::adapter::{Adapter, Discovery, Homes, ReadOutcome, Trace, Watermark};
use super::emit::Emitter;
use super::error::Result;
use super::event::Place;
use super::facts::{Agent, LinkKind, SessionFacts, SessionRole};
use super::json::Text;
use super::json::{Cursor, Malformed, Parsed};
use super::names::short_name;
use super::sink::Sink;
use super::stream::{LineFormat, Start, read_stream};
use super::view::{Fields, items, text_of};
use super::voice;
use super::walk::{Wanted, walk};
use super::whole::{self, Part};

/// Reads what Gemini CLI leaves behind.
pub struct Gemini;

/// The folder of a project's sessions.
const CHATS: &str = "chats";

impl Adapter for Gemini {
    fn agent(&self) -> Agent {
        Agent::Gemini
    }

    fn version(&self) -> u32 {
        1
    }

    fn roots(&self, homes: &Homes) -> Vec<PathBuf> {
        let home = homes.gemini_home.as_ref().unwrap_or(&homes.home);
        vec![home.join(".gemini/tmp")]
    }

    fn discover(&self, roots: &[PathBuf]) -> Discovery {
        let file = |name: &OsStr| {
            let name = name.to_string_lossy();
            name.ends_with(".jsonl") || (name.starts_with("session-") && name.ends_with(".json"))
        };
        let directory = |name: &OsStr| !matches!(name.to_str(), Some("tool-outputs" | "logs"));
        let mut discovery =
            walk(roots, &Wanted { agent: Agent::Gemini, file: &file, directory: &directory });
        // A project's folder holds other files too; a file that a person named is always read.
        let is_chat = |path: &Path| path.ancestors().skip(1).any(|above| above.ends_with(CHATS));
        discovery.sources.retain(|source| is_chat(&source.path) || roots.contains(&source.path));
        discovery
    }

    fn read(
        &self,
        trace: &Trace,
        _from: Option<&Watermark>,
        sink: Sink<'_>,
    ) -> Result<ReadOutcome> {
        let path = &trace.source.path;
        let stem = path.file_stem().map(OsStr::to_string_lossy).unwrap_or_default();
        let mut facts = SessionFacts::new(Agent::Gemini, &stem);
        facts.cwd = project::folder_of(path);
        note_parent(path, &mut facts);
        if path.extension() == Some(OsStr::new("json")) {
            return whole::read_document(path, facts, sink, read_items);
        }
        let format = |_: Option<&str>| Reader { entries: Entries::default() };
        let start = Start { version: self.version(), facts, format };
        let mut outcome = read_stream(path, start, None, sink)?;
        outcome.watermark = None;
        Ok(outcome)
    }
}

/// A sub-agent's file lies in a folder that has the name of the session that called it.
fn note_parent(path: &Path, facts: &mut SessionFacts) {
    let above = path.parent().filter(|above| above.file_name() != Some(OsStr::new(CHATS)));
    let is_below = above
        .and_then(Path::parent)
        .is_some_and(|folder| folder.file_name() == Some(OsStr::new(CHATS)));
    let parent = above.and_then(Path::file_name).map(OsStr::to_string_lossy).unwrap_or_default();
    if is_below {
        facts.role = SessionRole::SubAgent;
        facts.links.push(super::facts::SessionLink {
            kind: LinkKind::Parent,
            session: short_name(&parent),
            call: None,
        });
    }
}

/// Reads the document of older versions.
fn read_items(text: &str, out: &mut Emitter<'_>) -> Parsed<()> {
    let mut entries = Entries::default();
    let mut n_items = 0_u64;
    let parsed = whole::parts(text, &["messages", "history"], |part| match part {
        Part::Field(key, raw) => note_member(key, raw, out),
        Part::Item(raw) => {
            let place = voice::row(&format!("messages/{n_items}"));
            n_items += 1;
            out.report.lines += 1;
            match Fields::read(raw) {
                Some(message) => entries.put(&message, raw, &place, out),
                None => out.report.bad_lines += 1,
            }
        }
    });
    entries.finish(out);
    parsed
}

/// Reads the log of newer versions.
struct Reader {
    entries: Entries,
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
        if let Some(id) = record.text("$rewindTo") {
            self.entries.rewind(&id.decode());
        } else if !record.raw("$set").is_empty() {
            self.patch(&record.object("$set"), place, out);
        } else if !record.raw("id").is_empty() || !record.raw("type").is_empty() {
            self.entries.put(&record, raw, place, out);
        } else {
            self.patch(&record, place, out);
        }
        Ok(())
    }

    fn cut_record(&mut self, head: &str, place: &Place, out: &mut Emitter<'_>) {
        voice::cut(head, place, out);
    }

    fn finish(&mut self, out: &mut Emitter<'_>) {
        self.entries.finish(out);
    }

    fn carry(&self) -> String {
        String::new()
    }
}

impl Reader {
    /// Takes over members of the session. Its messages are the model's context: those that are known
    /// may have been shortened there, and those that are missing were said all the same.
    fn patch(&mut self, members: &Fields<'_>, place: &Place, out: &mut Emitter<'_>) {
        for (key, raw) in members.members() {
            if key != "messages" {
                note_member(key, raw, out);
                continue;
            }
            let mut has_bad = false;
            for item in items(raw) {
                match Fields::read(item) {
                    Some(message) => self.entries.put_new(&message, item, place, out),
                    None => has_bad = true,
                }
            }
            out.report.mended_lines += u64::from(has_bad);
        }
    }
}

/// Takes over what a member says about the session.
fn note_member(key: &str, raw: &str, out: &mut Emitter<'_>) {
    let text = || text_of(raw).map(Text::decode).unwrap_or_default();
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
            super::time::parse_time(&text()).into_iter().for_each(|time| out.note_time(time));
        }
        "directories" => {
            for folder in items(raw).into_iter().filter_map(text_of) {
                out.note_cwd(&folder.decode());
            }
        }
        _ => {}
    }
}
