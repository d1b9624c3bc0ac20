//! One changed source into the catalog, session by session.
//!
//! Each session is recorded in one transaction with its texts, its facts and its place in the
//! queue, so a kill leaves it as it was before or after, never between. What could not be read is
//! counted with its reason, and everything else goes on. The source's stamp is kept only when all of
//! it was read, or can never be: whatever stands a chance is looked at again the next time.

use std::collections::BTreeSet;

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Transaction, named_params};

use super::admission::{Admission, GONE, Moment, set_job};
use super::columns::path_text;
use super::db::Catalog;
use super::error::CatalogError;
use super::place::Placing;
use super::record::{
    Growth, NewlyRead, Texts, inner, put_session, put_source, put_source_unread, record,
};
use super::refresh_options::{RefreshOptions, RefreshReport, SourceProblem};
use super::twins;
use super::words::fingerprint;
use crate::base::redact::ExtraWords;
use crate::transcript::{
    Adapter, Began, Error, ReadOutcome, Retryability, SessionFacts, Sink, Source, Trace, Watermark,
};

/// The reason of sessions in a database that was locked when it was to be read first.
const IN_USE: &str = "its agent was at work on it";

/// The reason of sessions that came after traces which took all that one refresh may take.
const LEFT_OUT: &str = "other traces took too long; the next sync reads it";

/// The reason of a session that said something else of its folder each time it was looked at.
const MOVED: &str = "its folder changed while it was read";

/// What became of one session of a source.
enum Taken {
    Unchanged,
    Read(Began),
    Failed { reason: String, hope: Retryability },
}

/// What is known of a session from an earlier visit.
struct Seen {
    revision: Option<String>,
    watermark: Option<Watermark>,
    /// By this version of the adapter, to the end.
    is_read: bool,
    cwd: Option<String>,
    /// The list that it was read under.
    words: i64,
    facts: Option<SessionFacts>,
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
        for (done, trace) in traces.iter().enumerate() {
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
                    is_settled &= matches!(hope, Retryability::None | Retryability::Spent);
                    let n_more = traces.len() - done - 1;
                    let is_over = matches!(hope, Retryability::Spent | Retryability::NextSync);
                    let reason = match is_over && 0 < n_more {
                        true => format!("{reason} ({n_more} more of its sessions were not read)"),
                        false => reason,
                    };
                    report.problems.push(SourceProblem { path: source.path.clone(), reason });
                    if hope == Retryability::NextSync {
                        report.left += 1 + n_more as u64;
                    }
                    if is_over {
                        break;
                    }
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
                Retryability::Spent | Retryability::None => {
                    put_source(transaction, source, adapter.version())?
                }
                Retryability::Gone
                | Retryability::Soon
                | Retryability::NextSync
                | Retryability::Maybe => put_source_unread(transaction, source, adapter.version())?,
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
        report.left += u64::from(hope == Retryability::NextSync);
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
            Visit { transaction, adapter, trace, options, seen }.take()
        })
    }
}

/// One look at one session.
struct Visit<'t> {
    transaction: &'t Transaction<'t>,
    adapter: &'t dyn Adapter,
    trace: &'t Trace,
    options: &'t RefreshOptions,
    seen: Option<Seen>,
}

/// What a read came to.
enum Reading<'o> {
    Taken(Began),
    Failed {
        reason: String,
        hope: Retryability,
    },
    /// It belongs to a project whose words are others than those that were kept out.
    OtherWords(&'o ExtraWords),
}

impl<'t> Visit<'t> {
    fn take(&self) -> rusqlite::Result<Taken> {
        let force = self.options.force;
        let words = self.words();
        // A list that is not known is no reason to look at what did not change.
        let has_same_words = words.as_ref().map_or(true, |words| self.was_read_under(words));
        let is_same =
            |seen: &Seen| self.trace.revision.is_some() && seen.revision == self.trace.revision;
        let is_unchanged = |seen: &Seen| is_same(seen) && seen.is_read && has_same_words;
        if !force && self.seen.as_ref().is_some_and(is_unchanged) {
            return Ok(Taken::Unchanged);
        }
        let source =
            put_source_unread(self.transaction, &self.trace.source, self.adapter.version())?;
        let session = put_session(self.transaction, source, self.trace)?;
        let watermark = self.seen.as_ref().and_then(|seen| seen.watermark.as_ref());
        let watermark = watermark.filter(|_| !force && has_same_words);
        let first = match words {
            Ok(words) => self.read(session, words, watermark)?,
            Err(reason) => Reading::Failed { reason, hope: Retryability::Maybe },
        };
        let last = match first {
            Reading::OtherWords(words) => self.read(session, words, None)?,
            first @ (Reading::Taken(_) | Reading::Failed { .. }) => first,
        };
        let (reason, hope) = match last {
            Reading::Taken(began) => return Ok(Taken::Read(began)),
            Reading::Failed { reason, hope } => (reason, hope),
            Reading::OtherWords(_) => (MOVED.to_owned(), Retryability::Maybe),
        };
        leave_session(self.transaction, session, &reason, hope, self.options.now)?;
        Ok(Taken::Failed { reason, hope })
    }

