//! The queue as its users see it: what the catalog of one machine and a database that a team shares both do.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use super::db::Catalog;
use super::error::CatalogError;
use super::job::{Job, JobState, Outcome, RetryPolicy};
use super::queue::{Claim, ClaimOrder, QueueFilter};
use super::runs::ServiceRun;
use super::seen::StateCounts;

/// Sessions that wait for a run: claimed by lease, ended once, retried or put away.
///
/// A lease is a token that its holder must still have when it ends the job. One job of a project runs at a time. `now` is the caller's
/// clock; on several machines their clocks must differ by less than a lease.
pub trait JobQueue {
    /// Claims the next job that is due, for a lease of `length` under the caller's `token`.
    fn claim(
        &mut self,
        token: &str,
        now: Timestamp,
        length: Duration,
        order: ClaimOrder,
    ) -> Result<Option<Claim>, CatalogError>;

    /// Keeps a lease for another `length`.
    fn heartbeat(
        &mut self,
        claim: &Claim,
        now: Timestamp,
        length: Duration,
    ) -> Result<(), CatalogError>;

    /// Ends a claimed job, if its lease is still held; says where the job stands then.
    fn finish(
        &mut self,
        claim: &Claim,
        outcome: &Outcome,
        now: Timestamp,
        policy: &RetryPolicy,
    ) -> Result<JobState, CatalogError>;

    /// Gives back the jobs that are held under a token beginning with `prefix`.
    fn give_back(&mut self, prefix: &str, now: Timestamp) -> Result<usize, CatalogError>;

    /// The jobs, latest change first.
    fn jobs(&self, filter: &QueueFilter) -> Result<Vec<Job>, CatalogError>;

    /// Puts jobs back into the queue as if they had never been tried; returns their keys.
    fn retry(&mut self, keys: &[String], now: Timestamp) -> Result<Vec<String>, CatalogError>;

    /// Takes jobs out of the queue; returns their keys.
    fn skip(
        &mut self,
        keys: &[String],
        reason: &str,
        now: Timestamp,
    ) -> Result<Vec<String>, CatalogError>;

    /// How many sessions stand where, by project and agent.
    fn counts(&self) -> Result<BTreeMap<(Option<String>, String), StateCounts>, CatalogError>;

    /// Records that a run of a service began; an id that was used before is begun again.
    fn begin_run(&mut self, id: &str, what: &str, now: Timestamp) -> Result<(), CatalogError>;

    /// Records how a run ended.
    fn end_run(&mut self, id: &str, outcome: &str, now: Timestamp) -> Result<(), CatalogError>;

    /// The latest run of a service.
    fn last_run(&self, what: &str) -> Result<Option<ServiceRun>, CatalogError>;
}

impl JobQueue for Catalog {
    fn claim(
        &mut self,
        token: &str,
        now: Timestamp,
        length: Duration,
        order: ClaimOrder,
    ) -> Result<Option<Claim>, CatalogError> {
        Self::claim(self, token, now, length, order)
    }

    fn heartbeat(
        &mut self,
        claim: &Claim,
        now: Timestamp,
        length: Duration,
    ) -> Result<(), CatalogError> {
        Self::heartbeat(self, claim, now, length)
    }

    fn finish(
        &mut self,
        claim: &Claim,
        outcome: &Outcome,
        now: Timestamp,
        policy: &RetryPolicy,
    ) -> Result<JobState, CatalogError> {
        Self::finish(self, claim, outcome, now, policy)
    }

    fn give_back(&mut self, prefix: &str, now: Timestamp) -> Result<usize, CatalogError> {
        Self::give_back(self, prefix, now)
    }

    fn jobs(&self, filter: &QueueFilter) -> Result<Vec<Job>, CatalogError> {
        Self::jobs(self, filter)
    }

    fn retry(&mut self, keys: &[String], now: Timestamp) -> Result<Vec<String>, CatalogError> {
        Self::retry(self, keys, now)
    }

    fn skip(
        &mut self,
        keys: &[String],
        reason: &str,
        now: Timestamp,
    ) -> Result<Vec<String>, CatalogError> {
        Self::skip(self, keys, reason, now)
    }

    fn counts(&self) -> Result<BTreeMap<(Option<String>, String), StateCounts>, CatalogError> {
        Self::counts(self)
    }

    fn begin_run(&mut self, id: &str, what: &str, now: Timestamp) -> Result<(), CatalogError> {
        Self::begin_run(self, id, what, now)
    }

    fn end_run(&mut self, id: &str, outcome: &str, now: Timestamp) -> Result<(), CatalogError> {
        Self::end_run(self, id, outcome, now)
    }

    fn last_run(&self, what: &str) -> Result<Option<ServiceRun>, CatalogError> {
        Self::last_run(self, what)
    }
}
