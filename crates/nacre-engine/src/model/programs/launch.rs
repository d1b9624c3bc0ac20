//! Finds agent executables, and defines their inputs and outputs.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nacre_base::platform::ext::PermissionsExt as _;
use nacre_base::{is_of_repository, search_folders, with_causes};
use serde_json::Value;

use crate::model::error::{ErrorKind, Fault};

/// A command line, along with the environment variables and files that it needs.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Launch {
    pub(super) arguments: Vec<String>,
    pub(super) variables: Vec<(&'static str, String)>,
    pub(super) files: Vec<(&'static str, String)>,
    pub(super) stdin: String,
}

pub(super) struct ProgramCall<'a> {
    pub(super) program: &'a Path,
    pub(super) settings: &'a ProgramSettings,
    pub(super) folder: &'a Path,
    pub(super) launch: Launch,
    pub(super) time: Duration,
    pub(super) output_bytes: usize,
    pub(super) hopeless: fn(&str) -> Option<Fault>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Finished {
    /// `None` if the program was killed by a signal.
    pub(super) code: Option<i32>,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

impl Finished {
    pub(super) fn json_lines(&self) -> impl Iterator<Item = Value> {
        self.stdout.lines().filter_map(|line| serde_json::from_str(line).ok())
    }
}

/// Splits a command line at spaces. `''` is an empty argument.
pub(super) fn arguments(line: &str) -> Vec<String> {
    line.split(' ').map(|word| word.trim_matches('\'').to_owned()).collect()
}

pub(super) fn cannot_start(error: &dyn std::error::Error) -> Fault {
    let said = with_causes(error);
    Fault { kind: ErrorKind::ProgramFailed { code: None }, said: Some(said) }
}

#[derive(Clone, Default)]
pub struct ProgramSettings {
    folders: Vec<PathBuf>,
    repositories: Vec<PathBuf>,
    pub variables: Vec<(String, String)>,
    pub home: Option<PathBuf>,
    /// Whether this process was started by an agent that Nacre runs.
    pub is_child: bool,
    /// Nacre's global data directory. Each call gets a new empty directory below it.
    pub data: Option<PathBuf>,
}

impl ProgramSettings {
    /// Searches the directories in `path`, which has the same format as `PATH`. Skips relative
    /// directories and directories inside a repository, because they are untrusted.
    pub fn new(path: impl AsRef<OsStr>, repositories: &[PathBuf]) -> Self {
        Self {
            folders: search_folders(path.as_ref(), repositories),
            repositories: repositories.to_vec(),
            ..Self::default()
        }
    }

    pub(super) fn path(&self) -> std::ffi::OsString {
        let folders: Vec<&OsStr> = self.folders.iter().map(AsRef::as_ref).collect();
        folders.join(OsStr::new(":"))
    }

    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        let found = self.variables.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    pub(super) fn find(&self, command: &str) -> Option<PathBuf> {
        let mut places = self.folders.iter().map(|folder| folder.join(command));
        places.find(|place| is_program(place) && !is_of_repository(place, &self.repositories))
    }
}

// The variables may contain API keys.
nacre_base::debug_only!(ProgramSettings { folders });

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

const MAX_SETTINGS_BYTES: u64 = 1 << 20;

/// Reads an agent's settings file. Returns `None` if it is too large or not a regular file.
pub(super) fn read_settings(path: &Path) -> Option<String> {
    let is_small = |found: &Metadata| found.is_file() && found.len() <= MAX_SETTINGS_BYTES;
    path.metadata().ok().filter(is_small)?;
    fs::read_to_string(path).ok()
}
