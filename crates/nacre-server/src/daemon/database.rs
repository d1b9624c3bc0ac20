//! Watches the database that servers share: how it is, who leads, and whether something in its queue is due.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nacre_api::wire::{DatabaseState, DatabaseStatus, LoopName};
use nacre_ops::host::Environment;
use nacre_ops::service::{self, DatabaseMetrics, LogLevel};
use nacre_ops::{Cancel, Events};

use super::Daemon;
use crate::calls::{Call, CallInfo, Calls};

/// How often it is looked at. What a dead server held is due when its lease ends, and is to be taken soon after.
const LOOK: Duration = Duration::from_secs(3);

/// Every so many looks it is asked whether this server leads.
const LEAD_EVERY: u32 = 5;

/// How the database was when it was last looked at.
pub(crate) struct DatabaseWatch {
    environment: Environment,
    seen: Mutex<Option<DatabaseStatus>>,
    measured: Mutex<Option<DatabaseMetrics>>,
}

/// Every so many looks it is measured.
const MEASURE_EVERY: u32 = 5;

/// What one look found.
struct Looked {
    /// What was measured, where that was its turn and could be done.
    measured: Option<Option<DatabaseMetrics>>,
    status: Option<DatabaseStatus>,
    is_due: bool,
}

impl DatabaseWatch {
    pub(crate) fn new(environment: Environment) -> Arc<Self> {
        Arc::new(Self { environment, seen: Mutex::new(None), measured: Mutex::new(None) })
    }

    /// How it was; nothing before the first look.
    pub(crate) fn status(&self) -> Option<DatabaseStatus> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What was measured last; nothing while the database does not answer.
    pub(crate) fn metrics(&self) -> Option<DatabaseMetrics> {
        *self.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks again and again until the server stops, and wakes the sync where something is due.
    pub(crate) async fn run(
        self: Arc<Self>,
        calls: Arc<Calls>,
        daemon: Option<Arc<Daemon>>,
        stop: Cancel,
    ) {
        let mut n_looks = 0_u32;
        loop {
            let wants_lead = daemon.is_some() && n_looks.is_multiple_of(LEAD_EVERY);
            let is_measured = n_looks.is_multiple_of(MEASURE_EVERY);
            n_looks = n_looks.wrapping_add(1);
            let info = CallInfo { can_change: false, ..CallInfo::of_loop("database") };
            let look = move |call: &Call| Ok(look(call, wants_lead, is_measured));
            let looked = calls.run(info, Events::ignored(), std::future::pending(), look).await;
            if let Ok(Looked { measured, status, is_due }) = looked {
                if let Some(measured) = measured {
                    *self.measured.lock().unwrap_or_else(PoisonError::into_inner) = measured;
                }
                self.take_in(status);
                match &daemon {
                    Some(daemon) if is_due && !daemon.is_paused() => daemon.wake(&[LoopName::Sync]),
                    Some(_) | None => {}
                }
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = stop.cancelled() => return,
            }
        }
    }

    /// Keeps what was seen, and writes down a change.
    fn take_in(&self, status: Option<DatabaseStatus>) {
        let state = |seen: &Option<DatabaseStatus>| seen.as_ref().map(|seen| seen.state);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let is_changed = state(&seen) != state(&status);
        seen.clone_from(&status);
        drop(seen);
        let Some(DatabaseStatus { state, detail, .. }) = status.filter(|_| is_changed) else {
            return;
        };
        let environment = self.environment.clone();
        tokio::task::spawn_blocking(move || {
            let level = match state {
                DatabaseState::Connected => LogLevel::Info,
                DatabaseState::Slow | DatabaseState::Away | DatabaseState::Unusable => {
                    LogLevel::Error
                }
            };
            let detail = detail.unwrap_or_default();
            let fields = [("state", state.as_str()), ("detail", detail.as_str())];
            service::log(&environment, level, "database", &fields);
        });
    }
}

fn look(call: &Call, wants_lead: bool, is_measured: bool) -> Looked {
    if wants_lead {
        // Who leads matters to the loops, which ask again themselves.
        let _ = call.host.is_leader();
    }
    let status = call.host.database_status();
    let is_usable = status.as_ref().is_some_and(|status| status.state.is_usable());
    let measured = (is_measured || !is_usable).then(|| {
        let measure = || service::database_metrics(&call.host).ok().flatten();
        if is_usable { measure() } else { None }
    });
    Looked {
        measured,
        is_due: is_usable && service::has_due_sessions(&call.host).unwrap_or(false),
        status,
    }
}
