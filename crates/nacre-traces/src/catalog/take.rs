//! Records one changed source in the catalog, with one transaction per session. An unreadable
//! session is recorded with a reason and does not prevent other sessions from being read. The
//! source's stamp is stored only if every session was read or will never be readable; otherwise,
//! the next refresh tries again.

use std::collections::BTreeSet;

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Transaction, named_params};

use super::refresh::source_problem;
use super::*;

use crate::transcript::{
    Adapter, Began, Error, ReadOutcome, Retryability, SessionFacts, Sink, Trace, TraceSource,
    Watermark, without_words,
};
use nacre_base::redact::ExtraWords;
use nacre_base::with_causes;

/// Sessions in a database that was being written to are skipped for this reason.
const IN_USE: &str = "the agent was writing to it";

/// Sessions that no longer fit into this sync's budget are left for the next sync, with this
/// reason.
const LEFT_OUT: &str = "time limit reached; the next sync will read it";

const MOVED: &str = "its directory changed while it was read";

enum Visited<'o> {
    Unchanged,
    Read(Began),
    Failed {
        reason: String,
        hope: Retryability,
    },
    /// The redaction list of the session's project, which differs from the one that was applied.
    OtherWords(&'o ExtraWords),
}

impl Visited<'_> {
    fn passing(reason: impl Into<String>) -> Self {
        Self::Failed { reason: reason.into(), hope: Retryability::Maybe }
    }
}

struct PriorVisit {
    revision: Option<String>,
    watermark: Option<Watermark>,
    /// Whether the current adapter version has read the whole session.
    is_read: bool,
    cwd: Option<String>,
    words: i64,
    facts: Option<SessionFacts>,
    project: Option<String>,
}

impl Catalog {
    pub(super) fn take_source(
        &mut self,
        adapter: &dyn Adapter,
        source: &TraceSource,
        options: &RefreshOptions,
        report: &mut RefreshReport,
    ) -> Result<()> {
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
            let visited = self.write(|transaction| {
                let seen = seen_before(transaction, trace, adapter.version())?;
                Visit { transaction, adapter, trace, options, seen }.take()
            })?;
            match visited {
                Visited::Unchanged | Visited::OtherWords(_) => {}
                Visited::Read(began) => {
                    report.read += 1;
                    report.resumed += u64::from(began == Began::AtWatermark);
                }
                Visited::Failed { reason, hope } => {
                    is_settled &= matches!(hope, Retryability::None | Retryability::Spent);
                    let n_more = traces.len() - done - 1;
                    let is_over = matches!(hope, Retryability::Spent | Retryability::NextSync);
                    let reason = match is_over && 0 < n_more {
                        true => format!("{reason} ({n_more} more of its sessions were not read)"),
                        false => reason,
                    };
                    report.problems.push(source_problem(&source.path, reason));
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
            let id = put_source(transaction, source, adapter.version())?;
            forget_missing(transaction, id, &traces, options.moment())?;
            if is_settled {
                stamp_source(transaction, id, source, adapter.version())?;
            }
            Ok(())
        })
    }

    /// Records a source whose sessions could not be listed. Existing sessions stay unchanged. A new
    /// source gets a placeholder session.
    fn leave_source(
        &mut self,
        adapter: &dyn Adapter,
        source: &TraceSource,
        error: &Error,
        options: &RefreshOptions,
        report: &mut RefreshReport,
    ) -> Result<()> {
        let (reason, hope) = (with_causes(error), error.hope());
        let whole = Trace::whole(source.clone());
        self.write(|transaction| {
            let id = put_source(transaction, source, adapter.version())?;
            if matches!(hope, Retryability::Spent | Retryability::None) {
                stamp_source(transaction, id, source, adapter.version())?;
            }
            let is_known: bool = transaction.query_row(
                "SELECT EXISTS (SELECT 1 FROM session WHERE source = ?1 AND facts != '')",
                [id],
                |row| row.get(0),
            )?;
            if is_known {
                return Ok(());
            }
            let session = put_session(transaction, id, &whole)?;
            set_job(transaction, session, &handle_failure(&reason, hope), options.now)
        })?;
        report.left += u64::from(hope == Retryability::NextSync);
        report.problems.push(source_problem(&source.path, reason));
        Ok(())
    }
}

struct Visit<'t, 'o> {
    transaction: &'t Transaction<'t>,
    adapter: &'t dyn Adapter,
    trace: &'t Trace,
    options: &'o RefreshOptions,
    seen: Option<PriorVisit>,
}

