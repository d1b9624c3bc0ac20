//! Tests the daemon with a simulated clock.

use std::sync::atomic::{AtomicU64, Ordering};

use super::*;

/// A daemon whose clock is set by the test, in seconds.
struct Moved {
    daemon: Arc<Daemon>,
    now: Arc<AtomicU64>,
}

impl Moved {
    fn new() -> Self {
        let now = Arc::new(AtomicU64::new(0));
        let (wall, uptime) = (Arc::clone(&now), Arc::clone(&now));
        let environment = Environment {
            vars: Vec::new(),
            garbled_vars: Vec::new(),
            folder: "/".into(),
            is_folder_gone: false,
            home: None,
            host: None,
            pid: 1,
            program: None,
            clock: Arc::new(move || {
                let seconds = wall.load(Ordering::Relaxed).try_into().unwrap();
                Timestamp::from_second(seconds).unwrap()
            }),
            uptime: Arc::new(move || Duration::from_secs(uptime.load(Ordering::Relaxed))),
            random: |bytes| {
                bytes.fill(0x80);
                Ok(())
            },
        };
        Self { daemon: Daemon::new(environment, false), now }
    }

    fn at(&self, seconds: u64) -> &Daemon {
        self.now.store(seconds, Ordering::Relaxed);
        &self.daemon
    }

    fn begun(&self, seconds: u64) -> Vec<&'static str> {
        let (begun, _) = self.at(seconds).begin_due();
        begun.iter().map(|(name, _)| name.as_str()).collect()
    }

    fn entry(&self, name: LoopName) -> LoopEntry {
        self.daemon.entries().into_iter().find(|entry| entry.name == name).unwrap()
    }
}

fn done() -> Result<LoopResult, OpError> {
    let changed = vec![ChangedThing::Queue];
    Ok(LoopResult { outcome: Outcome::Done, text: "2 read".to_owned(), changed })
}

#[test]
fn each_loop_has_its_turn_and_never_runs_twice_at_once() {
    let moved = Moved::new();
    assert_eq!(moved.begun(10), [""; 0]);
    assert_eq!(moved.begun(31), ["sync"]);
    assert_eq!(moved.begun(200), ["index", "map"], "the sync still runs");
    moved.daemon.wake(&[LoopName::Sync]);
    assert_eq!(moved.begun(210), [""; 0]);
    moved.at(220).end(LoopName::Sync, &done());
    assert_eq!(moved.begun(221), ["sync"], "it was woken while it ran");
    assert_eq!(moved.entry(LoopName::Sync).last_result.as_deref(), Some("2 read"));
    assert_eq!(moved.begun(2000), ["maintain", "prune"]);
}

#[test]
fn nothing_begins_while_it_is_paused() {
    let moved = Moved::new();
    moved.daemon.set_paused(true);
    moved.daemon.wake(&[LoopName::Sync]);
    assert_eq!(moved.begun(100_000), [""; 0]);
    let entry = moved.entry(LoopName::Sync);
    assert_eq!((entry.state, entry.next), (LoopState::Paused, None));
    moved.daemon.set_paused(false);
    assert!(moved.begun(100_001).contains(&"sync"));
}

#[test]
fn a_failure_is_shown_and_waited_for_and_a_busy_store_is_not_one() {
    let moved = Moved::new();
    assert_eq!(moved.begun(31), ["sync"]);
    let busy = OpError { code: ErrorCode::Busy, ..OpError::failed("Another sync is running") };
    moved.daemon.end(LoopName::Sync, &Err(busy));
    let entry = moved.entry(LoopName::Sync);
    assert_eq!((entry.state, entry.last_error), (LoopState::Idle, None));
    assert!(moved.begun(100).contains(&"sync"));
    moved.daemon.end(LoopName::Sync, &Err(OpError::failed("The disk is full")));
    let entry = moved.entry(LoopName::Sync);
    assert_eq!(entry.state, LoopState::Waiting);
    assert_eq!(entry.last_error.as_deref(), Some("The disk is full"));
    assert_eq!(entry.next.as_deref(), Some("1970-01-01T00:21:40Z"));
}
