//! Codex: rollouts of all versions, archived and compressed ones, and the old single JSON document.
//!
//! A rollout tells the same talk in up to three streams: what went to the model, what was shown,
//! and completed items. Each message is given once, at the first stream that holds it.

mod document;
mod events;
mod header;
mod items;
mod meta;
mod output;
mod record;
mod state;
#[cfg(test)]
mod tests;
mod texts;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use self::header::Header;
use self::record::{Item, Payload, Record};
use self::state::Reader;
use super::adapter::{Adapter, Discovery, Homes, ReadOutcome, Source, Trace, Watermark};
use super::emit::{Draft, Emitter};
use super::error::Result;
use super::event::{EventKind, Origin, Place};
use super::facts::{Agent, SessionFacts};
use super::json::{Cursor, Parsed};
use super::sink::Sink;
use super::stream::{LineFormat, Start, read_stream};
use super::walk::{Wanted, walk};

/// Reads what Codex leaves behind.
pub struct Codex;

const VERSION: u32 = 1;

impl Adapter for Codex {
    fn agent(&self) -> Agent {
        Agent::Codex
    }

    fn version(&self) -> u32 {
        VERSION
    }

    fn roots(&self, homes: &Homes) -> Vec<PathBuf> {
        let codex = homes.codex_home.clone().unwrap_or_else(|| homes.home.join(".codex"));
        vec![codex.join("sessions"), codex.join("archived_sessions")]
    }

    fn discover(&self, roots: &[PathBuf]) -> Discovery {
        let file = |name: &OsStr| is_rollout(&name.to_string_lossy());
        let mut discovery =
            walk(roots, &Wanted { agent: Agent::Codex, file: &file, directory: &|_| true });
        // While a rollout is packed or unpacked both forms exist; the plain one is the live one.
        let packed = discovery.sources.iter().filter(|source| is_packed(&source.path));
        let stale: HashSet<PathBuf> = packed
            .filter(|source| holds(&discovery.sources, &source.path.with_extension("")))
            .map(|source| source.path.clone())
            .collect();
        if !stale.is_empty() {
            discovery.sources.retain(|source| !stale.contains(&source.path));
        }
        discovery
    }

    fn read(&self, trace: &Trace, from: Option<&Watermark>, sink: Sink<'_>) -> Result<ReadOutcome> {
        let path = &trace.source.path;
        let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
        let facts = SessionFacts::new(Agent::Codex, id_in_name(&name));
        if name.ends_with(".json") {
            return document::read_document(path, facts, sink);
        }
        let start = Start { version: VERSION, facts, format: Reader::new };
        read_stream(path, start, from, sink)
    }
}

fn is_rollout(name: &str) -> bool {
    let is_trace = [".jsonl", ".jsonl.zst", ".json"].iter().any(|end| name.ends_with(end));
    is_trace && name.starts_with("rollout-")
}

fn is_packed(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("zst"))
}

/// Whether a path is among sources, which are sorted.
fn holds(sources: &[Source], path: &Path) -> bool {
    sources.binary_search_by(|source| source.path.as_os_str().cmp(path.as_os_str())).is_ok()
}

/// The thread id in `rollout-<time>-<thread id>[_<rollout id>].jsonl`; all of the name where there
/// is none.
fn id_in_name(name: &str) -> &str {
    let stem = name.split('.').next().unwrap_or(name);
    let stem = stem.split('_').next().unwrap_or(stem);
    stem.len().checked_sub(36).and_then(|start| stem.get(start..)).unwrap_or(stem)
}

impl LineFormat for Reader {
    fn record(
        &mut self,
        cursor: &mut Cursor<'_>,
        place: &Place,
        out: &mut Emitter<'_>,
    ) -> Parsed<()> {
        let mut whole = cursor.clone();
        let record = Record::read(cursor)?;
        self.note_time(&record, out);
        match (record.kind, &record.payload) {
            (_, Payload::Item(item)) => self.item(item, &record, place, out),
            (_, Payload::Shown(shown)) => self.shown(shown, &record, place, out),
            (_, Payload::Header(header)) => self.session_meta(header, &record, out),
            (_, Payload::Turn(turn)) => self.turn_context(turn, out),
            (_, Payload::Compacted(message)) => self.compacted(*message, &record, place, out),
            // The program's own state, and marks beside messages that come on their own.
            (
                "world_state"
                | "inter_agent_communication"
                | "inter_agent_communication_metadata"
                | "security_risk_score",
                _,
            ) => {}
            (_, Payload::None) => self.bare_line(whole.raw()?, &record, place, out),
            (other, Payload::Other(_)) => {
                unknown(other, whole.raw()?, &record, place, out);
            }
        }
        Ok(())
    }

    fn cut_record(&mut self, head: &str, place: &Place, out: &mut Emitter<'_>) {
        // Nearly every overlong line repeats the history that a compaction kept.
        let opening = super::event::front(head, 256);
        let kind = if opening.contains("\"type\":\"compacted\"") {
            EventKind::Compaction
        } else {
            EventKind::Meta
        };
        out.push(Draft {
            is_error: kind == EventKind::Meta,
            ..Draft::new(kind, Origin::Host, head, place.clone())
        });
    }

    fn finish(&mut self, out: &mut Emitter<'_>) {
        self.flush_held(out);
        out.facts.ending = self.ending();
    }

    fn carry(&self) -> String {
        self.to_carry()
    }
}

impl Reader {
    /// A line from before there was an envelope: the session first, then items and state.
    fn bare_line(&mut self, raw: &str, record: &Record<'_>, place: &Place, out: &mut Emitter<'_>) {
        if !record.record_type.is_empty() {
            return;
        }
        let mut cursor = Cursor::new(raw);
        if record.kind.is_empty()
            && !record.id.is_empty()
            && let Ok(header) = Header::read(&mut cursor)
        {
            self.session_meta(&header, record, out);
        } else if items::is_item(record.kind)
            && let Ok(item) = Item::read(&mut cursor)
        {
            self.item(&item, record, place, out);
        } else {
            unknown(record.kind, raw, record, place, out);
        }
    }
}

fn unknown(kind: &str, raw: &str, record: &Record<'_>, place: &Place, out: &mut Emitter<'_>) {
    let draft = Draft {
        timestamp: record.timestamp,
        ..Draft::new(EventKind::Meta, Origin::Host, raw, place.clone())
    };
    out.unknown(kind, draft);
}
