//! One changed source into the catalog, session by session.
//!
//! Each session is recorded in one transaction with its texts, its facts and its place in the
//! queue, so a kill leaves it as it was before or after, never between. What could not be read is
//! counted with its reason, and everything else goes on. The source's stamp is kept only when all of
//! it was read, or can never be: whatever stands a chance is looked at again the next time.

use std::collections::BTreeSet;

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Transaction, named_params};

use super::db::Catalog;
use super::error::CatalogError;
use super::record::{
    Admission, GONE, Growth, Texts, inner, path_text, put_session, put_source, put_source_unread,
    record, set_job,
};
use super::refresh::{RefreshOptions, RefreshReport, SourceProblem};
use super::twins::{self, Moment};
use crate::transcript::{Adapter, Began, Error, Hope, Sink, Source, Trace, Watermark};

/// The reason of sessions in a database that was locked when it was to be read first.
const IN_USE: &str = "its agent was at work on it";

/// What became of one session of a source.
enum Taken {
    Unchanged,
    Read(Began),
    Failed { reason: String, hope: Hope },
}

/// What is known of a session from an earlier visit.
struct Seen {
    revision: Option<String>,
    watermark: Option<Watermark>,
    /// By this version of the adapter, to the end.
    is_read: bool,
}

impl Catalog {
    /// Reads the changed sessions of one source.
    pub(super) fn take_source(
        &mut self,
        adapter: &dyn Adapter,
        source: &Source,
        options: &RefreshOptions,
        report: &mut RefreshReport,
    ) -> Result<(), CatalogError> {
        let traces = match adapter.sessions(source) {
            Ok(traces) => traces,
            Err(error) => return self.leave_source(adapter, source, &error, options, report),
        };
        let mut is_settled = true;
        for trace in &traces {
            if options.max_sessions.is_some_and(|max| report.read >= max as u64) {
                report.left += 1;
                is_settled = false;
                break;
            }
            match self.take_session(adapter, trace, options)? {
                Taken::Unchanged => {}
                Taken::Read(began) => {
                    report.read += 1;
                    report.resumed += u64::from(began == Began::AtWatermark);
                }
                Taken::Failed { reason, hope } => {
                    report.problems.push(SourceProblem { path: source.path.clone(), reason });
                    is_settled &= hope == Hope::None;
                }
            }
        }
        report.bytes += source.stamp.size;
        self.write(|transaction| {
            let id = put_source_unread(transaction, source, adapter.version())?;
            forget_missing(transaction, id, &traces, options.moment())?;
            if is_settled {
                put_source(transaction, source, adapter.version())?;
            }
            Ok(())
        })
    }

    /// Notes a source whose sessions could not even be listed. What was read of it before stays as it
    /// is; of a new one, the source itself stands for its sessions until they are known.
    fn leave_source(
        &mut self,
        adapter: &dyn Adapter,
        source: &Source,
        error: &Error,
        options: &RefreshOptions,
        report: &mut RefreshReport,
    ) -> Result<(), CatalogError> {
        let (reason, hope) = (chain(error), error.hope());
        let whole = Trace::whole(source.clone());
        self.write(|transaction| {
            let id = match hope {
                Hope::None => put_source(transaction, source, adapter.version())?,
                Hope::Gone | Hope::Soon | Hope::Maybe => {
                    put_source_unread(transaction, source, adapter.version())?
                }
            };
            let is_known: bool = transaction.query_row(
                "SELECT EXISTS (SELECT 1 FROM session WHERE source = ?1 AND facts != '')",
                [id],
                |row| row.get(0),
            )?;
            if is_known {
                return Ok(());
            }
            let session = put_session(transaction, id, &whole)?;
            set_job(transaction, session, &failed(&reason, hope), options.now)
        })?;
        report.problems.push(SourceProblem { path: source.path.clone(), reason });
        Ok(())
    }