    /// The words to keep out of it. Where projects have different ones, a trace that was never read is looked through
    /// for its folder first: nothing may reach the disk before it is known whose it is.
    fn words(&self) -> Result<&'t ExtraWords, String> {
        let words = &self.options.words;
        let known = self.seen.as_ref().and_then(|seen| seen.cwd.clone());
        let cwd = match known {
            None if !words.are_alike() => {
                let looked = self.adapter.read(self.trace, None, Sink::said(&mut |_| {}));
                looked.ok().and_then(|outcome| outcome.facts.cwd)
            }
            known => known,
        };
        let placing = self.placing(cwd.as_deref());
        words.of(placing.named()).map_err(str::to_owned)
    }

    fn placing(&self, cwd: Option<&str>) -> Placing {
        self.options.placing(&self.trace.source.path, cwd)
    }

    fn was_read_under(&self, words: &ExtraWords) -> bool {
        self.seen.as_ref().is_some_and(|seen| seen.words == fingerprint(words))
    }

    /// Reads it; what was taken of a read that failed, or of another project's, is taken back.
    fn read(
        &self,
        session: i64,
        words: &'t ExtraWords,
        watermark: Option<&Watermark>,
    ) -> rusqlite::Result<Reading<'t>> {
        self.transaction.execute_batch("SAVEPOINT reading")?;
        let mut texts = Texts::new(self.transaction, session, words);
        let mut take = |event| texts.take(event);
        let outcome = self.adapter.read(self.trace, watermark, Sink::said(&mut take));
        if let Some(error) = texts.failure.take() {
            return Err(error);
        }
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(error) => {
                return self.back(Reading::Failed { reason: chain(&error), hope: error.hope() });
            }
        };
        let placing = self.placing(outcome.facts.cwd.as_deref());
        match self.options.words.of(placing.named()) {
            Err(reason) => {
                return self.back(Reading::Failed {
                    reason: reason.to_owned(),
                    hope: Retryability::Maybe,
                });
            }
            Ok(own) if own.fingerprint() != words.fingerprint() => {
                return self.back(Reading::OtherWords(own));
            }
            Ok(_) => {}
        }
        texts.finish(&outcome)?;
        let growth = self.growth(&outcome, &texts);
        let read = NewlyRead { outcome: &outcome, growth, placing: &placing, words };
        record(self.transaction, session, self.trace, read, self.options.moment())?;
        self.transaction.execute_batch("RELEASE reading")?;
        Ok(Reading::Taken(outcome.began))
    }

    fn back(&self, reading: Reading<'t>) -> rusqlite::Result<Reading<'t>> {
        self.transaction.execute_batch("ROLLBACK TO reading; RELEASE reading")?;
        Ok(reading)
    }

    /// Whether it says anything new. A session that is read again for the sake of other words need not.
    fn growth(&self, outcome: &ReadOutcome, texts: &Texts<'_>) -> Growth {
        let before = self.seen.as_ref().filter(|_| !self.options.force);
        let before = before.filter(|seen| seen.words != texts.words());
        let says_the_same = before.and_then(|seen| seen.facts.as_ref()).is_some_and(|facts| {
            facts.counts == outcome.facts.counts
                && facts.last_activity == outcome.facts.last_activity
        });
        if says_the_same { Growth::Same } else { Growth::of(outcome, texts) }
    }
}

/// Where a session stands that could not be read.
fn failed(reason: &str, hope: Retryability) -> Admission {
    match hope {
        Retryability::Gone => Admission::skipped(GONE),
        Retryability::Soon => Admission::skipped(IN_USE),
        Retryability::NextSync => Admission::skipped(LEFT_OUT),
        Retryability::Spent | Retryability::Maybe | Retryability::None => Admission::dead(reason),
    }
}

/// Notes a session that could not be read; one that was read before keeps its place while there is
/// hope, for what is known of it still holds.
fn leave_session(
    transaction: &Transaction<'_>,
    session: i64,
    reason: &str,
    hope: Retryability,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let (facts, state): (String, Option<String>) = transaction.query_row(
        "SELECT s.facts, j.state FROM session s LEFT JOIN job j ON j.session = s.id WHERE s.id = ?1",
        [session],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let is_waiting = matches!(state.as_deref(), None | Some("pending"));
    match hope {
        Retryability::Soon | Retryability::NextSync if !facts.is_empty() => Ok(()),
        Retryability::Gone if !facts.is_empty() && !is_waiting => Ok(()),
        Retryability::Gone
        | Retryability::Soon
        | Retryability::NextSync
        | Retryability::Spent
        | Retryability::Maybe
        | Retryability::None => set_job(transaction, session, &failed(reason, hope), now),
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
        "SELECT s.revision, s.watermark, s.facts != '' AND o.version = ?4, s.cwd, s.words_read, s.facts FROM session s
         JOIN source o ON o.id = s.source WHERE o.agent = ?1 AND o.path = ?2 AND s.inner_id = ?3",
    )?;
    let key = (trace.source.agent.as_str(), path_text(&trace.source.path), inner(trace), version);
    statement
        .query_row(key, |row| {
            let watermark: Option<String> = row.get(1)?;
            let watermark =
                watermark.and_then(|json| serde_json::from_str::<Watermark>(&json).ok());
            let facts: String = row.get(5)?;
            Ok(Seen {
                revision: row.get(0)?,
                watermark,
                is_read: row.get(2)?,
                cwd: row.get(3)?,
                words: row.get(4)?,
                facts: serde_json::from_str(&facts).ok(),
            })
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
