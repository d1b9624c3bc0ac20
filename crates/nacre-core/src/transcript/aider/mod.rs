//! aider: one Markdown file a project, to which every session is appended.
//!
//! A heading with the time starts a session. Below it `####` are the person's words, `>` is what the
//! program says, and the rest is the model's. Nothing has an id, and times have no zone: they are
//! taken as UTC.

mod read;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::civil::DateTime;

use super::adapter::{Adapter, Began, Discovery, Homes, ReadOutcome, Source, Trace, Watermark};
use super::emit::Emitter;
use super::error::{Error, Result};
use super::facts::{Agent, SessionFacts};
use super::lines::{LineReader, open_regular};
use super::sink::Sink;
use super::walk::{Wanted, walk};

/// Reads what aider leaves behind.
pub struct Aider;

/// The file that aider writes in a project, and its name without the dot.
const HISTORY: &str = ".aider.chat.history.md";
/// How the heading of a session begins.
const HEADING: &[u8] = b"# aider chat started at ";
/// The most sessions of one file.
const MAX_SESSIONS: usize = 100_000;
/// Folders in which no project keeps its history.
const SKIPPED: [&str; 4] = [".git", "node_modules", "target", ".venv"];

impl Adapter for Aider {
    fn agent(&self) -> Agent {
        Agent::Aider
    }

    fn version(&self) -> u32 {
        2
    }

    /// The file that the person's own environment names. aider writes into the project otherwise, and a history
    /// there may have come with the repository: a person has to name it.
    fn roots(&self, homes: &Homes) -> Vec<PathBuf> {
        homes.aider_history.iter().filter(|path| path.is_absolute()).cloned().collect()
    }

    fn discover(&self, roots: &[PathBuf]) -> Discovery {
        let file = |name: &OsStr| name == HISTORY || name == &HISTORY[1..];
        let directory = |name: &OsStr| name.to_str().is_none_or(|name| !SKIPPED.contains(&name));
        walk(roots, &Wanted { agent: Agent::Aider, file: &file, directory: &directory })
    }

    fn sessions(&self, source: &Source) -> Result<Vec<Trace>> {
        let file = open_regular(&source.path)?;
        let trace = |(start, size): (Start, u64)| Trace {
            source: source.clone(),
            session: Some(start.name()),
            revision: Some(size.to_string()),
        };
        Ok(starts(&file, &source.path)?.into_iter().map(trace).collect())
    }

    fn read(
        &self,
        trace: &Trace,
        _from: Option<&Watermark>,
        sink: Sink<'_>,
    ) -> Result<ReadOutcome> {
        let path = &trace.source.path;
        let start = match &trace.session {
            Some(name) => Start::named(name).ok_or_else(|| missing(path, name))?,
            // The first one, where none is named.
            None => Start { offset: 0, line: 0 },
        };
        let file = open_regular(path)?;
        let mut out = Emitter::new(SessionFacts::new(Agent::Aider, ""), 0, sink);
        if !read::read_session(&file, path, start, &mut out)? && trace.session.is_some() {
            return Err(missing(path, &start.name()));
        }
        out.facts.id = id_of(out.facts.started);
        if let Some(folder) = path.parent().and_then(Path::to_str) {
            out.note_cwd(folder);
        }
        let (facts, report) = (out.facts, out.report);
        Ok(ReadOutcome { facts, report, began: Began::FromStart, watermark: None })
    }
}

fn missing(path: &Path, session: &str) -> Error {
    Error::NoSession { path: path.to_owned(), session: session.to_owned() }
}

/// Where a session starts: the file only grows, so this names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Start {
    offset: u64,
    /// Whole lines before it.
    line: u64,
}

impl Start {
    fn name(self) -> String {
        format!("{}-{}", self.offset, self.line)
    }

    fn named(name: &str) -> Option<Self> {
        let (offset, line) = name.split_once('-')?;
        Some(Self { offset: offset.parse().ok()?, line: line.parse().ok()? })
    }
}

/// Where the sessions of a file start, each with its size.
fn starts(file: &File, path: &Path) -> Result<Vec<(Start, u64)>> {
    let read_error = |source| Error::Read { path: path.to_owned(), source };
    let mut reader = LineReader::new(file, 0, 0);
    let mut starts: Vec<(Start, u64)> = Vec::new();
    while let Some(line) = reader.next_line().map_err(read_error)? {
        if line.bytes.starts_with(HEADING) && starts.len() < MAX_SESSIONS {
            starts.push((Start { offset: line.offset, line: line.number - 1 }, 0));
        }
        if let Some((start, size)) = starts.last_mut() {
            *size = line.next_offset - start.offset;
        }
    }
    Ok(starts)
}

/// The time in a session's heading.
fn heading_time(line: &str) -> Option<Timestamp> {
    let text = line.strip_prefix(std::str::from_utf8(HEADING).ok()?)?.trim();
    let local: DateTime = text.parse().ok()?;
    Some(local.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
}

/// A name for a session: when it started. It stays when the project is moved.
fn id_of(started: Option<Timestamp>) -> String {
    let time = started.map_or_else(|| "start".to_owned(), |time| time.to_string());
    time.trim_end_matches('Z').replace([':', '.'], "-")
}
