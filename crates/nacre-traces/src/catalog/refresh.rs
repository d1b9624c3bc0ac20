//! Updates the catalog: finds sources, reads changed ones, and queues their sessions. When a source
//! is removed, its sessions are kept but its stamp is cleared, so that it is read again if it
//! reappears. Sources below a directory that cannot be listed do not count as removed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{Transaction, named_params};

use nacre_types::SourceProblem;

use super::*;

use crate::agents::adapter_of;
use crate::transcript::{Agent, Discovery, SyncBudget, TraceSource};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    pub agent: Agent,
    pub roots: Vec<PathBuf>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AllowedProjects {
    /// Any project that the transcript is trusted for, based on its location.
    #[default]
    ByPlace,
    /// Only the given project, or no project. Used if the user passes a file.
    Only(Option<PathBuf>),
}

#[derive(Clone, Debug)]
pub struct RefreshOptions {
    pub connections: Vec<Connection>,
    pub projects: Vec<PathBuf>,
    /// Other directories whose sessions the user assigned to a project, with that project.
    pub adopted: BTreeMap<PathBuf, PathBuf>,
    pub words: WordLists,
    pub allowed: AllowedProjects,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
    pub max_sessions: Option<usize>,
    /// Whether to also read unchanged sources.
    pub force: bool,
    /// A transcript modified more recently than this is still in progress.
    pub quiet: Duration,
    pub now: Timestamp,
}

impl RefreshOptions {
    fn root_of(&self, cwd: Option<&str>) -> Placing {
        let placing = project_root(cwd, &self.projects);
        let Placing::Unregistered(folder) = &placing else { return placing };
        let around = self.adopted.iter().filter(|(adopted, _)| folder.starts_with(adopted));
        let nearest = around.max_by_key(|(adopted, _)| adopted.components().count());
        nearest.map_or(placing, |(_, project)| Placing::Project(project.clone()))
    }

