//! Jobs as they go over the wire.

use nacre_api::wire::{JobState, QueueJob};
use nacre_core::catalog;

pub(crate) fn job_state(of: catalog::JobState) -> JobState {
    match of {
        catalog::JobState::Pending => JobState::Pending,
        catalog::JobState::Running => JobState::Running,
        catalog::JobState::Done => JobState::Done,
        catalog::JobState::Empty => JobState::Empty,
        catalog::JobState::Skipped => JobState::Skipped,
        catalog::JobState::Dead => JobState::Dead,
    }
}

pub(super) fn core_state(of: JobState) -> catalog::JobState {
    match of {
        JobState::Pending => catalog::JobState::Pending,
        JobState::Running => catalog::JobState::Running,
        JobState::Done => catalog::JobState::Done,
        JobState::Empty => catalog::JobState::Empty,
        JobState::Skipped => catalog::JobState::Skipped,
        JobState::Dead => catalog::JobState::Dead,
    }
}

pub(super) fn queue_job(job: catalog::Job) -> QueueJob {
    QueueJob {
        id: job.key,
        state: job_state(job.state),
        reason: job.reason,
        attempts: job.attempts,
        not_before: job.not_before.map(|time| time.to_string()),
        run: job.run,
        changed: job.changed.to_string(),
        agent: job.agent,
        title: job.title,
        project: job.project,
    }
}
