//! What `init` and `project add` both do: a repository gets a store and a name, and its sessions are looked for.

use std::path::{Path, PathBuf};
use std::time::Duration;

use nacre_api::wire::{ErrorCode, InitReport};
use nacre_core::catalog::{self, JobState, Look};
use nacre_core::memory;
use nacre_core::safefs::WriteScope;

use crate::error::OpError;
use crate::host::{Host, STORE_FOLDER, check_owner, connections, git_root, open_catalog};
use crate::operations::intake::{agent_sessions, switched_off};

/// What a repository's own settings start with.
const REPO_CONFIG: &str = "\
# Settings of this repository, shared through git. `nacre config show` lists every key.
# What runs commands or sends data is a person's own to set, and ignored here.
";

/// How long sessions are looked for.
const LOOK_TIME: Duration = Duration::from_millis(1500);

/// A folder that is to get a store.
pub(super) struct NewProject {
    pub(super) root: PathBuf,
    is_git: bool,
}

impl NewProject {
    /// The git repository around `folder`, or the folder itself.
    pub(super) fn around(host: &Host, folder: &Path) -> Result<Self, OpError> {
        let git = git_root(&host.person, folder);
        Self::at(host, git.as_deref().unwrap_or(folder))
    }

    /// The folder `root` itself.
    pub(super) fn at(host: &Host, root: &Path) -> Result<Self, OpError> {
        if Some(root.join(STORE_FOLDER).as_path()) == host.home().ok() {
            let error = OpError::failed(format!(
                "`{}` cannot be a project: its `.nacre` folder holds your own data of all projects",
                root.display()
            ));
            return Err(OpError { code: ErrorCode::Refused, ..error }
                .hint("Go to a repository and run `nacre init` there"));
        }
        check_owner(&host.person, root)?;
        let is_git = git_root(&host.person, root).is_some_and(|git| git == root);
        Ok(Self { root: root.to_owned(), is_git })
    }

    /// Makes the store and looks for sessions.
    pub(super) fn prepare(
        &self,
        host: &Host,
        project: Option<String>,
    ) -> Result<InitReport, OpError> {
        let Self { root, is_git } = self;
        let scope =
            host.sealed(WriteScope::create_inside(root, STORE_FOLDER, memory::STORE_ACCESS)?);
        check_owner(&host.person, root)?;
        let writer = scope.lock(&host.owner("init"), host.settings().lock.wait)?;
        let shares = host.settings_now(Some(root)).is_some_and(|settings| settings.share.summaries);
        let created = memory::init(&writer, REPO_CONFIG, shares)?;
        drop(writer);
        let ledger = host.ledger_of(scope.path());
        let rules = memory::Rules { ledger, ..memory::Rules::default() };
        let store = memory::Store::new(scope, rules);
        let memories = store.outlines(|_| true)?.memories.len();
        // What lies there already came from elsewhere, or is older than ledgers.
        if memories == 0 {
            store.begin_ledger(&host.owner("init"));
        }
        let foreign = host.store_at(root).map_or(0, |scoped| host.count_waiting(&scoped).foreign);
        let look = look(host, root);
        let report = InitReport {
            root: root.display().to_string(),
            project,
            is_git: *is_git,
            created: created.iter().map(|path| format!("{STORE_FOLDER}/{path}")).collect(),
            memories,
            foreign,
            new_sessions: look.sessions().saturating_sub(finished(host, root)),
            is_partial: look.is_partial,
            has_agents: look.sources > 0,
            switched_off: switched_off(host),
            sessions: agent_sessions(
                look.agents.iter().map(|(agent, n)| (agent.as_str().to_owned(), *n)),
            ),
            shares_summaries: shares,
            next: String::new(),
        };
        Ok(InitReport { next: next(&report).to_owned(), ..report })
    }
}

/// Looks for the repository's sessions for a moment. Best effort: without a home there are none.
fn look(host: &Host, root: &Path) -> Look {
    let took = host.stopwatch();
    let others: Vec<PathBuf> = host.projects.iter().map(|project| project.path.clone()).collect();
    let connections = connections(host, &[]).unwrap_or_default();
    catalog::look(&connections, root, &others, || took() < LOOK_TIME)
}

/// How many sessions of the repository a sync has finished. Where there is no catalog, none is made.
fn finished(host: &Host, root: &Path) -> u64 {
    let is_there = host.home().is_ok_and(|home| home.join("catalog.sqlite3").is_file());
    let counts = is_there.then(|| open_catalog(host).ok()?.counts().ok()).flatten();
    let project = root.to_string_lossy();
    let of_project =
        counts.into_iter().flatten().filter(|((at, _), _)| at.as_deref() == Some(&project));
    let is_finished = |state: &JobState| match state {
        JobState::Done | JobState::Dead => true,
        // Nobody spoke in an empty one, so the look does not count it.
        JobState::Empty | JobState::Pending | JobState::Running | JobState::Skipped => false,
    };
    let states = of_project.flat_map(|(_, counts)| counts.by_state);
    states.filter(|(state, _)| is_finished(state)).map(|(_, sessions)| sessions).sum()
}

/// The command that a person may try next.
fn next(report: &InitReport) -> &'static str {
    match report {
        InitReport { foreign: 1.., .. } => "nacre trust",
        InitReport { new_sessions: 1.., .. } => "nacre sync",
        InitReport { memories: 1.., .. } => "nacre brief",
        InitReport { switched_off, .. } if !switched_off.is_empty() => "nacre connect auto",
        InitReport { has_agents: true, .. } => "nacre connect auto",
        _ => "nacre memory add \"Use SQLite for the queue\" --body \"One file, no server.\"",
    }
}
