//! What an agent's adapter must be able to do, and the table of all of them.
//!
//! Finding traces never opens one: a source that did not change since the last visit costs one
//! `stat`. Databases hold many sessions in one source, hence [`Adapter::sessions`].

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::error::{Error, Result};
use super::facts::{Agent, ReadReport, SessionFacts};
use super::sink::Sink;

/// The directories of one user, resolved by whoever knows the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Homes {
    pub home: PathBuf,
    /// `CLAUDE_CONFIG_DIR`, split at commas.
    pub claude_config: Vec<PathBuf>,
    /// `CODEX_HOME`.
    pub codex_home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`.
    pub xdg_config: Option<PathBuf>,
    /// `XDG_DATA_HOME`.
    pub xdg_data: Option<PathBuf>,
    /// `OPENCODE_DB`, when it is an absolute path or a name.
    pub opencode_db: Option<PathBuf>,
    /// `GEMINI_CLI_HOME`, which stands for the home folder.
    pub gemini_home: Option<PathBuf>,
    /// `QWEN_HOME`.
    pub qwen_home: Option<PathBuf>,
    /// `QWEN_RUNTIME_DIR`.
    pub qwen_runtime: Option<PathBuf>,
    /// `COPILOT_HOME`.
    pub copilot_home: Option<PathBuf>,
    /// `PI_CODING_AGENT_DIR`.
    pub pi_agent: Option<PathBuf>,
    /// `CLINE_DIR`.
    pub cline: Option<PathBuf>,
    /// `CLINE_DATA_DIR`.
    pub cline_data: Option<PathBuf>,
    /// `CLINE_SESSION_DATA_DIR`.
    pub cline_sessions: Option<PathBuf>,
    /// `CONTINUE_GLOBAL_DIR`.
    pub continue_global: Option<PathBuf>,
    /// `AIDER_CHAT_HISTORY_FILE`.
    pub aider_history: Option<PathBuf>,
    /// Where Nacre keeps conversations with its own agent.
    pub nacre_sessions: Option<PathBuf>,
    /// `%APPDATA%` of Windows.
    pub app_data: Option<PathBuf>,
}

impl Homes {
    pub fn at(home: &Path) -> Self {
        Self { home: home.to_owned(), ..Self::default() }
    }

    pub fn config(&self) -> PathBuf {
        self.xdg_config.clone().unwrap_or_else(|| self.home.join(".config"))
    }

    pub fn data(&self) -> PathBuf {
        self.xdg_data.clone().unwrap_or_else(|| self.home.join(".local/share"))
    }
}

/// The outside of a file: enough to tell that it did not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// For a database, of the file and its write-ahead log together.
    pub size: u64,
    pub modified: Option<Timestamp>,
    pub inode: u64,
}

/// A file or database that holds one session or more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    pub agent: Agent,
    pub path: PathBuf,
    pub stamp: Stamp,
}

/// One session's trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    pub source: Source,
    /// Names the session inside a source that holds several; `None` where it is the whole file.
    pub session: Option<String>,
    /// Changes whenever the session's rows do; `None` where the source's stamp says it all.
    pub revision: Option<String>,
}

impl Trace {
    /// A trace that is one whole file.
    pub fn whole(source: Source) -> Self {
        Self { source, session: None, revision: None }
    }
}

/// Something that was met on the way and did not stop the rest.
#[derive(Debug)]
pub struct Problem {
    pub path: PathBuf,
    pub error: Error,
}

/// What a walk over an agent's roots found.
#[derive(Debug, Default)]
pub struct Discovery {
    /// Sorted by the bytes of their paths.
    pub sources: Vec<Source>,
    pub problems: Vec<Problem>,
    /// Symbolic links below a root, which are never followed.
    pub links_skipped: u64,
}

/// Where an incremental read goes on, with all that it must remember.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watermark {
    /// The adapter version that made it; another version reads from the start.
    pub version: u32,
    /// The byte after the last whole line that was read.
    pub offset: u64,
    /// Whole lines before `offset`.
    pub line: u64,
    pub next_sequence: u64,
    /// Hash of up to 4 KiB before `offset`; when it differs the trace was rewritten.
    pub before_hash: String,
    pub facts: SessionFacts,
    /// What the adapter itself must remember, as JSON.
    pub carry: String,
}

/// How a read began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Began {
    FromStart,
    /// Went on at the watermark; events before it were not given again.
    AtWatermark,
    /// The watermark no longer fits: the trace was cut, replaced or rewritten. All of it was read.
    Restarted,
}

/// What one read of a trace gave beside its events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadOutcome {
    pub facts: SessionFacts,
    pub report: ReadReport,
    pub began: Began,
    /// `None` where the format cannot be read from the middle.
    pub watermark: Option<Watermark>,
}

/// One coding agent's traces: where they lie and how they are read.
pub trait Adapter: Sync {
    fn agent(&self) -> Agent;

    /// Grows whenever the same trace would give another transcript.
    fn version(&self) -> u32;

    /// The directories and files where this agent keeps its traces; they need not exist.
    fn roots(&self, homes: &Homes) -> Vec<PathBuf>;

    /// Walks the roots; opens nothing.
    fn discover(&self, roots: &[PathBuf]) -> Discovery;

    /// The sessions inside a source.
    fn sessions(&self, source: &Source) -> Result<Vec<Trace>> {
        Ok(vec![Trace::whole(source.clone())])
    }

    /// Reads a trace from the start or from a watermark, handing each event to `sink` in order.
    /// However much that wants of each, the outcome is the same, and so is what a later read goes
    /// on with.
    fn read(&self, trace: &Trace, from: Option<&Watermark>, sink: Sink<'_>) -> Result<ReadOutcome>;
}
