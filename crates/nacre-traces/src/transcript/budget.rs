//! Limits the cost of reading databases and compressed transcripts, because their file size alone
//! does not bound it.
//!
//! Reading a database is charged in CPU time, SQLite steps and returned bytes; reading a compressed
//! transcript is charged in bytes of output. During one sync, each database has a single budget
//! regardless of how often it is opened, and all databases together share another budget. When the
//! shared budget is used up, the remaining sources are left for the next sync. The limits use CPU
//! time rather than elapsed time, so that a valid database on a busy machine does not appear
//! hostile.

use std::cell::RefCell;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Base CPU time for opening a database once outside a sync, for all opens of one database in a
/// sync, and for all databases in a sync.
const TIME_ONCE: Duration = Duration::from_secs(3);
const TIME_IN_SYNC: Duration = Duration::from_secs(5);
const TIME_OF_SYNC: Duration = Duration::from_secs(10);
/// A database gets one extra second per this many bytes on disk.
const BYTES_PER_SECOND: u64 = 8 * 1024 * 1024;
/// CPU time charged to the sync each time a session's database is opened.
const TIME_TO_OPEN: Duration = Duration::from_millis(1);
/// Bounds on the number of SQLite virtual machine steps. The limit depends on the database's size.
const MIN_STEPS: u64 = 5_000_000;
const MAX_STEPS: u64 = 1_000_000_000;
/// At least this many bytes may be read from a database, regardless of its size.
const MIN_BYTES: u64 = 8 * 1024 * 1024;
/// A sync reads each row several times: to list the sessions, to find their projects, and to read
/// their content.
const READS_IN_SYNC: u64 = 8;
/// Maximum output from all compressed transcripts in one sync. Each compressed byte adds
/// `UNPACKED_PER_BYTE` to it.
const UNPACKED_IN_SYNC: u64 = 1024 * 1024 * 1024;
const UNPACKED_PER_BYTE: u64 = 16;

thread_local! {
    static CURRENT: RefCell<Option<Shared>> = const { RefCell::new(None) };
}

/// Charges all reads on its thread to one budget until it is dropped.
#[derive(Debug)]
#[must_use = "the budget ends when this guard is dropped"]
pub struct SyncBudget {
    is_outermost: bool,
    /// Makes the type `!Send`, because the budget is stored in a thread-local variable.
    _not_send: PhantomData<*const ()>,
}

impl SyncBudget {
    /// If a budget is already active on this thread, it stays in effect.
    pub fn begin() -> Self {
        Self::of(TIME_OF_SYNC, UNPACKED_IN_SYNC)
    }

    pub(crate) fn of(time: Duration, unpacked: u64) -> Self {
        let is_outermost = CURRENT.with_borrow_mut(|current| {
            let is_outermost = current.is_none();
            current.get_or_insert_with(|| Shared {
                time: Arc::new(AtomicU64::new(nanos(time))),
                unpacked: AtomicU64::new(unpacked),
                databases: HashMap::new(),
            });
            is_outermost
        });
        Self { is_outermost, _not_send: PhantomData }
    }
}

impl Drop for SyncBudget {
    fn drop(&mut self) {
        if self.is_outermost {
            CURRENT.set(None);
        }
    }
}

#[derive(Debug)]
struct Shared {
    time: Arc<AtomicU64>,
    unpacked: AtomicU64,
    databases: HashMap<FileId, Arc<DatabaseBudget>>,
}

