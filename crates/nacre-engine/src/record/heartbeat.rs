//! The sign of life of a task that runs, and its ear for those who want it stopped from another process.
//!
//! It beats on an interval and not between two steps: a model may be silent for minutes within one, and that is when
//! people lose patience.

use std::time::Duration;

use super::event::Clock;
use super::state::State;
use super::tasks::{CancelledBy, Runner, TaskId};

/// Beats for one task of this process.
pub struct Heartbeat {
    /// For itself: a connection is not shared between threads.
    pub state: State,
    pub runner: Runner,
    pub task: TaskId,
    pub clock: Clock,
}

impl Heartbeat {
    /// How often; nobody who cancels waits longer for it to be noticed.
    pub const INTERVAL: Duration = Duration::from_millis(500);

    /// Keeps the lease until somebody wants the task stopped; returns who.
    ///
    /// A state that cannot be used is tried again the next time. It fails no task.
    pub async fn until_cancelled(self) -> CancelledBy {
        let mut heart = self;
        loop {
            // Another process may be writing, and a model's stream must not wait for it.
            let beaten = tokio::task::spawn_blocking(move || {
                let asked = heart.beat();
                (heart, asked)
            });
            let Ok((same, asked)) = beaten.await else { return std::future::pending().await };
            if let Some(by) = asked {
                return by;
            }
            heart = same;
            tokio::time::sleep(Self::INTERVAL).await;
        }
    }

    /// Keeps the lease once; returns who wants the task stopped.
    pub fn beat(&mut self) -> Option<CancelledBy> {
        let asked = self.state.beat(&self.runner, (self.clock)()).ok()?;
        asked.into_iter().find(|(task, _)| *task == self.task).map(|(_, by)| by)
    }
}
