//! Bringing the catalog up to date: find, read what changed, and say what waits.
//!
//! Each session is recorded in one transaction with its texts, its facts and its place in the
//! queue, so a kill leaves it as it was before or after, never between. A trace that cannot be read
//! is recorded as dead with its reason, and everything else goes on.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, named_params};

use super::db::Catalog;
use super::error::CatalogError;
use super::job::JobState;
use super::place::{Placing, project_root};
use super::record::{
    Admission, NO_PROJECT, Texts, columns, inner, path_text, put_session, put_source,
    put_source_unread, record, set_job,
};
use crate::transcript::{ADAPTERS, Adapter, Agent, Began, Discovery, Source, Trace, Watermark};

/// An agent and where it keeps its traces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    pub agent: Agent,
    pub roots: Vec<PathBuf>,
}

/// What to bring up to date, and how.
#[derive(Clone, Debug)]
pub struct RefreshOptions {
    pub connections: Vec<Connection>,
    /// Roots of the registered projects.
    pub projects: Vec<PathBuf>,
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
    /// Sessions that were admitted again because their project was registered since.
    pub readmitted: u64,
    /// Sources that are gone.
    pub gone: u64,
    pub problems: Vec<SourceProblem>,
    /// Left for the next refresh by `max_sessions`.
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

impl Catalog {
    /// Finds new and changed traces, reads them, and puts their sessions into the queue.
    pub fn refresh(
        &mut self,
        options: &RefreshOptions,
        mut progress: impl FnMut(Progress<'_>),
    ) -> Result<RefreshReport, CatalogError> {
        let mut report =
            RefreshReport { readmitted: self.readmit(options)?, ..RefreshReport::default() };
        let mut changed = Vec::new();
        for connection in &options.connections {
            let Some(adapter) = adapter_of(connection.agent) else { continue };
            changed.extend(
                self.changed_sources(adapter, connection, options, &mut report)?
                    .into_iter()
                    .map(|source| (adapter, source)),
            );
        }
        // The newest first: what was just done is what the next session needs.
        changed.sort_by_key(|(_, source)| Reverse(source.stamp.modified));
        let total = changed.len() as u64;
        for (done, (adapter, source)) in (0_u64..).zip(&changed) {
            if options.max_sessions.is_some_and(|max| report.read >= max as u64) {
                report.left = total - done;
                break;
            }
            progress(Progress { done, total, bytes: report.bytes, path: &source.path });
            self.take_source(*adapter, source, options, &mut report)?;
        }
        Ok(report)
    }

    /// The sources that a refresh would read, and what it could not look into; changes nothing.
    pub fn preview(
        &mut self,
        options: &RefreshOptions,
    ) -> Result<(Vec<Source>, RefreshReport), CatalogError> {
        let mut report = RefreshReport::default();
        let mut changed = Vec::new();
        for connection in &options.connections {
            let Some(adapter) = adapter_of(connection.agent) else { continue };
            let discovery = adapter.discover(&connection.roots);
            changed.extend(
                self.changed_among(discovery, adapter, connection, options, &mut report)?.0,
            );
        }
        changed.sort_by_key(|source| Reverse(source.stamp.modified));
        Ok((changed, report))
    }

    /// The sources of one agent that are new or differ from what was seen; notes those that are gone.
    fn changed_sources(
        &mut self,
        adapter: &'static dyn Adapter,
        connection: &Connection,
        options: &RefreshOptions,
        report: &mut RefreshReport,
    ) -> Result<Vec<Source>, CatalogError> {
        let discovery = adapter.discover(&connection.roots);
        let (changed, gone) =
            self.changed_among(discovery, adapter, connection, options, report)?;
        report.gone += self.note_gone(&gone, connection.agent, options.now)?;
        Ok(changed)
    }

    /// Of what was found, the sources to read; and the known ones that were not found.
    fn changed_among(
        &self,
        discovery: Discovery,
        adapter: &'static dyn Adapter,
        connection: &Connection,
        options: &RefreshOptions,
        report: &mut RefreshReport,
    ) -> Result<(Vec<Source>, Vec<String>), CatalogError> {
        report.problems.extend(discovery.problems.iter().map(|problem| SourceProblem {
            path: problem.path.clone(),
            reason: problem.error.to_string(),
        }));
        let known = self.known_sources(connection.agent)?;
        let found: BTreeSet<&Path> =
            discovery.sources.iter().map(|source| source.path.as_path()).collect();
        let is_below = |path: &Path| connection.roots.iter().any(|root| path.starts_with(root));
        let is_gone = |path: &&PathBuf| !found.contains(path.as_path()) && is_below(path);
        let gone: Vec<String> = known.keys().filter(is_gone).map(|path| path_text(path)).collect();
        let version = i64::from(adapter.version());
        let is_changed = |source: &Source| {
            options.force
                || known
                    .get(&source.path)
                    .is_none_or(|seen| *seen != (columns(source.stamp), version))
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
            .filter(|source| in_window(source) && is_changed(source))
            .collect();
        report.sources += n_found as u64;
        report.unchanged += (n_found - changed.len()) as u64;
        Ok((changed, gone))
    }

    fn known_sources(
        &self,
        agent: Agent,
    ) -> Result<HashMap<PathBuf, ([i64; 3], i64)>, CatalogError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT path, size, modified, inode, version FROM source WHERE agent = ?1",
        )?;
        let rows = statement.query_map([agent.as_str()], |row| {
            let path: String = row.get(0)?;
            Ok((PathBuf::from(path), ([row.get(1)?, row.get(2)?, row.get(3)?], row.get(4)?)))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Takes the sessions of sources that are no longer there out of the queue.
    fn note_gone(
        &mut self,
        gone: &[String],
        agent: Agent,
        now: Timestamp,
    ) -> Result<u64, CatalogError> {
        if gone.is_empty() {
            return Ok(0);
        }
        self.write(|transaction| {
            let mut n_gone = 0;
            for path in gone {
                n_gone += transaction.execute(
                    "UPDATE job SET state = 'skipped', reason = 'the trace is gone', changed = :now
                     WHERE state = 'pending' AND session IN (SELECT s.id FROM session s
                       JOIN source o ON o.id = s.source WHERE o.agent = :agent AND o.path = :path)",
                    named_params! { ":now": now.as_millisecond(), ":agent": agent.as_str(), ":path": path },
                )? as u64;
            }
            Ok(n_gone)
        })
    }

    /// Reads the changed sessions of one source.
    fn take_source(
        &mut self,
        adapter: &dyn Adapter,
        source: &Source,
        options: &RefreshOptions,
        report: &mut RefreshReport,
    ) -> Result<(), CatalogError> {
        let traces = match adapter.sessions(source) {
            Ok(traces) => traces,
            Err(error) => {
                let reason = chain(&error);
                self.record_dead(adapter, source, &reason, options.now)?;
                report.problems.push(SourceProblem { path: source.path.clone(), reason });
                return Ok(());
            }
        };
        for trace in traces {
            match self.take_session(adapter, &trace, options)? {
                Taken::Unchanged => {}
                Taken::Read(began) => {
                    report.read += 1;
                    report.resumed += u64::from(began == Began::AtWatermark);
                }
                Taken::Failed(reason) => {
                    report.problems.push(SourceProblem { path: source.path.clone(), reason });
                }
            }
        }
        report.bytes += source.stamp.size;
        self.write(|transaction| put_source(transaction, source, adapter.version()).map(drop))
    }

    fn take_session(
        &mut self,
        adapter: &dyn Adapter,
        trace: &Trace,
        options: &RefreshOptions,
    ) -> Result<Taken, CatalogError> {
        let seen = self.seen_before(trace)?;
        let is_same = |seen: &Seen| trace.revision.is_some() && seen.revision == trace.revision;
        if !options.force && seen.as_ref().is_some_and(|seen| is_same(seen) && seen.is_read) {
            return Ok(Taken::Unchanged);
        }
        let watermark = seen.and_then(|seen| seen.watermark).filter(|_| !options.force);
        self.write(|transaction| {
            let source = put_source_unread(transaction, &trace.source)?;
            let session = put_session(transaction, source, trace)?;
            let mut texts = Texts::new(transaction, session);
            let outcome = adapter.read(trace, watermark.as_ref(), &mut |event| texts.take(&event));
            let failure = texts.failure.take();
            match (outcome, failure) {
                (_, Some(error)) => Err(error),
                (Err(error), None) => {
                    let reason = chain(&error);
                    set_job(transaction, session, &Admission::dead(&reason), options.now)?;
                    Ok(Taken::Failed(reason))
                }
                (Ok(outcome), None) => {
                    texts.forget_before(&outcome)?;
                    record(transaction, session, trace, &outcome, options)?;
                    Ok(Taken::Read(outcome.began))
                }
            }
        })
    }

    fn seen_before(&self, trace: &Trace) -> Result<Option<Seen>, CatalogError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT s.revision, s.watermark, s.facts != '' FROM session s JOIN source o ON o.id = s.source
             WHERE o.agent = ?1 AND o.path = ?2 AND s.inner_id = ?3",
        )?;
        let key = (trace.source.agent.as_str(), path_text(&trace.source.path), inner(trace));
        let seen = statement
            .query_row(key, |row| {
                let watermark: Option<String> = row.get(1)?;
                let watermark =
                    watermark.and_then(|json| serde_json::from_str::<Watermark>(&json).ok());
                Ok(Seen { revision: row.get(0)?, watermark, is_read: row.get(2)? })
            })
            .optional()?;
        Ok(seen)
    }

    fn record_dead(
        &mut self,
        adapter: &dyn Adapter,
        source: &Source,
        reason: &str,
        now: Timestamp,
    ) -> Result<(), CatalogError> {
        let trace = Trace::whole(source.clone());
        self.write(|transaction| {
            let source_id = put_source(transaction, source, adapter.version())?;
            let session = put_session(transaction, source_id, &trace)?;
            set_job(transaction, session, &Admission::dead(reason), now)
        })
    }

    /// Admits sessions whose project was registered after they were read, without reading them again.
    fn readmit(&mut self, options: &RefreshOptions) -> Result<u64, CatalogError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT s.id, s.cwd FROM session s JOIN job j ON j.session = s.id
             WHERE j.state = 'skipped' AND j.reason = ?1 AND s.cwd IS NOT NULL",
        )?;
        let waiting: Vec<(i64, String)> = statement
            .query_map([NO_PROJECT], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        drop(statement);
        let mut by_cwd: BTreeMap<String, Option<String>> = BTreeMap::new();
        let mut admitted = Vec::new();
        for (session, cwd) in waiting {
            let project = by_cwd.entry(cwd).or_insert_with_key(|cwd| {
                match project_root(Some(cwd), &options.projects) {
                    Placing::Project(root) => Some(path_text(&root)),
                    Placing::Unregistered(_) | Placing::Nowhere => None,
                }
            });
            admitted.extend(project.clone().map(|project| (session, project)));
        }
        if admitted.is_empty() {
            return Ok(0);
        }
        self.write(|transaction| {
            for (session, project) in &admitted {
                transaction
                    .execute("UPDATE session SET project = ?1 WHERE id = ?2", (project, session))?;
                let admission = Admission { state: JobState::Pending, reason: None, not_before: 0 };
                set_job(transaction, *session, &admission, options.now)?;
            }
            Ok(admitted.len() as u64)
        })
    }
}

/// What became of one session of a source.
enum Taken {
    Unchanged,
    Read(Began),
    Failed(String),
}

struct Seen {
    revision: Option<String>,
    watermark: Option<Watermark>,
    is_read: bool,
}

fn adapter_of(agent: Agent) -> Option<&'static dyn Adapter> {
    ADAPTERS.iter().copied().find(|adapter| adapter.agent() == agent)
}

/// An error and its causes on one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
