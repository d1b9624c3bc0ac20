//! Starts programs in the sandbox, and defines the messages between Nacre and the watcher.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::confine::process::capture::{Captured, LiveOutput, OutputCaps};
use crate::confine::sandbox::Confinement;
use crate::model::Cancel;

/// Starts the watcher, a binary whose `main` first calls `helper`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    pub(super) program: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    pub ending: Ending,
    pub stdout: Captured,
    pub stderr: Captured,
    /// Number of processes that the program left running, all of which Nacre killed.
    pub left_behind: usize,
    /// Describes each change that the program made outside its own files.
    pub notes: Vec<String>,
}

#[derive(Debug, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessError {
    #[error("Cannot sandbox the program: {0}")]
    Unconfined(String),
    #[error("Cannot find the program `{name}`: {why}")]
    NotFound { name: String, why: String },
    #[error("Cannot start the program: {0}")]
    Failed(String),
    #[serde(skip)]
    #[error("Cannot start the watcher process")]
    Watcher(#[source] io::Error),
    #[error("The watcher process exited unexpectedly")]
    Lost,
}

impl Launcher {
    /// `program` must be a binary whose `main` calls `helper`.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into() }
    }

    /// Runs a program and waits for it to end. When the function returns, all of the program's
    /// processes have ended. If the future is dropped, they are killed shortly afterwards.
    ///
    /// The standard output can be read from `stdout` while the program is running.
    pub async fn run(
        &self,
        order: &LaunchRequest,
        cancel: &Cancel,
        stdout: &LiveOutput,
    ) -> Result<Finished, ProcessError> {
        #[cfg(target_os = "linux")]
        {
            self.run_confined(order, cancel, stdout).await
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (order, cancel, stdout, &self.program);
            let why = "Nacre has no sandbox for this operating system".to_owned();
            Err(ProcessError::Unconfined(why))
        }
    }
}

pub(super) const HELPER: &str = "__program";
pub(super) const WATCH: &str = "watch";
pub(super) const ENTER: &str = "enter";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchRequest {
    pub program: Program,
    pub folder: PathBuf,
    /// The complete environment; nothing is inherited.
    pub environment: BTreeMap<String, String>,
    pub time_limit: Duration,
    pub quotas: Quotas,
    pub output: OutputCaps,
    pub confinement: Confinement,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Program {
    /// Executed directly, without a shell.
    Argv { name: String, arguments: Vec<String> },
    /// Run by the shell.
    Script(String),
}

impl Program {
    pub(super) fn argv(&self) -> (&str, Vec<&str>) {
        match self {
            Self::Argv { name, arguments } => {
                (name, arguments.iter().map(String::as_str).collect())
            }
            Self::Script(text) => ("/bin/sh", vec!["-c", text]),
        }
    }
}

/// Limits for each of a program's processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quotas {
    /// Private memory in bytes, not counting reserved address space.
    pub memory: u64,
    pub file_bytes: u64,
    /// Maximum number of processes and threads for the user, including those that do not belong to
    /// the program.
    pub processes: u64,
}

impl Default for Quotas {
    fn default() -> Self {
        Self { memory: 4 << 30, file_bytes: 2 << 30, processes: 4096 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    Exited(i32),
    /// Killed by a signal that Nacre did not send.
    Signalled(i32),
    TimedOut,
    /// Killed by Nacre because the result is no longer needed.
    Cancelled,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum WatcherMessage {
    Started {
        pid: i32,
    },
    Refused(ProcessError),
    /// The program ended, and its `left_behind` remaining processes were killed.
    Ended {
        ending: Ending,
        left_behind: usize,
    },
}
