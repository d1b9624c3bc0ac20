//! The server's background loops, which read sessions, maintain memories, and update indexes and
//! maps. Each loop runs an operation as a task, with at most one task running at a time.

mod clock;
mod database;
mod schedule;

use std::sync::MutexGuard;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;
use nacre_types::{LoopEntry, LoopName, LoopState, Outcome};
use tokio::sync::Notify;

pub(crate) use self::clock::QuietWatch;
pub(crate) use self::database::DatabaseWatch;
use self::schedule::{Schedule, Step};

use crate::prelude::*;

/// Each loop, its interval, and the delay before its first run after the server starts.
const LOOPS: [(LoopName, Duration, Duration); 5] = [
    (LoopName::Sync, minutes(10), Duration::from_secs(30)),
    (LoopName::Maintain, minutes(60), minutes(15)),
    (LoopName::Index, minutes(5), minutes(1)),
    (LoopName::Map, minutes(5), minutes(2)),
    (LoopName::Prune, minutes(6 * 60), minutes(5)),
];

const fn minutes(n: u64) -> Duration {
    Duration::from_secs(60 * n)
}

#[derive(Clone, Debug)]
pub(crate) struct LoopResult {
    pub(crate) outcome: Outcome,
    pub(crate) text: String,
    pub(crate) changed: Vec<ChangedThing>,
}

pub(crate) struct Daemon {
    pub(crate) environment: Environment,
    is_paused: AtomicBool,
    loops: Mutex<BTreeMap<LoopName, LoopStatus>>,
    /// Notified when a loop may be due earlier than planned.
    pub(crate) changed: Notify,
}

struct LoopStatus {
    schedule: Schedule,
    /// Whether the next run was requested explicitly rather than scheduled.
    is_woken: bool,
    last: Option<Timestamp>,
    last_error: Option<String>,
    last_result: Option<String>,
}

impl Daemon {
    pub(crate) fn new(environment: Environment, is_paused: bool) -> Arc<Self> {
        let uptime = (environment.uptime)();
        let new = |(name, every, first)| {
            let schedule = Schedule::new(every, first, uptime, draw(&environment));
            let status = LoopStatus {
                schedule,
                is_woken: false,
                last: None,
                last_error: None,
                last_result: None,
            };
            (name, status)
        };
        let loops = Mutex::new(LOOPS.into_iter().map(new).collect());
        let is_paused = AtomicBool::new(is_paused);
        Arc::new(Self { environment, is_paused, loops, changed: Notify::new() })
    }

    /// Runs that have already started continue.
    pub(crate) fn set_paused(&self, is_paused: bool) {
        self.is_paused.store(is_paused, Ordering::Relaxed);
        self.changed.notify_one();
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.is_paused.load(Ordering::Relaxed)
    }

    pub(crate) fn wake(&self, names: &[LoopName]) {
        let (mut loops, now) = self.lock();
        for name in names {
            let Some(status) = loops.get_mut(name) else { continue };
            status.schedule = status.schedule.next(now, Step::Wake, 0.0);
            status.is_woken = true;
        }
        drop(loops);
        self.changed.notify_one();
    }

    /// Returns the due loops, whether each one was woken, and the time until the next loop is due.
    pub(crate) fn begin_due(&self) -> (Vec<(LoopName, bool)>, Duration) {
        let (mut begun, mut wait) = (Vec::new(), Duration::MAX);
        if self.is_paused() {
            return (begun, wait);
        }
        let wall = self.environment.now();
        let (mut loops, now) = self.lock();
        for (name, status) in &mut *loops {
            let before = status.schedule.is_running();
            status.schedule = status.schedule.next(now, Step::Begin, 0.0);
            if status.schedule.is_running() && !before {
                status.last = Some(wall);
                begun.push((*name, std::mem::take(&mut status.is_woken)));
            }
            if let Some(due) = status.schedule.due {
                wait = wait.min(due.saturating_sub(now));
            }
        }
        (begun, wait)
    }

    pub(crate) fn end(&self, name: LoopName, result: &Result<LoopResult, OpError>) {
        let draw = draw(&self.environment);
        let (mut loops, now) = self.lock();
        let Some(status) = loops.get_mut(&name) else { return };
        let outcome = outcome(result);
        status.schedule = status.schedule.next(now, Step::End(outcome), draw);
        match result {
            Ok(result) => {
                status.last_error = None;
                status.last_result = Some(result.text.clone());
            }
            Err(error) if outcome == Outcome::Failed => {
                status.last_error = Some(error.message.clone());
            }
            Err(error) => status.last_result = Some(error.message.clone()),
        }
        drop(loops);
        self.changed.notify_one();
    }

    pub(crate) fn entries(&self) -> Vec<LoopEntry> {
        let (wall, is_paused) = (self.environment.now(), self.is_paused());
        let (loops, now) = self.lock();
        let entry = |(name, status): (&LoopName, &LoopStatus)| {
            let due = status.schedule.due.filter(|_| !is_paused);
            let next = due.and_then(|due| {
                let wait = jiff::SignedDuration::try_from(due.saturating_sub(now)).ok()?;
                wall.checked_add(wait).ok()
            });
            LoopEntry {
                name: *name,
                state: state_of(status, is_paused),
                every_s: status.schedule.every.as_secs(),
                last: status.last.map(to_second),
                next: next.map(to_second),
                last_error: status.last_error.clone(),
                last_result: status.last_result.clone(),
            }
        };
        loops.iter().map(entry).collect()
    }

    fn lock(&self) -> (MutexGuard<'_, BTreeMap<LoopName, LoopStatus>>, Duration) {
        let loops = self.loops.lock().unwrap_or_else(PoisonError::into_inner);
        (loops, (self.environment.uptime)())
    }
}

fn state_of(status: &LoopStatus, is_paused: bool) -> LoopState {
    if status.schedule.is_running() {
        LoopState::Running
    } else if is_paused {
        LoopState::Paused
    } else if status.schedule.is_failing() {
        LoopState::Waiting
    } else {
        LoopState::Idle
    }
}

pub(crate) fn outcome(result: &Result<LoopResult, OpError>) -> Outcome {
    match result {
        Ok(result) => result.outcome,
        Err(error) if [ErrorCode::Busy, ErrorCode::DatabaseAway].contains(&error.code) => {
            Outcome::Busy
        }
        // The user cancelled only this run. The loop continues.
        Err(error) if error.code == ErrorCode::Cancelled => Outcome::Done,
        Err(_) => Outcome::Failed,
    }
}

/// Returns a random number from 0 to 1, or 0.5 if the system cannot provide random numbers.
fn draw(environment: &Environment) -> f64 {
    let mut bytes = [0; 2];
    match (environment.random)(&mut bytes) {
        Ok(()) => f64::from(u16::from_le_bytes(bytes)) / f64::from(u16::MAX),
        Err(_) => 0.5,
    }
}

fn to_second(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests;
