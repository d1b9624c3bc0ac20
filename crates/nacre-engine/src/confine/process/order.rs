//! What is said between Nacre and the watcher: one order, and a few words back.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::super::sandbox::Confinement;

/// The first argument that asks the binary for another role, and the roles.
pub(super) const HELPER: &str = "__program";
pub(super) const WATCH: &str = "watch";
#[cfg(target_os = "linux")]
pub(super) const ENTER: &str = "enter";

/// A program to be run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchRequest {
    pub program: Program,
    /// Where it starts.
    pub folder: PathBuf,
    /// All that it finds in its environment.
    pub environment: BTreeMap<String, String>,
    pub time_limit: Duration,
    pub quotas: Quotas,
    pub output: OutputCaps,
    pub confinement: Confinement,
}

/// What is run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Program {
    /// A program and its arguments, as they are.
    Argv { name: String, arguments: Vec<String> },
    /// A text for the shell.
    Script(String),
}

impl Program {
    /// The program and its arguments.
    pub(super) fn argv(&self) -> (&str, Vec<&str>) {
        match self {
            Self::Argv { name, arguments } => {
                (name, arguments.iter().map(String::as_str).collect())
            }
            Self::Script(text) => ("/bin/sh", vec!["-c", text]),
        }
    }
}

/// What one process of a program may use up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quotas {
    /// Bytes of memory of its own; what is only reserved does not count.
    pub memory: u64,
    /// The longest file that it may write.
    pub file_bytes: u64,
    /// Processes and threads of its user, those that ran before included.
    pub processes: u64,
}

impl Default for Quotas {
    fn default() -> Self {
        Self { memory: 4 << 30, file_bytes: 2 << 30, processes: 4096 }
    }
}

/// How much is kept of each of its two outputs: the beginning and the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputCaps {
    pub head: usize,
    pub tail: usize,
}

impl Default for OutputCaps {
    fn default() -> Self {
        Self { head: 64 << 10, tail: 192 << 10 }
    }
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    Exited(i32),
    /// By a signal that somebody sent, the system included.
    Signalled(i32),
    /// By us, because its time was over.
    TimedOut,
    /// By us, because nobody wants the result any more.
    Cancelled,
}

/// What the watcher says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Word {
    /// The walls stand, and the program runs.
    Started {
        pid: i32,
    },
    Refused(Refusal),
    /// The program ended, and so did the `left_behind` processes that it had not waited for.
    Ended {
        ending: Ending,
        left_behind: usize,
    },
}

/// Why a program was not started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Refusal {
    Unconfined(String),
    NotFound(String),
    Failed(String),
}

/// What the process says that is to become the program; its last word counts.
#[cfg(target_os = "linux")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Step {
    /// The walls stand and were tried. Nothing after it means that the program runs.
    Confined,
    Refused(Refusal),
}
