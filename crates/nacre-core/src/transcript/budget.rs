//! What reading may cost where the size of a file does not tell it: in databases and packed traces.
//!
//! A database is charged the time its queries keep the processor busy, their steps and the bytes they give; a packed trace what
//! comes out of it. Whatever is left of that is never given back: in one sync a database has one budget, however often it is
//! opened, and all of them share another. Once that is spent, no other is opened: what was not read yet is left to the next sync.
//!
//! Processor time, and not the time of a clock: a busy machine must not make a good database look like a bad one.

use std::cell::RefCell;
use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Any database may take this much time when it is opened once, and in one sync, however often it is opened there.
const TIME_ONCE: Duration = Duration::from_secs(3);
const TIME_IN_SYNC: Duration = Duration::from_secs(5);
/// What all databases of one sync may take.
const TIME_OF_SYNC: Duration = Duration::from_secs(10);
/// For so many bytes on the disk there is a second more.
const BYTES_PER_SECOND: u64 = 8 * 1024 * 1024;
/// What one session more costs outside of a database's queries. It is no fault of the database, so that only the sync is charged.
const TIME_TO_OPEN: Duration = Duration::from_millis(1);
/// The steps of SQLite's machine that any database may take, and those that a big one may take at most.
const MIN_STEPS: u64 = 5_000_000;
const MAX_STEPS: u64 = 1_000_000_000;
/// What may be read of a small database.
const MIN_BYTES: u64 = 8 * 1024 * 1024;
/// In one sync every row is read a few times: to list the sessions, to learn whose they are, and to take them.
const READS_IN_SYNC: u64 = 8;
/// What may come out of all packed traces of one sync, and how much more for each byte that is packed.
const UNPACKED_IN_SYNC: u64 = 1024 * 1024 * 1024;
const UNPACKED_PER_BYTE: u64 = 16;

thread_local! {
    /// The sync that this thread is at.
    static CURRENT: RefCell<Option<Shared>> = const { RefCell::new(None) };
}

/// While it lives, everything that its thread reads is charged to one budget.
#[derive(Debug)]
#[must_use = "it ends when it is dropped"]
pub struct SyncBudget {
    is_outermost: bool,
    /// It belongs to its thread.
    _not_send: PhantomData<*const ()>,
}

impl SyncBudget {
    /// Begins a budget; inside of another one, that one goes on.
    pub fn begin() -> Self {
        Self::of(TIME_OF_SYNC, UNPACKED_IN_SYNC)
    }

