//! The interface that agent adapters implement. Discovery never opens a file, so checking an
//! unchanged source costs only one `stat` call. A database is one source that contains several
//! sessions, which [`Adapter::sessions`] lists.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::transcript::toolkit::*;

/// A user's home directory, and the environment variables that change where agents store their
/// files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Homes {
    pub home: PathBuf,
    pub variables: BTreeMap<&'static str, String>,
    pub nacre_sessions: Option<PathBuf>,
}

impl Homes {
    pub fn at(home: &Path) -> Self {
        Self { home: home.to_owned(), ..Self::default() }
    }

    pub fn var(&self, name: &str) -> Option<PathBuf> {
        self.variables.get(name).map(PathBuf::from)
    }

    /// Returns the path in the environment variable `name`, falling back to `usual` below the home
    /// directory.
    pub(crate) fn var_or(&self, name: &str, usual: &str) -> PathBuf {
        self.var(name).unwrap_or_else(|| self.home.join(usual))
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.var_or("XDG_CONFIG_HOME", ".config")
    }

    #[cfg(test)]
    pub(crate) fn with(mut self, name: &'static str, value: impl AsRef<Path>) -> Self {
        self.variables.insert(name, value.as_ref().display().to_string());
        self
    }
}

/// File metadata used to detect changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// For databases, includes the write-ahead log.
    pub size: u64,
    pub modified: Option<Timestamp>,
    pub inode: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceSource {
    pub agent: Agent,
    pub path: PathBuf,
    pub stamp: Stamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    pub source: TraceSource,
    /// The session's ID within its source, or `None` if the whole source is one session.
    pub session: Option<String>,
    /// Changes whenever the session's rows change. `None` if the source's stamp is enough to detect
    /// changes.
    pub revision: Option<String>,
}

impl Trace {
    pub fn whole(source: TraceSource) -> Self {
        Self { source, session: None, revision: None }
    }

    pub(crate) fn missing(&self) -> Error {
        let session = self.session.clone().unwrap_or_default();
        Error::NoSession { path: self.source.path.clone(), session }
    }
}

impl TraceSource {
    pub(crate) fn stem(&self) -> String {
        file_stem(&self.path)
    }
}

pub(crate) fn file_stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

#[derive(Debug)]
pub struct Problem {
    pub path: PathBuf,
    pub error: Error,
}

#[derive(Debug, Default)]
pub struct Discovery {
    /// Sources sorted bytewise by path.
    pub sources: Vec<TraceSource>,
    pub problems: Vec<Problem>,
}

/// The position and parser state from which an incremental read continues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watermark {
    /// The adapter's version. If it differs, the transcript is read from the start.
    pub version: u32,
    pub offset: u64,
    pub line: u64,
    pub next_sequence: u64,
    /// Hash of up to 4 KiB before `offset`. If the bytes there now hash differently, the transcript
    /// was rewritten.
    pub before_hash: String,
    pub facts: SessionFacts,
    pub carry: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Began {
    FromStart,
    /// The read continued at the watermark. Earlier events were not emitted again.
    AtWatermark,
    /// The read started over because the watermark does not match: the transcript was truncated,
    /// replaced or rewritten.
    Restarted,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadOutcome {
    pub facts: SessionFacts,
    pub report: ReadReport,
    pub began: Began,
    /// Where the next read continues. `None` if the format can only be read in full.
    pub watermark: Option<Watermark>,
}

/// Finds and parses the transcripts of one coding agent.
pub trait Adapter: Sync {
    fn agent(&self) -> Agent;

    /// Increase the version whenever the adapter would produce a different result for the same
    /// file.
    fn version(&self) -> u32 {
        1
    }

    /// Returns the directories and files that may contain the agent's transcripts. They might not
    /// exist.
    fn roots(&self, homes: &Homes) -> Vec<PathBuf>;

    fn is_trace(&self, name: &str) -> bool {
        name.ends_with(".jsonl")
    }

    fn is_searched(&self, _directory: &str) -> bool {
        true
    }

    fn discover(&self, roots: &[PathBuf]) -> Discovery {
        walk(roots, self.agent(), &|name| self.is_trace(name), &|name| self.is_searched(name))
    }

    fn sessions(&self, source: &TraceSource) -> Result<Vec<Trace>> {
        Ok(vec![Trace::whole(source.clone())])
    }

    /// Reads a transcript from the start or from a watermark, passing each event to `sink` in
    /// order.
    fn read(&self, trace: &Trace, from: Option<&Watermark>, sink: Sink<'_>) -> Result<ReadOutcome>;
}
