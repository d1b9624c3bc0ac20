//! One run of a command: what it is given, within which bounds, and what came of it.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use super::super::error::{ErrorKind, Fault};
use super::find::ProgramSettings;

/// A command line, and what the command finds when it starts.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Launch {
    pub(super) arguments: Vec<OsString>,
    pub(super) variables: Vec<(&'static str, String)>,
    /// Files in the folder that it starts in.
    pub(super) files: Vec<(&'static str, String)>,
    pub(super) stdin: String,
}

/// What is to be run, and within which bounds.
pub(super) struct ProgramCall<'a> {
    pub(super) program: &'a Path,
    pub(super) settings: &'a ProgramSettings,
    /// Where it starts.
    pub(super) folder: &'a Path,
    pub(super) launch: Launch,
    pub(super) time: Duration,
    /// What the answer may hold.
    pub(super) output_bytes: usize,
    /// What a program that goes on has complained about, where waiting for it is of no use.
    pub(super) hopeless: fn(&str) -> Option<Fault>,
    /// Hears its output as it comes.
    pub(super) on_output: Option<&'a mut OnOutput<'a>>,
}

/// Hears what a program prints.
pub(super) type OnOutput<'a> = dyn FnMut(&[u8]) + Send + 'a;

/// What a program printed, and how it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Finished {
    /// `None` where a signal ended it.
    pub(super) code: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// The fault of a program that did not start, with all its causes.
pub(super) fn cannot_start(error: &dyn std::error::Error) -> Fault {
    let mut said = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        said = format!("{said}: {cause}");
        source = cause.source();
    }
    Fault { kind: ErrorKind::ProgramFailed { code: None }, said: Some(said) }
}