pub(crate) type FileId = (u64, u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SyncIsSpent;

/// Returns `false` if the amount is used up.
fn take(amount: &AtomicU64, n: u64) -> bool {
    let take = |left: u64| Some(left.saturating_sub(n));
    amount.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok_and(|before| n < before)
}

fn add(amount: &AtomicU64, n: u64) {
    let add = |left: u64| Some(left.saturating_add(n));
    let _ = amount.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
}

fn is_empty(amount: &AtomicU64) -> bool {
    amount.load(Ordering::Relaxed) == 0
}

/// One database's budget, which depends on its size on disk. Every row is read only a few times, so
/// only a damaged or hostile database exceeds it.
#[derive(Debug)]
pub(crate) struct DatabaseBudget {
    time: AtomicU64,
    steps: AtomicU64,
    bytes: AtomicU64,
    is_spent: AtomicBool,
    charged_to: AtomicU64,
    of_sync: Option<Arc<AtomicU64>>,
}

impl DatabaseBudget {
    /// During a sync, all opens of the same file share one budget.
    pub(crate) fn of(file: FileId, size: u64) -> Result<Arc<Self>, SyncIsSpent> {
        let budget = CURRENT.with_borrow_mut(|current| {
            let Some(shared) = current else { return Ok(Arc::new(Self::new(size, None))) };
            if is_empty(&shared.time) {
                return Err(SyncIsSpent);
            }
            take(&shared.time, nanos(TIME_TO_OPEN));
            if let Some(known) = shared.databases.get(&file) {
                return Ok(Arc::clone(known));
            }
            add(&shared.time, nanos(time_for(size)));
            let budget = Arc::new(Self::new(size, Some(Arc::clone(&shared.time))));
            shared.databases.insert(file, Arc::clone(&budget));
            Ok(budget)
        })?;
        budget.begin_work();
        Ok(budget)
    }

    fn new(size: u64, of_sync: Option<Arc<AtomicU64>>) -> Self {
        let (time, n_reads) = match of_sync {
            Some(_) => (TIME_IN_SYNC, READS_IN_SYNC),
            None => (TIME_ONCE, 1),
        };
        let steps = MIN_STEPS.saturating_add(size.saturating_mul(2)).min(MAX_STEPS);
        let bytes = MIN_BYTES.saturating_add(size.saturating_mul(4));
        Self {
            time: AtomicU64::new(nanos(time + time_for(size))),
            steps: AtomicU64::new(steps.saturating_mul(n_reads)),
            bytes: AtomicU64::new(bytes.saturating_mul(n_reads)),
            is_spent: AtomicBool::new(false),
            charged_to: AtomicU64::new(0),
            of_sync,
        }
    }

    /// A budget never recovers.
    pub(crate) fn is_spent(&self) -> bool {
        self.is_spent.load(Ordering::Relaxed)
    }

    pub(crate) fn begin_work(&self) {
        self.charged_to.store(nacre_base::platform::thread_nanos(), Ordering::Relaxed);
    }

    pub(crate) fn charge_work(&self) {
        let now = nacre_base::platform::thread_nanos();
        self.charge_time(now.saturating_sub(self.charged_to.swap(now, Ordering::Relaxed)));
    }

    pub(crate) fn charge_steps(&self, n_steps: u64) {
        self.note(take(&self.steps, n_steps));
    }

    pub(crate) fn charge_bytes(&self, n_bytes: u64) {
        self.note(take(&self.bytes, n_bytes));
    }

    fn charge_time(&self, time: u64) {
        if let Some(of_sync) = &self.of_sync {
            take(of_sync, time);
        }
        self.note(take(&self.time, time));
    }

    fn note(&self, is_enough: bool) {
        self.is_spent.fetch_or(!is_enough, Ordering::Relaxed);
    }
}

/// Adds a compressed transcript's allowance to the sync's budget. Fails if the budget is already
/// used up.
pub(crate) fn begin_unpacking(n_packed: u64) -> Result<(), SyncIsSpent> {
    CURRENT.with_borrow(|current| {
        let Some(shared) = current else { return Ok(()) };
        if is_empty(&shared.unpacked) {
            return Err(SyncIsSpent);
        }
        add(&shared.unpacked, n_packed.saturating_mul(UNPACKED_PER_BYTE));
        Ok(())
    })
}

pub(crate) fn charge_unpacked(n_bytes: u64) {
    CURRENT.with_borrow(|current| {
        if let Some(shared) = current {
            take(&shared.unpacked, n_bytes);
        }
    });
}

fn time_for(size: u64) -> Duration {
    Duration::from_secs(size / BYTES_PER_SECOND)
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_has_one_budget_in_a_sync_however_often_it_is_opened() {
        let sync = SyncBudget::begin();
        let first = DatabaseBudget::of((1, 1), 0).unwrap();
        first.charge_bytes(MIN_BYTES * READS_IN_SYNC - 1);
        assert!(!first.is_spent());
        let again = DatabaseBudget::of((1, 1), u64::MAX).unwrap();
        again.charge_bytes(1);
        assert!(first.is_spent() && again.is_spent());
        assert!(!DatabaseBudget::of((1, 2), 0).unwrap().is_spent());
        drop(sync);
        assert!(!DatabaseBudget::of((1, 1), 0).unwrap().is_spent());
    }

    #[test]
    fn sessions_without_number_are_read_by_many_syncs() {
        let _sync = SyncBudget::of(Duration::from_secs(1), 0);
        let opened = (0..10_000).take_while(|_| DatabaseBudget::of((1, 1), 0).is_ok()).count();
        assert_eq!(opened, 1000);
    }

    #[test]
    fn what_all_databases_share_is_spent_once() {
        let sync = SyncBudget::of(Duration::from_secs(2), 10);
        let first = DatabaseBudget::of((1, 1), 0).unwrap();
        first.charge_time(nanos(Duration::from_secs(3)));
        assert!(!first.is_spent());
        assert_eq!(DatabaseBudget::of((1, 2), 1 << 40).unwrap_err(), SyncIsSpent);
        assert_eq!(DatabaseBudget::of((1, 1), 0).unwrap_err(), SyncIsSpent);
        // Dropping a nested guard does not end the outer budget.
        drop(SyncBudget::begin());
        assert!(DatabaseBudget::of((1, 2), 0).is_err());
        charge_unpacked(10);
        assert_eq!(begin_unpacking(5), Err(SyncIsSpent));
        drop(sync);
        assert_eq!(begin_unpacking(5), Ok(()));
    }

    #[test]
    fn a_big_database_brings_its_own_time() {
        let _sync = SyncBudget::of(Duration::from_secs(1), 10);
        let big = DatabaseBudget::of((1, 1), 100 * BYTES_PER_SECOND).unwrap();
        big.charge_time(nanos(Duration::from_secs(100)));
        assert!(!big.is_spent() && DatabaseBudget::of((1, 2), 0).is_ok());
        assert_eq!(begin_unpacking(100), Ok(()));
        charge_unpacked(1000);
        assert_eq!(begin_unpacking(0), Ok(()));
    }
}
