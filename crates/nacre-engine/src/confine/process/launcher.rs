//! How programs are started: within walls, or not at all.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use super::capture::Captured;
use super::order::{Ending, HELPER, LaunchRequest, WATCH};
use crate::model::Cancel;

/// How the watcher is started: a binary that calls `helper` first thing, and the arguments that make it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<OsString>,
}

/// What came of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    pub ending: Ending,
    pub stdout: Captured,
    pub stderr: Captured,
    /// Processes that the program had not waited for; they were ended.
    pub left_behind: usize,
    /// What it changed that is not its own, in sentences.
    pub notes: Vec<String>,
}

/// Why a program did not run.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    #[error("Cannot confine the program: {0}")]
    Unconfined(String),
    #[error("Cannot find the program `{name}`: {why}")]
    NotFound { name: String, why: String },
    #[error("Cannot start the program: {0}")]
    Failed(String),
    #[error("Cannot start the watcher of programs")]
    Watcher(#[source] io::Error),
    #[error("The watcher of the program went away")]
    Lost,
}

impl Launcher {
    /// `program` is a binary whose `main` calls `helper`.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        let arguments = [HELPER, WATCH].map(OsString::from).to_vec();
        Self { program: program.into(), arguments }
    }

    /// Runs a program to its end. When this returns, or the future is dropped, none of its processes is left or will
    /// be in a moment: for a return, they are gone.
    pub async fn run(
        &self,
        order: &LaunchRequest,
        cancel: &Cancel,
    ) -> Result<Finished, ProcessError> {
        #[cfg(target_os = "linux")]
        {
            self.run_confined(order, cancel).await
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (order, cancel, &self.program, &self.arguments);
            let why = "this system has no walls that Nacre knows".to_owned();
            Err(ProcessError::Unconfined(why))
        }
    }
}
