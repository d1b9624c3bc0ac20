//! What a refresh is asked to do, and what it reports.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;

use super::admission::Moment;
use super::place::{Placing, may_speak_for, project_root};
use super::words::WordLists;
use crate::transcript::Agent;

/// An agent and where it keeps its traces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    pub agent: Agent,
    pub roots: Vec<PathBuf>,
}

/// Which projects the sessions of a refresh may be given to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AllowedProjects {
    /// Those that a trace may speak for by where it lies.
    #[default]
    ByPlace,
    /// This one alone, or none: a person named the file there.
    Only(Option<PathBuf>),
}

/// What to bring up to date, and how.
#[derive(Clone, Debug)]
pub struct RefreshOptions {
    pub connections: Vec<Connection>,
    /// Roots of the registered projects.
    pub projects: Vec<PathBuf>,
    /// What is kept out of the sessions of each.
    pub words: WordLists,
    /// Which projects sessions may be given to.
    pub allowed: AllowedProjects,
    /// Only sources changed at or after this time.
    pub since: Option<Timestamp>,
    /// Only sources changed before this time.
    pub until: Option<Timestamp>,
    /// Stop after reading this many sessions.
    pub max_sessions: Option<usize>,
    /// Read also what did not change.
    pub force: bool,
    /// A trace that was written to more recently than this is still being written.
    pub quiet: Duration,
    pub now: Timestamp,
}

impl RefreshOptions {
    /// Where a session belongs whose trace lies at `source`.
    pub(super) fn placing(&self, source: &Path, cwd: Option<&str>) -> Placing {
        let placing = project_root(cwd, &self.projects);
        let Placing::Project(project) = placing else { return placing };
        let is_allowed = match &self.allowed {
            AllowedProjects::ByPlace => may_speak_for(source, &project, &self.projects),
            AllowedProjects::Only(one) => one.as_ref() == Some(&project),
        };
        if is_allowed { Placing::Project(project) } else { Placing::Elsewhere(project) }
    }

    pub(super) fn moment(&self) -> Moment {
        Moment { now: self.now, quiet: self.quiet }
    }
}

/// What a refresh did.
#[derive(Debug, Default)]
pub struct RefreshReport {
    pub sources: u64,
    /// Sources that were not opened.
    pub unchanged: u64,
    /// Sessions read in this refresh.
    pub read: u64,
    /// Of these, read from where they had ended.
    pub resumed: u64,
    pub bytes: u64,
    /// Sessions of which other words are kept out now.
    pub reworded: u64,
    /// Sessions that were admitted again because their project was registered since.
    pub readmitted: u64,
    /// Sources that are gone.
    pub gone: u64,
    pub problems: Vec<SourceProblem>,
    /// Left for the next refresh: by `max_sessions`, because the caller broke off, or because other traces took what one refresh
    /// may take; those are named in `problems`.
    pub left: u64,
}

/// A source that could not be read, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceProblem {
    pub path: PathBuf,
    pub reason: String,
}

/// How far a refresh has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    pub done: u64,
    pub total: u64,
    pub bytes: u64,
    pub path: &'a Path,
}
