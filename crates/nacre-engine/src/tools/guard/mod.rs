//! The write boundary for tools of other agents: which of their calls to refuse, asked before they run.
//!
//! A path is followed as the system would follow it, link by link, and judged by where it leads: writes stay inside the
//! project and out of `.git`, `.nacre` and files of secrets; reads stay out of secrets. What cannot be judged for certain is
//! refused where it writes. A command of a shell is judged by its words, which is a warning sign and not a wall:
//! `docs/sandbox.md` has the walls.

mod command;
mod path;
mod reads;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use nacre_core::safefs::RelPath;

use self::path::{followed, strangeness};
pub use self::reads::{ReadGuard, ReadGuardError};
use super::footprint::Area;
use super::workspace::{BadGlob, Denied, is_machinery};

/// What a tool does with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    Read,
    Write,
}

/// What a guard goes by.
#[derive(Clone, Debug, Default)]
pub struct GuardRules {
    /// The project; nothing is written outside.
    pub root: PathBuf,
    /// The folder that relative paths start from.
    pub folder: PathBuf,
    pub home: Option<PathBuf>,
    /// Files and folders that are not even read.
    pub secrets: Vec<PathBuf>,
    /// Folders outside the project that may be written to.
    pub folders: Vec<PathBuf>,
    /// Globs of files that are closed besides those that hold for everybody.
    pub denied: Vec<String>,
}

/// Why a call is refused, for the agent to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub why: String,
}

/// Judges calls of other agents' tools.
#[derive(Clone, Debug)]
pub struct Guard {
    rules: GuardRules,
    denied: Denied,
}

impl Guard {
    /// Roots and folders are taken as they really lie.
    pub fn new(rules: GuardRules) -> Result<Self, BadGlob> {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let denied = Denied::new(&rules.denied)?;
        let rules = GuardRules {
            root: real(&rules.root),
            folder: real(&rules.folder),
            folders: rules.folders.iter().map(|folder| real(folder)).collect(),
            ..rules
        };
        Ok(Self { rules, denied })
    }

    /// Judges one path.
    pub fn refuse_path(&self, text: &str, touch: Touch) -> Option<Refusal> {
        let judged = match touch {
            Touch::Read => self.check_read(text),
            Touch::Write => self.check_write(text),
        };
        judged.err().map(|why| Refusal { why: format!("{}: {why}", shown(text)) })
    }

    /// Judges a command of a shell by its words.
    pub fn refuse_command(&self, command: &str) -> Option<Refusal> {
        let paths = command::paths(&command.replace("${HOME}", "~").replace("$HOME", "~"));
        paths.iter().find_map(|(path, touch)| self.refuse_path(path, *touch))
    }

    fn check_write(&self, text: &str) -> Result<(), &'static str> {
        if let Some(strange) = strangeness(text) {
            return Err(strange);
        }
        if text.split(['/', '\\']).any(is_machinery) {
            return Err("it belongs to git or to Nacre");
        }
        let real = followed(&self.absolute(text)?)?;
        self.check_secret(&real)?;
        let inside = self.inside(&real).ok_or("it leads outside the project")?;
        let path =
            RelPath::new(&inside).map_err(|_| "it is not a plain path inside the project")?;
        if self.denied.forbids_writing(&Area::File(path)) {
            return Err("it is protected: git, Nacre, or a file where secrets lie");
        }
        Ok(())
    }

    fn check_read(&self, text: &str) -> Result<(), &'static str> {
        let Ok(absolute) = self.absolute(text) else { return Ok(()) };
        let real = followed(&absolute).unwrap_or(absolute);
        self.check_secret(&real)?;
        let below = real.to_string_lossy();
        let is_sensitive = |path: &str| {
            RelPath::new(path.trim_start_matches('/'))
                .is_ok_and(|path| self.denied.is_sensitive(&path))
        };
        match is_sensitive(&self.inside(&real).unwrap_or_else(|| below.into_owned())) {
            true => Err("it is a file where secrets lie"),
            false => Ok(()),
        }
    }

    fn check_secret(&self, real: &Path) -> Result<(), &'static str> {
        match self.rules.secrets.iter().any(|secret| real.starts_with(secret)) {
            true => Err("it is where keys and passwords are kept"),
            false => Ok(()),
        }
    }

    /// A path below the project, or below a folder that may be written to.
    fn inside(&self, real: &Path) -> Option<String> {
        let roots = [&self.rules.root].into_iter().chain(&self.rules.folders);
        let mut below = roots.filter_map(|root| real.strip_prefix(root).ok());
        below.next().and_then(Path::to_str).map(str::to_owned)
    }

    fn absolute(&self, text: &str) -> Result<PathBuf, &'static str> {
        match text.strip_prefix('~') {
            None => Ok(self.rules.folder.join(text)),
            Some(rest) => match (&self.rules.home, rest.strip_prefix('/')) {
                (Some(home), Some(below)) => Ok(home.join(below)),
                _ => Err("it is in the home of somebody"),
            },
        }
    }
}

/// A path as it may stand in a message.
fn shown(text: &str) -> String {
    const MAX_SHOWN: usize = 120;
    let start = &text[..text.floor_char_boundary(MAX_SHOWN)];
    let cut = if start.len() < text.len() { "…" } else { "" };
    format!("`{}{cut}`", nacre_core::base::Shown(start).one_line())
}
