//! The queue that several servers work off together.
//!
//! Each server reads the traces that it sees into its own catalog and offers what it found (`offer`); which of them works on a session is
//! decided here, one transaction a claim. A claim takes its row with `FOR UPDATE SKIP LOCKED`, so claimers do not wait for each other,
//! and a unique index lets one job of a project run at a time.

mod claim;
mod list;
mod offer;
mod runs;

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use nacre_core::catalog::{
    CatalogError, Claim, ClaimOrder, Job, JobQueue, JobState, OfferedSession, Outcome, QueueFilter,
    RetryPolicy, ServiceRun, StateCounts, WaitingSessions,
};

use self::claim::ClaimRequest;
pub use self::list::QueueDepth;
use crate::database::{Database, DatabaseError};

/// The queue in PostgreSQL.
#[derive(Clone, Debug)]
pub struct SharedQueue {
    database: Database,
    /// The server that offers and claims; `None` claims everything.
    reader: Option<String>,
}

impl SharedQueue {
    /// The queue of a database whose schema is up to date.
    pub fn open(database: &Database) -> Result<Self, DatabaseError> {
        database.check_schema()?;
        Ok(Self { database: database.clone(), reader: None })
    }

    /// The same queue for one server: what it offers it can read, and it claims nothing else.
    #[must_use]
    pub fn for_server(self, server: &str) -> Self {
        Self { reader: Some(server.to_owned()), ..self }
    }

    /// Whether a claim at `now` would find something.
    pub fn is_due(&self, now: Timestamp) -> Result<bool, CatalogError> {
        Ok(claim::is_due(&self.database, self.reader.as_deref(), now)?)
    }

    /// Takes over which runs worked on sessions, where that is not known yet.
    pub fn take_runs(&mut self, jobs: &[Job]) -> Result<(), CatalogError> {
        Ok(offer::take_runs(&self.database, jobs)?)
    }

    /// Notes that this server cannot read a session: it claims it no more until it offers it again.
    pub fn cannot_read(&mut self, key: &str) -> Result<(), CatalogError> {
        let Some(reader) = &self.reader else { return Ok(()) };
        Ok(offer::cannot_read(&self.database, reader, key)?)
    }

    /// Counts what waits at `now`. Folders that belong to no project are known to each server alone.
    pub fn waiting(&self, now: Timestamp) -> Result<WaitingSessions, CatalogError> {
        Ok(list::waiting(&self.database, now)?)
    }

    /// Counts what waits and what is held at `now`, of all servers.
    pub fn depth(&self, now: Timestamp) -> Result<QueueDepth, CatalogError> {
        Ok(list::depth(&self.database, now)?)
    }

    /// The keys that begin with `start`, two at most.
    pub fn keys_starting(&self, start: &str) -> Result<Vec<String>, CatalogError> {
        Ok(list::keys_starting(&self.database, start)?)
    }

    /// Puts sessions into the queue that are not in it, and those back that have grown since; returns how many rows that changed.
    ///
    /// What is running stays its worker's, and what a person skipped stays skipped. A server that does not know a session's project takes
    /// it from none that does.
    pub fn offer(&mut self, sessions: &[OfferedSession]) -> Result<u64, CatalogError> {
        Ok(offer::offer(&self.database, self.reader.as_deref(), sessions)?)
    }
}

impl JobQueue for SharedQueue {
    fn claim(
        &mut self,
        token: &str,
        now: Timestamp,
        length: Duration,
        order: ClaimOrder,
    ) -> Result<Option<Claim>, CatalogError> {
        let reader = self.reader.as_deref();
        Ok(claim::claim(&self.database, ClaimRequest { reader, token, now, length, order })?)
    }

    fn heartbeat(
        &mut self,
        claim: &Claim,
        now: Timestamp,
        length: Duration,
    ) -> Result<(), CatalogError> {
        claim::heartbeat(&self.database, claim, now, length)
    }

    fn finish(
        &mut self,
        claim: &Claim,
        outcome: &Outcome,
        now: Timestamp,
        policy: &RetryPolicy,
    ) -> Result<JobState, CatalogError> {
        claim::finish(&self.database, claim, outcome, now, policy)
    }

    fn give_back(&mut self, prefix: &str, now: Timestamp) -> Result<usize, CatalogError> {
        Ok(claim::give_back(&self.database, prefix, now)?)
    }

    fn jobs(&self, filter: &QueueFilter) -> Result<Vec<Job>, CatalogError> {
        Ok(list::jobs(&self.database, filter)?)
    }

    fn retry(&mut self, keys: &[String], now: Timestamp) -> Result<Vec<String>, CatalogError> {
        Ok(claim::set_state(&self.database, keys, JobState::Pending, None, now)?)
    }

    fn skip(
        &mut self,
        keys: &[String],
        reason: &str,
        now: Timestamp,
    ) -> Result<Vec<String>, CatalogError> {
        Ok(claim::set_state(&self.database, keys, JobState::Skipped, Some(reason), now)?)
    }

    fn counts(&self) -> Result<BTreeMap<(Option<String>, String), StateCounts>, CatalogError> {
        Ok(list::counts(&self.database)?)
    }

    fn begin_run(&mut self, id: &str, what: &str, now: Timestamp) -> Result<(), CatalogError> {
        Ok(runs::begin(&self.database, id, what, now)?)
    }

    fn end_run(&mut self, id: &str, outcome: &str, now: Timestamp) -> Result<(), CatalogError> {
        Ok(runs::end(&self.database, id, outcome, now)?)
    }

    fn last_run(&self, what: &str) -> Result<Option<ServiceRun>, CatalogError> {
        Ok(runs::last(&self.database, what)?)
    }
}