impl<'o> Visit<'_, 'o> {
    fn take(&self) -> rusqlite::Result<Visited<'o>> {
        let force = self.options.force;
        let words = self.words();
        // If an unchanged session's redaction list cannot be determined, the session is not read
        // again.
        let has_same_words = words.as_ref().map_or(true, |words| self.was_read_under(words));
        let is_same = |seen: &PriorVisit| {
            self.trace.revision.is_some() && seen.revision == self.trace.revision
        };
        let is_unchanged = |seen: &PriorVisit| is_same(seen) && seen.is_read && has_same_words;
        if !force && self.seen.as_ref().is_some_and(is_unchanged) {
            return Ok(Visited::Unchanged);
        }
        let source = put_source(self.transaction, &self.trace.source, self.adapter.version())?;
        let session = put_session(self.transaction, source, self.trace)?;
        let watermark = self.seen.as_ref().and_then(|seen| seen.watermark.as_ref());
        let watermark = watermark.filter(|_| !force && has_same_words);
        let mut visited = match words {
            Ok(words) => self.read(session, words, watermark)?,
            Err(reason) => Visited::passing(reason),
        };
        if let Visited::OtherWords(words) = visited {
            visited = self.read(session, words, None)?;
        }
        if let Visited::OtherWords(_) = visited {
            visited = Visited::passing(MOVED);
        }
        if let Visited::Failed { reason, hope } = &visited {
            leave_session(self.transaction, session, reason, *hope, self.options.now)?;
        }
        Ok(visited)
    }

    /// Returns the redaction list to apply. If projects have different lists, a new transcript is
    /// first scanned for its directory, because no text may be stored before its project is known.
    fn words(&self) -> Result<&'o ExtraWords, String> {
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
        words.of(placing.transcript_project()).map_err(str::to_owned)
    }

    /// A session that names no directory stays in the project that the user assigned it to.
    fn placing(&self, cwd: Option<&str>) -> Placing {
        let assigned = self.seen.as_ref().and_then(|seen| seen.project.as_deref());
        self.options.placing(&self.trace.source.path, cwd.or(assigned))
    }

    fn was_read_under(&self, words: &ExtraWords) -> bool {
        self.seen.as_ref().is_some_and(|seen| seen.words == fingerprint(words))
    }

    /// Rolls back the transaction if the read fails or if the session belongs to a project with a
    /// different redaction list.
    fn read(
        &self,
        session: i64,
        words: &'o ExtraWords,
        watermark: Option<&Watermark>,
    ) -> rusqlite::Result<Visited<'o>> {
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
                let (reason, hope) = (with_causes(&error), error.hope());
                return self.back(Visited::Failed { reason, hope });
            }
        };
        let placing = self.placing(outcome.facts.cwd.as_deref());
        match self.options.words.of(placing.transcript_project()) {
            Err(reason) => return self.back(Visited::passing(reason)),
            Ok(own) if own.fingerprint() != words.fingerprint() => {
                return self.back(Visited::OtherWords(own));
            }
            Ok(_) => {}
        }
        let has_grown = self.has_grown(&outcome, &texts, words);
        texts.finish(&outcome)?;
        self.record(session, &outcome, has_grown, &placing, words)?;
        self.transaction.execute_batch("RELEASE reading")?;
        Ok(Visited::Read(outcome.began))
    }

    fn back(&self, reading: Visited<'o>) -> rusqlite::Result<Visited<'o>> {
        self.transaction.execute_batch("ROLLBACK TO reading; RELEASE reading")?;
        Ok(reading)
    }

    /// Returns whether the session has new content. A transcript that was only touched or restored
    /// has none, and a changed redaction list alone does not count.
    fn has_grown(&self, outcome: &ReadOutcome, texts: &Texts, words: &ExtraWords) -> bool {
        let before = self.seen.as_ref().filter(|_| !self.options.force);
        let before = before.filter(|seen| seen.words != fingerprint(words));
        let says_the_same = before.and_then(|seen| seen.facts.as_ref()).is_some_and(|facts| {
            facts.counts == outcome.facts.counts
                && facts.last_activity == outcome.facts.last_activity
        });
        let has_events = outcome.began != Began::AtWatermark || texts.first_sequence.is_some();
        has_events && !says_the_same
    }

    /// Records the session's facts and queue state.
    fn record(
        &self,
        session: i64,
        outcome: &ReadOutcome,
        has_grown: bool,
        placing: &Placing,
        words: &ExtraWords,
    ) -> rusqlite::Result<()> {
        let (transaction, moment) = (self.transaction, self.options.moment());
        let Trace { source, revision, .. } = self.trace;
        let mut facts = outcome.facts.clone();
        let (folder, project) = match placing {
            Placing::Project(root) => (Some(root), Some(path_text(root))),
            Placing::Unregistered(folder) => (Some(folder), None),
            Placing::Elsewhere(_) | Placing::Nowhere => (None, None),
        };
        // Not every agent records the repository.
        if facts.repository.is_none() {
            facts.repository = folder.and_then(|folder| remote_of(folder));
        }
        if facts.title.is_none() {
            facts.title = first_said(transaction, session)?;
        }
        let facts = without_words(facts, words);
        let watermark = outcome.watermark.clone();
        let watermark = watermark.map(|watermark| Watermark {
            facts: without_words(watermark.facts, words),
            ..watermark
        });
        let last_activity =
            facts.last_activity.or(source.stamp.modified).map(Timestamp::as_millisecond);
        transaction.execute(
            "UPDATE session SET revision = :revision, watermark = :watermark, session_id = :session_id,
               title = :title, cwd = :cwd, project = :project, started = :started, last_activity = :last,
               grown = grown + :grown, facts = :facts, report = :report, words_read = :words, words_kept = :words
             WHERE id = :id",
            named_params! {
                ":revision": revision, ":watermark": watermark.as_ref().map(json),
                ":session_id": facts.id, ":title": facts.title, ":cwd": facts.cwd, ":project": project,
                ":started": facts.started.map(Timestamp::as_millisecond), ":last": last_activity,
                ":grown": u32::from(has_grown), ":facts": json(&facts),
                ":report": json(&outcome.report), ":words": fingerprint(words), ":id": session,
            },
        )?;
        if has_grown || !is_placed(transaction, session)? {
            let admission = admit(&facts, placing, source.stamp, moment);
            set_job(transaction, session, &admission, moment.now)?;
        }
        twins::settle(transaction, session, moment)
    }
}

