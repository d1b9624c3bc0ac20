//! Bringing the catalog up to date: find, read what changed, and say what waits.
//!
//! A source that is no longer there keeps what was read of it, but its stamp is forgotten: should it
//! come back, it is read again. What lies below a folder that could not be looked into is not gone.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

use foldhash::fast::RandomState;
use rusqlite::{Transaction, named_params};

use super::admission::{Admission, GONE, Moment, NO_PROJECT, OUTSIDE, set_job};
use super::columns::{columns, path_text, stamp_of};
use super::db::Catalog;
use super::error::CatalogError;
use super::place::{Placing, may_speak_for, project_root};
use super::refresh_options::{Connection, Progress, RefreshOptions, RefreshReport, SourceProblem};
use super::twins;
use super::words::WordLists;
use crate::transcript::{ADAPTERS, Adapter, Agent, Discovery, Source, Stamp, SyncBudget};

/// Of a source that is to be read again whatever its stamp says; no adapter has it.
const NO_VERSION: i64 = -1;

impl Catalog {
    /// Finds new and changed traces, reads them, and puts their sessions into the queue. `progress` is asked before each
    /// source whether to go on.
    pub fn refresh(
        &mut self,
        options: &RefreshOptions,
        progress: impl FnMut(Progress<'_>) -> ControlFlow<()>,
    ) -> Result<RefreshReport, CatalogError> {
        Ok(self.refresh_sources(options, progress)?.1)
    }

    /// The same, with the sources that were opened.
    pub fn refresh_sources(
        &mut self,
        options: &RefreshOptions,
        mut progress: impl FnMut(Progress<'_>) -> ControlFlow<()>,
    ) -> Result<(Vec<Source>, RefreshReport), CatalogError> {
        // What a stranger's traces cost is bounded over all of them, too.
        let _budget = SyncBudget::begin();
        let readmitted = self.readmit(options)?;
        let reworded = self.keep_out(&options.words)?;
        let mut report = RefreshReport { readmitted, reworded, ..RefreshReport::default() };
        let mut changed = Vec::new();
        let (found, mut ledger) = self.look(options)?;
        for found in found {
            let (agent, adapter) = (found.connection.agent, found.adapter);
            let known = ledger.remove(&agent).unwrap_or_default();
            let (sources, gone) = changed_among(known, found, options, &mut report);
            report.gone += self.note_gone(&gone, agent, options.moment())?;
            changed.extend(sources.into_iter().map(|source| (adapter, source)));
        }
        // The newest first: what was just done is what the next session needs.
        changed.sort_by_key(|(_, source)| Reverse(source.stamp.modified));
        let total = changed.len() as u64;
        let mut opened = Vec::new();
        for (done, (adapter, source)) in (0_u64..).zip(changed) {
            let is_enough = options.max_sessions.is_some_and(|max| report.read >= max as u64);
            let now = Progress { done, total, bytes: report.bytes, path: &source.path };
            if is_enough || progress(now).is_break() {
                report.left = total - done;
                break;
            }
            self.take_source(adapter, &source, options, &mut report)?;
            opened.push(source);
        }
        Ok((opened, report))
    }

    /// The sources that changed, and what could not be looked into; opens none of them and changes nothing.
    pub fn preview(
        &mut self,
        options: &RefreshOptions,
    ) -> Result<(Vec<Source>, RefreshReport), CatalogError> {
        let mut report = RefreshReport::default();
        let mut changed = Vec::new();
        let (found, mut ledger) = self.look(options)?;
        for found in found {
            let known = ledger.remove(&found.connection.agent).unwrap_or_default();
            changed.extend(changed_among(known, found, options, &mut report).0);
        }
        changed.sort_by_key(|source| Reverse(source.stamp.modified));
        Ok((changed, report))
    }

    /// What lies on the disk, and what was known of it before: each is found while the other is read.
    fn look<'a>(
        &self,
        options: &'a RefreshOptions,
    ) -> Result<(Vec<Found<'a>>, HashMap<Agent, Known>), CatalogError> {
        let connections = &options.connections;
        let (found, ledger) = thread::scope(|scope| {
            let walk = scope.spawn(|| connections.iter().filter_map(found_for).collect());
            let ledger = self.ledger(&options.words);
            (walk.join(), ledger)
        });
        Ok((found.unwrap_or_else(|panic| resume_unwind(panic)), ledger?))
    }

    /// All sources as they were when they were read, in one walk over the table. One with sessions that were read under
    /// another list of words has no version, and so is read again.
    fn ledger(&self, words: &WordLists) -> Result<HashMap<Agent, Known>, CatalogError> {
        let outdated = self.read_under_other_words(words)?;
        let mut statement = self
            .connection
            .prepare_cached("SELECT agent, path, size, modified, inode, version, id FROM source")?;
        let mut rows = statement.query([])?;
        let mut ledger: HashMap<Agent, Known> = HashMap::new();
        while let Some(row) = rows.next()? {
            let name = row.get_ref(0)?.as_str().unwrap_or_default();
            let Some(agent) = Agent::from_name(name) else { continue };
            let version = if outdated.contains(&row.get(6)?) { NO_VERSION } else { row.get(5)? };
            let seen = ([row.get(2)?, row.get(3)?, row.get(4)?], version);
            ledger.entry(agent).or_default().insert(row.get(1)?, seen);
        }
        Ok(ledger)
    }

    /// Takes the sessions of sources that are no longer there out of the queue.
    fn note_gone(
        &mut self,
        gone: &[Gone],
        agent: Agent,
        moment: Moment,
    ) -> Result<u64, CatalogError> {
        if gone.is_empty() {
            return Ok(0);
        }
        // Most were gone the last time, too, and have nothing waiting.
        let mut statement = self.connection.prepare_cached(
            "SELECT DISTINCT o.path FROM job j JOIN session s ON s.id = j.session
             JOIN source o ON o.id = s.source WHERE j.state = 'pending' AND o.agent = ?1",
        )?;
        let waiting = statement.query_map([agent.as_str()], |row| row.get(0))?;
        let waiting: HashSet<String> = waiting.collect::<Result<_, _>>()?;
        drop(statement);
        let is_news = |gone: &&Gone| gone.has_stamp || waiting.contains(&gone.path);
        let gone: Vec<&String> = gone.iter().filter(is_news).map(|gone| &gone.path).collect();
        if gone.is_empty() {
            return Ok(0);
        }
        self.write(|transaction| {
            let mut n_gone = 0;
            for path in gone {
                let key = named_params! { ":agent": agent.as_str(), ":path": path };
                let n_forgotten = transaction
                    .prepare_cached(
                        "UPDATE source SET size = -1 WHERE agent = :agent AND path = :path AND size != -1",
                    )?
                    .execute(key)?;
                // A source whose first visit was cut short has no stamp to forget, and yet its sessions.
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
                    twins::settle_source(transaction, agent, path, moment)?;
                }
                n_gone += n_skipped as u64;
            }
            Ok(n_gone)
        })
    }

