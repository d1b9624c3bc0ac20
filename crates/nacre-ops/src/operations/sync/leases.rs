//! Keeps leases of the shared queue while sessions are worked on: a sign of life every few seconds, from a thread of its own.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nacre_core::catalog::{CatalogError, Claim, JobQueue as _};
use nacre_postgres::queue::SharedQueue;

use crate::host::{SHARED_LEASE, SystemClock};

/// A lease outlasts three signs of life that do not arrive.
const BEAT: Duration = Duration::from_secs(3);

/// The claims that are kept until this is dropped. A queue of this machine alone needs none of it.
pub(super) struct LeaseKeeper {
    held: Arc<Mutex<Vec<Claim>>>,
    /// Its end ends the thread.
    _stop: Option<Sender<()>>,
}

impl LeaseKeeper {
    /// Starts to keep what is handed over.
    pub(super) fn start(queue: Option<&SharedQueue>, clock: SystemClock) -> std::io::Result<Self> {
        let held = Arc::<Mutex<Vec<Claim>>>::default();
        let Some(queue) = queue else { return Ok(Self { held, _stop: None }) };
        let (stop, stopped) = channel();
        let (mut queue, beaten) = (queue.clone(), Arc::clone(&held));
        std::thread::Builder::new().name("nacre-leases".to_owned()).spawn(move || {
            while stopped.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
                beat(&mut queue, &beaten, &clock);
            }
        })?;
        Ok(Self { held, _stop: Some(stop) })
    }

    pub(super) fn keep(&self, claim: &Claim) {
        lock(&self.held).push(claim.clone());
    }

    pub(super) fn let_go(&self, claim: &Claim) {
        lock(&self.held).retain(|held| held.key != claim.key);
    }
}

/// Keeps each lease for another while. A database that is away may be back before it ends.
fn beat(queue: &mut SharedQueue, held: &Mutex<Vec<Claim>>, clock: &SystemClock) {
    let claims = lock(held).clone();
    for claim in &claims {
        let beat = queue.heartbeat(claim, clock(), SHARED_LEASE);
        if matches!(beat, Err(CatalogError::LeaseLost { .. })) {
            lock(held).retain(|held| held.key != claim.key);
        }
    }
}

fn lock(held: &Mutex<Vec<Claim>>) -> std::sync::MutexGuard<'_, Vec<Claim>> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}