fn handle_failure(reason: &str, hope: Retryability) -> Admission {
    match hope {
        Retryability::Gone => Admission::skipped(GONE),
        Retryability::Soon => Admission::skipped(IN_USE),
        Retryability::NextSync => Admission::skipped(LEFT_OUT),
        Retryability::Spent | Retryability::Maybe | Retryability::None => {
            Admission::of(JobState::Dead, reason)
        }
    }
}

/// Records an unreadable session. A session that was read before keeps its queue state if a retry
/// may succeed.
fn leave_session(
    transaction: &Transaction,
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
    let keeps_place = match hope {
        Retryability::Soon | Retryability::NextSync => true,
        Retryability::Gone => !is_waiting,
        Retryability::Spent | Retryability::Maybe | Retryability::None => false,
    };
    if keeps_place && !facts.is_empty() {
        return Ok(());
    }
    set_job(transaction, session, &handle_failure(reason, hope), now)
}

fn forget_missing(
    transaction: &Transaction,
    source: i64,
    traces: &[Trace],
    moment: Moment,
) -> rusqlite::Result<()> {
    let found: BTreeSet<&str> = traces.iter().map(inner).collect();
    let sql = "SELECT s.id, s.inner_id, s.facts = '' FROM session s JOIN job j ON j.session = s.id
             WHERE s.source = ?1 AND j.state != 'running'";
    let known: Vec<(i64, String, bool)> =
        rows(transaction, sql, [source], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
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
        // Clearing the revision ensures that the session is read again if it reappears.
        transaction.execute("UPDATE session SET revision = NULL WHERE id = ?1", [session])?;
        twins::settle(transaction, session, moment)?;
    }
    Ok(())
}

fn seen_before(
    transaction: &Transaction,
    trace: &Trace,
    version: u32,
) -> rusqlite::Result<Option<PriorVisit>> {
    let mut statement = transaction.prepare_cached(
        "SELECT s.revision, s.watermark, s.facts != '' AND o.version = ?4, s.cwd, s.words_read, s.facts, s.project FROM session s
         JOIN source o ON o.id = s.source WHERE o.agent = ?1 AND o.path = ?2 AND s.inner_id = ?3",
    )?;
    let key = (trace.source.agent.as_str(), path_text(&trace.source.path), inner(trace), version);
    statement
        .query_row(key, |row| {
            let watermark: Option<String> = row.get(1)?;
            let watermark =
                watermark.and_then(|json| serde_json::from_str::<Watermark>(&json).ok());
            let facts: String = row.get(5)?;
            Ok(PriorVisit {
                revision: row.get(0)?,
                watermark,
                is_read: row.get(2)?,
                cwd: row.get(3)?,
                words: row.get(4)?,
                facts: serde_json::from_str(&facts).ok(),
                project: row.get(6)?,
            })
        })
        .optional()
}