    /// Admits sessions whose project was registered after they were read, without reading them again.
    fn readmit(&mut self, options: &RefreshOptions) -> Result<u64, CatalogError> {
        if options.projects.is_empty() {
            return Ok(0);
        }
        let mut statement = self.connection.prepare_cached(
            "SELECT DISTINCT cwd FROM session WHERE project IS NULL AND cwd IS NOT NULL",
        )?;
        let cwds = statement.query_map([], |row| row.get(0))?;
        let cwds: Vec<String> = cwds.collect::<Result<_, _>>()?;
        drop(statement);
        let placed: Vec<(String, String)> = cwds
            .into_iter()
            .filter_map(|cwd| match project_root(Some(&cwd), &options.projects) {
                Placing::Project(root) => Some((cwd, path_text(&root))),
                Placing::Elsewhere(_) | Placing::Unregistered(_) | Placing::Nowhere => None,
            })
            .collect();
        if placed.is_empty() {
            return Ok(0);
        }
        self.write(|transaction| {
            let mut n_admitted = 0;
            for (cwd, project) in &placed {
                n_admitted += readmit_from(transaction, (cwd, project), options)?;
            }
            Ok(n_admitted)
        })
    }
}

/// What was found of one agent.
struct Found<'a> {
    connection: &'a Connection,
    adapter: &'static dyn Adapter,
    discovery: Discovery,
}

