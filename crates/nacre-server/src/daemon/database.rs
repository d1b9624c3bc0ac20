//! Monitors the shared database: its status, its leader, and queued sessions that are due.

use nacre_ops::service::{self, LogLevel};
use nacre_types::{DatabaseState, DatabaseStatus, LoopName};

use super::Daemon;
use crate::calls::{Call, CallInfo, Calls};
use crate::prelude::*;

/// Interval between checks. The database does not report expired leases, so polling is the only way
/// to find sessions that a crashed server left behind.
const LOOK: Duration = Duration::from_secs(3);

/// The server tries to become the leader once per this many checks.
const LEAD_EVERY: u32 = 5;

pub(crate) struct DatabaseWatch {
    environment: Environment,
    seen: Mutex<Option<DatabaseStatus>>,
}

impl DatabaseWatch {
    pub(crate) fn new(environment: Environment) -> Arc<Self> {
        Arc::new(Self { environment, seen: Mutex::new(None) })
    }

    /// `None` before the first check.
    pub(crate) fn status(&self) -> Option<DatabaseStatus> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Checks the database regularly, and wakes the sync loop whenever a session is due.
    pub(crate) async fn run(
        self: Arc<Self>,
        calls: Arc<Calls>,
        daemon: Option<Arc<Daemon>>,
        stop: Cancel,
    ) {
        let mut n_looks = 0_u32;
        loop {
            let wants_lead = daemon.is_some() && n_looks.is_multiple_of(LEAD_EVERY);
            n_looks = n_looks.wrapping_add(1);
            let info = CallInfo { can_change: false, ..CallInfo::of_loop("database") };
            let look = move |call: &Call| Ok(look(call, wants_lead));
            let looked = calls.run(info, Events::discard(), std::future::pending(), look).await;
            if let Ok((status, is_due)) = looked {
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

fn look(call: &Call, wants_lead: bool) -> (Option<DatabaseStatus>, bool) {
    if wants_lead {
        // This call only renews the leadership. Each loop checks for itself whether it runs on the
        // leader.
        let _ = call.host.is_leader();
    }
    let status = call.host.database_status();
    let is_usable = status.as_ref().is_some_and(|status| status.state.is_usable());
    (status, is_usable && service::has_due_sessions(&call.host).unwrap_or(false))
}