    fn take_session(
        &mut self,
        adapter: &dyn Adapter,
        trace: &Trace,
        options: &RefreshOptions,
    ) -> Result<Taken, CatalogError> {
        self.write(|transaction| {
            let seen = seen_before(transaction, trace, adapter.version())?;
            let is_same = |seen: &Seen| trace.revision.is_some() && seen.revision == trace.revision;
            if !options.force && seen.as_ref().is_some_and(|seen| is_same(seen) && seen.is_read) {
                return Ok(Taken::Unchanged);
            }
            let watermark = seen.and_then(|seen| seen.watermark).filter(|_| !options.force);
            let source = put_source_unread(transaction, &trace.source, adapter.version())?;
            let session = put_session(transaction, source, trace)?;
            transaction.execute_batch("SAVEPOINT reading")?;
            let mut texts = Texts::new(transaction, session);
            let mut take = |event| texts.take(&event);
            let outcome = adapter.read(trace, watermark.as_ref(), Sink::said(&mut take));
            if let Some(error) = texts.failure.take() {
                return Err(error);
            }
            match outcome {
                Err(error) => {
                    // What was taken of it belongs to no facts.
                    transaction.execute_batch("ROLLBACK TO reading; RELEASE reading")?;
                    let (reason, hope) = (chain(&error), error.hope());
                    leave_session(transaction, session, &reason, hope, options.now)?;
                    Ok(Taken::Failed { reason, hope })
                }
                Ok(outcome) => {
                    texts.finish(&outcome)?;
                    let growth = Growth::of(&outcome, &texts);
                    record(transaction, session, trace, (&outcome, growth), options)?;
                    transaction.execute_batch("RELEASE reading")?;
                    Ok(Taken::Read(outcome.began))
                }
            }
        })
    }
}

/// Where a session stands that could not be read.
fn failed(reason: &str, hope: Hope) -> Admission {
    match hope {
        Hope::Gone => Admission::skipped(GONE),
        Hope::Soon => Admission::skipped(IN_USE),
        Hope::Maybe | Hope::None => Admission::dead(reason),
    }
}

/// Notes a session that could not be read; one that was read before keeps its place while there is
/// hope, for what is known of it still holds.
fn leave_session(
    transaction: &Transaction<'_>,
    session: i64,
    reason: &str,
    hope: Hope,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let (facts, state): (String, Option<String>) = transaction.query_row(
        "SELECT s.facts, j.state FROM session s LEFT JOIN job j ON j.session = s.id WHERE s.id = ?1",
        [session],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let is_waiting = matches!(state.as_deref(), None | Some("pending"));
    match hope {
        Hope::Soon if !facts.is_empty() => Ok(()),
        Hope::Gone if !facts.is_empty() && !is_waiting => Ok(()),
        Hope::Gone | Hope::Soon | Hope::Maybe | Hope::None => {
            set_job(transaction, session, &failed(reason, hope), now)
        }
    }
}

/// Settles the sessions that a source held once and no longer does.
fn forget_missing(
    transaction: &Transaction<'_>,
    source: i64,
    traces: &[Trace],
    moment: Moment,
) -> rusqlite::Result<()> {
    let found: BTreeSet<&str> = traces.iter().map(inner).collect();
    let known: Vec<(i64, String, bool)> = transaction
        .prepare_cached(
            "SELECT s.id, s.inner_id, s.facts = '' FROM session s JOIN job j ON j.session = s.id
             WHERE s.source = ?1 AND j.state != 'running'",
        )?
        .query_map([source], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<Result<_, _>>()?;
    for (session, inner_id, is_stand_in) in known {
        if found.contains(inner_id.as_str()) {
            continue;
        }
        if is_stand_in {
            transaction.execute("DELETE FROM job WHERE session = ?1", [session])?;
            transaction.execute("DELETE FROM session WHERE id = ?1", [session])?;
            continue;
        }
        transaction.execute(
            "UPDATE job SET state = 'skipped', reason = :reason, changed = :now
             WHERE session = :session AND state = 'pending'",
            named_params! { ":reason": GONE, ":now": moment.now.as_millisecond(), ":session": session },
        )?;
        // Should it come back, it is read again.
        transaction.execute("UPDATE session SET revision = NULL WHERE id = ?1", [session])?;
        twins::settle(transaction, session, moment)?;
    }
    Ok(())
}

fn seen_before(
    transaction: &Transaction<'_>,
    trace: &Trace,
    version: u32,
) -> rusqlite::Result<Option<Seen>> {
    let mut statement = transaction.prepare_cached(
        "SELECT s.revision, s.watermark, s.facts != '' AND o.version = ?4 FROM session s
         JOIN source o ON o.id = s.source WHERE o.agent = ?1 AND o.path = ?2 AND s.inner_id = ?3",
    )?;
    let key = (trace.source.agent.as_str(), path_text(&trace.source.path), inner(trace), version);
    statement
        .query_row(key, |row| {
            let watermark: Option<String> = row.get(1)?;
            let watermark =
                watermark.and_then(|json| serde_json::from_str::<Watermark>(&json).ok());
            Ok(Seen { revision: row.get(0)?, watermark, is_read: row.get(2)? })
        })
        .optional()
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