fn found_for(connection: &Connection) -> Option<Found<'_>> {
    let adapter = ADAPTERS.iter().copied().find(|adapter| adapter.agent() == connection.agent)?;
    Some(Found { connection, adapter, discovery: adapter.discover(&connection.roots) })
}

/// A known source that was not found.
struct Gone {
    path: String,
    /// Whether this is the first look that misses it.
    has_stamp: bool,
}

/// Gives the sessions of one folder their project, and puts those that waited for it into the queue. What was said in them
/// is found by the project from now on, so it is indexed again.
fn readmit_from(
    transaction: &Transaction<'_>,
    (cwd, project): (&str, &str),
    options: &RefreshOptions,
) -> rusqlite::Result<u64> {
    let moment = options.moment();
    let mut statement = transaction.prepare_cached(
        "SELECT s.id, o.size, o.modified, o.inode, o.path FROM session s JOIN job j ON j.session = s.id
         JOIN source o ON o.id = s.source
         WHERE s.project IS NULL AND s.cwd = ?1 AND j.state = 'skipped' AND j.reason = ?2",
    )?;
    let waiting = statement.query_map((cwd, NO_PROJECT), |row| {
        Ok((row.get(0)?, stamp_of(row.get(1)?, row.get(2)?, row.get(3)?), row.get(4)?))
    })?;
    let waiting: Vec<(i64, Stamp, String)> = waiting.collect::<Result<_, _>>()?;
    let mut n_admitted = 0;
    for (session, stamp, path) in &waiting {
        let may_speak = may_speak_for(Path::new(path), Path::new(project), &options.projects);
        let admission = match may_speak {
            true => Admission::pending(*stamp, moment),
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

/// Sources by path, each with its stamp and the version of the adapter that read it.
type Known = HashMap<String, ([i64; 3], i64), RandomState>;

/// The sources of one agent that are to be read, and the known ones that were not found.
fn changed_among(
    mut known: Known,
    found: Found<'_>,
    options: &RefreshOptions,
    report: &mut RefreshReport,
) -> (Vec<Source>, Vec<Gone>) {
    let Found { connection, adapter, discovery } = found;
    report.problems.extend(discovery.problems.iter().map(|problem| SourceProblem {
        path: problem.path.clone(),
        reason: problem.error.to_string(),
    }));
    let hidden: Vec<PathBuf> =
        discovery.problems.iter().map(|problem| problem.path.clone()).collect();
    let version = i64::from(adapter.version());
    // What is found leaves the map; what stays in it was not found.
    let mut is_changed = |source: &Source| {
        let seen = known.remove(source.path.to_string_lossy().as_ref());
        options.force || seen != Some((columns(source.stamp), version))
    };
    let in_window = |source: &Source| {
        let modified = source.stamp.modified.unwrap_or(options.now);
        options.since.is_none_or(|since| modified >= since)
            && options.until.is_none_or(|until| modified < until)
    };
    let n_found = discovery.sources.len();
    let changed: Vec<Source> = discovery
        .sources
        .into_iter()
        .filter(|source| is_changed(source) && in_window(source))
        .collect();
    report.sources += n_found as u64;
    report.unchanged += (n_found - changed.len()) as u64;
    let is_below = |path: &Path| connection.roots.iter().any(|root| path.starts_with(root));
    let is_hidden = |path: &Path| hidden.iter().any(|folder| path.starts_with(folder));
    let is_gone = |path: &Path| is_below(path) && !is_hidden(path);
    let gone = known
        .into_iter()
        .filter(|(path, _)| is_gone(Path::new(path)))
        .map(|(path, ([size, ..], _))| Gone { path, has_stamp: size != -1 })
        .collect();
    (changed, gone)
}