    pub(super) fn placing(&self, source: &Path, cwd: Option<&str>) -> Placing {
        let placing = self.root_of(cwd);
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

#[derive(Debug, Default)]
pub struct RefreshReport {
    /// The sources that were opened or, in a preview, that a refresh would open.
    pub opened: Vec<TraceSource>,
    pub sources: u64,
    pub unchanged: u64,
    pub read: u64,
    pub resumed: u64,
    pub bytes: u64,
    /// Number of sessions that were read again because their redaction list had changed.
    pub reworded: u64,
    /// Number of sessions that were queued because their project was registered after they were
    /// read.
    pub readmitted: u64,
    pub gone: u64,
    pub problems: Vec<SourceProblem>,
    /// Number of sources left for the next refresh because `max_sessions` was reached, the caller
    /// stopped the refresh, or the budget for untrusted transcripts was used up. In the last case,
    /// the sources are also listed in `problems`.
    pub left: u64,
}

#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    pub done: u64,
    pub total: u64,
    pub bytes: u64,
    pub path: &'a Path,
}

/// A source with this version must be read again regardless of its stamp. Adapter versions are
/// never negative.
const NO_VERSION: i64 = -1;

impl Catalog {
    /// Finds new and changed transcripts, reads them and queues their sessions. `progress` is
    /// called before each source and can stop the refresh.
    pub fn refresh(
        &mut self,
        options: &RefreshOptions,
        mut progress: impl FnMut(Progress<'_>) -> ControlFlow<()>,
    ) -> Result<RefreshReport> {
        // Limits the total cost of reading untrusted transcripts, in addition to the limits on each
        // one.
        let _budget = SyncBudget::begin();
        let readmitted = self.readmit(options)?;
        let reworded = self.keep_out(&options.words)?;
        let mut report = RefreshReport { readmitted, reworded, ..RefreshReport::default() };
        let (changed, gone) = self.compare(options, &mut report)?;
        report.gone = self.note_gone(&gone, options.moment())?;
        let total = changed.len() as u64;
        for (done, source) in (0_u64..).zip(changed) {
            let is_enough = options.max_sessions.is_some_and(|max| report.read >= max as u64);
            let now = Progress { done, total, bytes: report.bytes, path: &source.path };
            if is_enough || progress(now).is_break() {
                report.left = total - done;
                break;
            }
            self.take_source(adapter_of(source.agent), &source, options, &mut report)?;
            report.opened.push(source);
        }
        Ok(report)
    }

    /// Lists changed sources and problems without opening any source or changing the catalog.
    pub fn preview(&mut self, options: &RefreshOptions) -> Result<RefreshReport> {
        let mut report = RefreshReport::default();
        report.opened = self.compare(options, &mut report)?.0;
        Ok(report)
    }

    /// Returns the changed and the missing sources. The newest sources come first, because they
    /// matter most for the next session.
    fn compare(
        &self,
        options: &RefreshOptions,
        report: &mut RefreshReport,
    ) -> Result<(Vec<TraceSource>, Vec<Gone>)> {
        let mut ledger = self.ledger(&options.words)?;
        let (mut changed, mut gone) = (Vec::new(), Vec::new());
        let in_window = |source: &TraceSource| {
            let modified = source.stamp.modified.unwrap_or(options.now);
            options.since.is_none_or(|since| modified >= since)
                && options.until.is_none_or(|until| modified < until)
        };
        for Connection { agent, roots } in &options.connections {
            let adapter = adapter_of(*agent);
            let version = i64::from(adapter.version());
            let mut known = ledger.remove(agent).unwrap_or_default();
            let Discovery { sources, problems } = adapter.discover(roots);
            report.sources += sources.len() as u64;
            for source in sources {
                // Sources found on disk are removed from `known`, so any that remain are missing.
                let seen = known.remove(source.path.to_string_lossy().as_ref());
                let is_new = options.force || seen != Some((columns(source.stamp), version));
                if is_new && in_window(&source) {
                    changed.push(source);
                } else {
                    report.unchanged += 1;
                }
            }
            for (path, ([size, ..], _)) in known {
                let is_below = |folder: &PathBuf| Path::new(&path).starts_with(folder);
                let is_hidden = problems.iter().any(|problem| is_below(&problem.path));
                if roots.iter().any(is_below) && !is_hidden {
                    gone.push(Gone { agent: *agent, path, has_stamp: size != -1 });
                }
            }
            report.problems.extend(
                problems.iter().map(|one| source_problem(&one.path, one.error.to_string())),
            );
        }
        changed.sort_by_key(|source| Reverse(source.stamp.modified));
        Ok((changed, gone))
    }

    /// Returns all recorded sources with a single table scan. A source gets `NO_VERSION`, and is
    /// thus read again, if any of its sessions was read under an outdated redaction list.
    fn ledger(&self, words: &WordLists) -> Result<HashMap<Agent, KnownSources>> {
        let outdated = self.read_under_other_words(words)?;
        let mut statement = self
            .connection
            .prepare_cached("SELECT agent, path, size, modified, inode, version, id FROM source")?;
        let mut rows = statement.query([])?;
        let mut ledger: HashMap<Agent, KnownSources> = HashMap::new();
        while let Some(row) = rows.next()? {
            let name = row.get_ref(0)?.as_str().unwrap_or_default();
            let Some(agent) = Agent::from_name(name) else { continue };
            let version = if outdated.contains(&row.get(6)?) { NO_VERSION } else { row.get(5)? };
            let seen = ([row.get(2)?, row.get(3)?, row.get(4)?], version);
            ledger.entry(agent).or_default().insert(row.get(1)?, seen);
        }
        Ok(ledger)
    }

    fn note_gone(&mut self, gone: &[Gone], moment: Moment) -> Result<u64> {
        // Most missing sources were already missing in an earlier refresh and have no pending jobs,
        // so there is nothing to change.
        let sql = "SELECT DISTINCT o.path FROM job j JOIN session s ON s.id = j.session
             JOIN source o ON o.id = s.source WHERE j.state = 'pending'";
        let waiting = rows(&self.connection, sql, [], |row| row.get(0))?;
        let waiting: HashSet<String> = waiting.into_iter().collect();
        let is_news = |gone: &&Gone| gone.has_stamp || waiting.contains(&gone.path);
        let gone: Vec<&Gone> = gone.iter().filter(is_news).collect();
        if gone.is_empty() {
            return Ok(0);
        }
        self.write(|transaction| {
            let mut n_gone = 0;
            for Gone { agent, path, .. } in gone {
                let key = named_params! { ":agent": agent.as_str(), ":path": path };
                let n_forgotten = transaction
                    .prepare_cached(
                        "UPDATE source SET size = -1 WHERE agent = :agent AND path = :path AND size != -1",
                    )?
                    .execute(key)?;
                // After an interrupted first visit, a source has sessions but no stamp.
                let n_skipped = transaction
                    .prepare_cached(
                        "UPDATE job SET state = 'skipped', reason = :reason, changed = :now
                         WHERE state = 'pending' AND session IN (SELECT s.id FROM session s
                           JOIN source o ON o.id = s.source WHERE o.agent = :agent AND o.path = :path)",
                    )?
                    .execute(named_params! {
                        ":now": moment.now.as_millisecond(), ":agent": agent.as_str(), ":path": path, ":reason": GONE,
                    })?;
                if n_forgotten + n_skipped > 0 {
                    twins::settle_source(transaction, *agent, path, moment)?;
                }
                n_gone += n_skipped as u64;
            }
            Ok(n_gone)
        })
    }

    /// Queues sessions whose project was registered after they were read, without reading them
    /// again.
    fn readmit(&mut self, options: &RefreshOptions) -> Result<u64> {
        if options.projects.is_empty() {
            return Ok(0);
        }
        let sql = "SELECT DISTINCT cwd FROM session WHERE project IS NULL AND cwd IS NOT NULL";
        let cwds: Vec<String> = rows(&self.connection, sql, [], |row| row.get(0))?;
        let placed: Vec<(String, String)> = cwds
            .into_iter()
            .filter_map(|cwd| {
                let Placing::Project(root) = options.root_of(Some(&cwd)) else { return None };
                Some((cwd, path_text(&root)))
            })
            .collect();
        let moved = options.adopted.iter().filter(|(folder, _)| !options.projects.contains(folder));
        let moved: Vec<(&PathBuf, &PathBuf)> = moved.collect();
        if placed.is_empty() && moved.is_empty() {
            return Ok(0);
        }
        self.write(|transaction| {
            let mut n_admitted = 0;
            for (folder, project) in moved {
                transaction.execute(
                    "UPDATE session SET project = ?1, said = said + (said > 0) WHERE project = ?2",
                    (path_text(project), path_text(folder)),
                )?;
            }
            for (cwd, project) in &placed {
                n_admitted += readmit_from(transaction, cwd, project, options)?;
            }
            Ok(n_admitted)
        })
    }
}

/// The stamp and the adapter version of each source of an agent, by path.
type KnownSources = HashMap<String, ([i64; 3], i64)>;

struct Gone {
    agent: Agent,
    path: String,
    has_stamp: bool,
}

/// Assigns one directory's sessions to a project and queues those that were skipped because they
/// had no project. Their messages are indexed again, because searches can be filtered by project.
fn readmit_from(
    transaction: &Transaction,
    cwd: &str,
    project: &str,
    options: &RefreshOptions,
) -> rusqlite::Result<u64> {
    let moment = options.moment();
    let sql = "SELECT s.id, o.size, o.modified, o.inode, o.path, s.last_activity FROM session s JOIN job j ON j.session = s.id
         JOIN source o ON o.id = s.source
         WHERE s.project IS NULL AND s.cwd = ?1 AND j.state = 'skipped' AND j.reason = ?2";
    let waiting = rows(transaction, sql, (cwd, NO_PROJECT), |row| {
        let stamp = stamp_of(row.get(1)?, row.get(2)?, row.get(3)?);
        let (session, path): (i64, String) = (row.get(0)?, row.get(4)?);
        Ok((session, stamp, path, row.get::<_, Option<i64>>(5)?))
    })?;
    let mut n_admitted = 0;
    for (session, stamp, path, last_activity) in &waiting {
        let may_speak = may_speak_for(Path::new(path), Path::new(project), &options.projects);
        let admission = match may_speak {
            true => Admission::pending(last_activity.map(time_of), *stamp, moment),
            false => Admission::skipped(OUTSIDE),
        };
        set_job(transaction, *session, &admission, moment.now)?;
        n_admitted += u64::from(may_speak);
    }
    transaction
        .prepare_cached(
            "UPDATE session SET project = ?1, said = said + (said > 0) WHERE project IS NULL AND cwd = ?2
             AND id NOT IN (SELECT session FROM job WHERE reason = ?3)",
        )?
        .execute((project, cwd, OUTSIDE))?;
    Ok(n_admitted)
}

pub(super) fn source_problem(path: &Path, reason: String) -> SourceProblem {
    SourceProblem { path: path.display().to_string(), reason }
}
