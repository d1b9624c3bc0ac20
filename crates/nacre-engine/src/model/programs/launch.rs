//! Finds an agent's executable, gets its version, and describes how to start it.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nacre_base::platform::ext::PermissionsExt as _;
use nacre_base::{is_of_repository, search_folders, with_causes};
use serde_json::Value;

use crate::model::error::{ErrorKind, Fault};
use crate::model::programs::{KNOWN_PROGRAMS, KnownProgram, piped};

/// A command line, with the environment and files that the command needs.
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

pub(super) fn arguments(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
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
    /// Searches the directories in `path`, which has the same format as `PATH`. Relative
    /// directories and directories inside a repository are untrusted and skipped.
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

impl fmt::Debug for ProgramSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The variables may contain API keys.
        f.debug_struct("ProgramSettings").field("folders", &self.folders).finish_non_exhaustive()
    }
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

const PATIENCE: Duration = Duration::from_secs(10);

const MAX_BYTES: usize = 4 << 10;

#[derive(Clone, Debug)]
pub struct InstalledProgram {
    pub known: &'static KnownProgram,
    pub path: PathBuf,
    pub version: Option<String>,
}

/// Returns the installed agents in the order of `KNOWN_PROGRAMS`. Their versions are queried
/// concurrently.
pub async fn installed_programs(settings: &ProgramSettings) -> Vec<InstalledProgram> {
    let found = KNOWN_PROGRAMS.iter().filter_map(|known| Some((known, known.find(settings)?)));
    let mut asked = Vec::new();
    for (known, path) in found {
        let settings = settings.clone();
        let program = path.clone();
        let version = tokio::spawn(async move { version(&program, &settings).await });
        asked.push((known, path, version));
    }
    let mut installed = Vec::new();
    for (known, path, version) in asked {
        installed.push(InstalledProgram { known, path, version: version.await.ok().flatten() });
    }
    installed
}

async fn version(program: &Path, settings: &ProgramSettings) -> Option<String> {
    let launch = Launch { arguments: vec!["--version".into()], ..Launch::default() };
    let start = ProgramCall {
        program,
        settings,
        folder: Path::new("/"),
        launch,
        time: PATIENCE,
        output_bytes: MAX_BYTES,
        hopeless: |_| None,
    };
    let finished = piped::run(start).await.ok().filter(|finished| finished.code == Some(0))?;
    number(&finished.stdout)
}

fn number(text: &str) -> Option<String> {
    let mut words =
        text.split_whitespace().map(|word| word.trim_matches(['v', '.', ',', '(', ')']));
    let is_version = |word: &&str| {
        word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.') && word.len() <= 40
    };
    words.find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_found_in_what_agents_print() {
        for (text, version) in [
            ("2.1.197 (Claude Code)\n", Some("2.1.197")),
            ("codex-cli 0.166.0\n", Some("0.166.0")),
            ("GitHub Copilot CLI 1.0.102.\nRun 'copilot update' to check.", Some("1.0.102")),
            ("v1.2\n", Some("1.2")),
            ("usage: claude", None),
            ("", None),
        ] {
            assert_eq!(number(text).as_deref(), version, "{text}");
        }
    }
}