    pub(crate) fn of(time: Duration, unpacked: u64) -> Self {
        let is_outermost = CURRENT.with_borrow_mut(|current| {
            let is_outermost = current.is_none();
            current.get_or_insert_with(|| Shared {
                time: Arc::new(Amount::new(nanos(time))),
                unpacked: Amount::new(unpacked),
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

/// What all traces of a sync share.
#[derive(Debug)]
struct Shared {
    time: Arc<Amount>,
    unpacked: Amount,
    databases: HashMap<FileId, Arc<DatabaseBudget>>,
}

/// The device and the number of a file.
pub(super) type FileId = (u64, u64);

/// The sync has spent what it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SyncIsSpent;

/// An amount that can only shrink while it is used.
#[derive(Debug)]
struct Amount(AtomicU64);

impl Amount {
    fn new(amount: u64) -> Self {
        Self(AtomicU64::new(amount))
    }

    /// Takes `n` from it; `false` where that was more than there was left.
    fn take(&self, n: u64) -> bool {
        let take = |left: u64| Some(left.saturating_sub(n));
        let before = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        before.is_ok_and(|before| n < before)
    }

    fn add(&self, n: u64) {
        let add = |left: u64| Some(left.saturating_add(n));
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    fn is_empty(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}

/// What reading one database may cost, in proportion to what lies of it on the disk: every row is wanted a few times at most, so
/// only a damaged or hostile one needs more.
#[derive(Debug)]
pub(super) struct DatabaseBudget {
    time: Amount,
    steps: Amount,
    bytes: Amount,
    is_spent: AtomicBool,
    /// The thread's time when it was charged last.
    charged_to: AtomicU64,
    of_sync: Option<Arc<Amount>>,
}

impl DatabaseBudget {
    /// The budget of a database that is opened: in a sync the one that it has had since it was opened first.
    pub(super) fn of(file: FileId, size: u64) -> Result<Arc<Self>, SyncIsSpent> {
        let budget = CURRENT.with_borrow_mut(|current| {
            let Some(shared) = current else { return Ok(Arc::new(Self::new(size, None))) };
            if shared.time.is_empty() {
                return Err(SyncIsSpent);
            }
            shared.time.take(nanos(TIME_TO_OPEN));
            if let Some(known) = shared.databases.get(&file) {
                return Ok(Arc::clone(known));
            }
            shared.time.add(nanos(time_for(size)));
            let budget = Arc::new(Self::new(size, Some(Arc::clone(&shared.time))));
            shared.databases.insert(file, Arc::clone(&budget));
            Ok(budget)
        })?;
        budget.begin_work();
        Ok(budget)
    }

    fn new(size: u64, of_sync: Option<Arc<Amount>>) -> Self {
        let (time, n_reads) = match of_sync {
            Some(_) => (TIME_IN_SYNC, READS_IN_SYNC),
            None => (TIME_ONCE, 1),
        };
        let steps = MIN_STEPS.saturating_add(size.saturating_mul(2)).min(MAX_STEPS);
        let bytes = MIN_BYTES.saturating_add(size.saturating_mul(4));
        Self {
            time: Amount::new(nanos(time + time_for(size))),
            steps: Amount::new(steps.saturating_mul(n_reads)),
            bytes: Amount::new(bytes.saturating_mul(n_reads)),
            is_spent: AtomicBool::new(false),
            charged_to: AtomicU64::new(0),
            of_sync,
        }
    }

    /// Whether nothing is left: it stays so.
    pub(super) fn is_spent(&self) -> bool {
        self.is_spent.load(Ordering::Relaxed)
    }

    /// The database is at work from now on.
    pub(super) fn begin_work(&self) {
        self.charged_to.store(crate::platform::thread_nanos(), Ordering::Relaxed);
    }

    /// Charges the time since work began, or was charged last.
    pub(super) fn charge_work(&self) {
        let now = crate::platform::thread_nanos();
        self.charge_time(now.saturating_sub(self.charged_to.swap(now, Ordering::Relaxed)));
    }

    pub(super) fn charge_steps(&self, n_steps: u64) {
        self.note(self.steps.take(n_steps));
    }

    pub(super) fn charge_bytes(&self, n_bytes: u64) {
        self.note(self.bytes.take(n_bytes));
    }

    fn charge_time(&self, time: u64) {
        if let Some(of_sync) = &self.of_sync {
            of_sync.take(time);
        }
        self.note(self.time.take(time));
    }

    fn note(&self, is_enough: bool) {
        self.is_spent.fetch_or(!is_enough, Ordering::Relaxed);
    }
}

/// Whether this sync may unpack one more trace.
pub(super) fn begin_unpacking(n_packed: u64) -> Result<(), SyncIsSpent> {
    CURRENT.with_borrow(|current| {
        let Some(shared) = current else { return Ok(()) };
        if shared.unpacked.is_empty() {
            return Err(SyncIsSpent);
        }
        shared.unpacked.add(n_packed.saturating_mul(UNPACKED_PER_BYTE));
        Ok(())
    })
}

/// Charges what came out of a packed trace.
pub(super) fn charge_unpacked(n_bytes: u64) {
    CURRENT.with_borrow(|current| {
        if let Some(shared) = current {
            shared.unpacked.take(n_bytes);
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
        // One that begins inside goes on with it, and does not end it.
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
