//! What the server does by itself: loops that read sessions, maintain memories and keep indexes and maps up to date.
//!
//! Each loop is an operation that runs as a task of the server, one of each at a time. When it is due is decided by
//! `schedule.rs`, from values alone; this file holds the state that requests see and change, and `driver.rs` runs what is due.

mod age;
mod database;
mod driver;
mod quiet;
mod schedule;
mod work;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use nacre_api::wire::{ErrorCode, LoopEntry, LoopName, LoopState, Outcome};
use nacre_ops::OpError;
use nacre_ops::host::Environment;
use tokio::sync::Notify;

use self::age::Age;
pub(crate) use self::database::DatabaseWatch;
pub(crate) use self::driver::{Driver, Runner};
use self::schedule::{LoopOutcome, Schedule, Step};
use self::work::{LOOPS, rhythm};
pub(crate) use self::work::{LoopResult, LoopWork};

/// The loops of a server, and whether they are paused.
pub(crate) struct Daemon {
    environment: Environment,
    state: Mutex<State>,
    /// Told when something may be due earlier than before.
    changed: Notify,
}

struct State {
    age: Age,
    is_paused: bool,
    loops: BTreeMap<LoopName, LoopStatus>,
}

/// A loop, and what it did.
struct LoopStatus {
    schedule: Schedule,
    /// It was asked for, and not only its turn.
    is_woken: bool,
    last: Option<Timestamp>,
    last_error: Option<String>,
    last_result: Option<String>,
}

/// A run that has begun.
pub(super) struct BegunRun {
    name: LoopName,
    is_woken: bool,
}

impl Daemon {
    pub(crate) fn new(environment: Environment, is_paused: bool) -> Arc<Self> {
        let (uptime, wall) = ((environment.uptime)(), environment.now());
        let new = |name: &LoopName| {
            let schedule = Schedule::new(rhythm(*name), uptime, draw(&environment));
            let status = LoopStatus {
                schedule,
                is_woken: false,
                last: None,
                last_error: None,
                last_result: None,
            };
            (*name, status)
        };
        let loops = LOOPS.iter().map(new).collect();
        let state = Mutex::new(State { age: Age::new(uptime, wall), is_paused, loops });
        Arc::new(Self { environment, state, changed: Notify::new() })
    }

    /// Pauses or resumes the loops. A run that has begun goes on to its end.
    pub(crate) fn set_paused(&self, is_paused: bool) {
        self.with_state(|state, _| state.is_paused = is_paused);
        self.changed.notify_one();
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.with_state(|state, _| state.is_paused)
    }

    /// Has loops run soon.
    pub(crate) fn wake(&self, names: &[LoopName]) {
        self.with_state(|state, now| {
            for name in names {
                let Some(status) = state.loops.get_mut(name) else { continue };
                status.schedule = status.schedule.next(now, Step::Wake, 0.0);
                status.is_woken = true;
            }
        });
        self.changed.notify_one();
    }

    /// Begins every loop that is due; returns them, and how long nothing else is.
    fn begin_due(&self) -> (Vec<BegunRun>, Duration) {
        let wall = self.environment.now();
        self.with_state(|state, now| {
            if state.is_paused {
                return (Vec::new(), Duration::MAX);
            }
            let (mut begun, mut wait) = (Vec::new(), Duration::MAX);
            for (name, status) in &mut state.loops {
                let before = status.schedule.is_running();
                status.schedule = status.schedule.next(now, Step::Begin, 0.0);
                if status.schedule.is_running() && !before {
                    status.last = Some(wall);
                    let is_woken = std::mem::take(&mut status.is_woken);
                    begun.push(BegunRun { name: *name, is_woken });
                }
                if let Some(due) = status.schedule.due() {
                    wait = wait.min(due.saturating_sub(now));
                }
            }
            (begun, wait)
        })
    }

    /// Takes in how a run ended.
    fn end(&self, name: LoopName, result: &Result<LoopResult, OpError>) {
        let draw = draw(&self.environment);
        self.with_state(|state, now| {
            let Some(status) = state.loops.get_mut(&name) else { return };
            let outcome = outcome(result);
            status.schedule = status.schedule.next(now, Step::End(outcome), draw);
            match result {
                Ok(result) => {
                    status.last_error = None;
                    status.last_result = Some(result.text.clone());
                }
                Err(error) if outcome == LoopOutcome::Failed => {
                    status.last_error = Some(error.message.clone());
                }
                Err(error) => status.last_result = Some(error.message.clone()),
            }
        });
        self.changed.notify_one();
    }

    /// What each loop does and did.
    pub(crate) fn entries(&self) -> Vec<LoopEntry> {
        let wall = self.environment.now();
        self.with_state(|state, now| {
            let is_paused = state.is_paused;
            let entry = |(name, status): (&LoopName, &LoopStatus)| {
                let due = status.schedule.due().filter(|_| !is_paused);
                let next = due.and_then(|due| {
                    wall.checked_add(jiff::SignedDuration::try_from(due.saturating_sub(now)).ok()?)
                        .ok()
                });
                LoopEntry {
                    name: *name,
                    state: state_of(status, is_paused),
                    every_s: status.schedule.every().as_secs(),
                    last: status.last.map(to_second),
                    next: next.map(to_second),
                    last_error: status.last_error.clone(),
                    last_result: status.last_result.clone(),
                }
            };
            state.loops.iter().map(entry).collect()
        })
    }

    /// The age of the process, the time that the machine slept included.
    fn age(&self) -> Duration {
        self.with_state(|_, now| now)
    }

    fn with_state<T>(&self, work: impl FnOnce(&mut State, Duration) -> T) -> T {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = state.age.look((self.environment.uptime)(), self.environment.now());
        work(&mut state, now)
    }
}

fn state_of(status: &LoopStatus, is_paused: bool) -> LoopState {
    match () {
        () if status.schedule.is_running() => LoopState::Running,
        () if is_paused => LoopState::Paused,
        () if status.schedule.is_failing() => LoopState::Waiting,
        () => LoopState::Idle,
    }
}

/// What a result means for the next run. Work that was done in part is done: the rest is tried again in its turn.
fn outcome(result: &Result<LoopResult, OpError>) -> LoopOutcome {
    match result {
        Ok(LoopResult { outcome: Outcome::Failed, .. }) => LoopOutcome::Failed,
        Ok(LoopResult { outcome: Outcome::Busy, .. }) => LoopOutcome::Busy,
        Ok(_) => LoopOutcome::Done,
        Err(error) if [ErrorCode::Busy, ErrorCode::DatabaseAway].contains(&error.code) => {
            LoopOutcome::Busy
        }
        // Somebody stopped this one run.
        Err(error) if error.code == ErrorCode::Cancelled => LoopOutcome::Done,
        Err(_) => LoopOutcome::Failed,
    }
}

/// A number from 0 to 1; the middle where the system gives none.
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
