//! The laws of watching: real events, on real folders.
#![expect(clippy::disallowed_methods, reason = "the tests play the person who works on the code")]

use std::fs;

use notify::EventKind;
use notify::event::{AccessKind, CreateKind, Flag};

use super::*;

#[test]
fn a_change_in_a_watched_folder_wakes_and_a_new_folder_is_followed() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("src")).unwrap();
    let mut watch = Watch::new(dir.path(), Duration::from_secs(1));
    watch.follow(["", "src"].into_iter()).unwrap();
    assert_eq!((watch.mode(), watch.n_watched()), (Mode::Events, 2));
    fs::write(dir.path().join("src/a.rs"), "x").unwrap();
    assert_eq!(watch.wait(), Wake::Changed);
    fs::create_dir(dir.path().join("src/deep")).unwrap();
    assert_eq!(watch.wait(), Wake::Changed);
    watch.follow(["", "src", "src/deep"].into_iter()).unwrap();
    fs::write(dir.path().join("src/deep/b.rs"), "x").unwrap();
    assert_eq!(watch.wait(), Wake::Changed);
    fs::remove_dir_all(dir.path().join("src/deep")).unwrap();
    assert_eq!(watch.wait(), Wake::Changed);
    watch.follow(["", "src"].into_iter()).unwrap();
    assert_eq!(watch.n_watched(), 2);
}

#[test]
fn a_folder_that_is_gone_already_is_no_fault() {
    let dir = tempfile::tempdir().unwrap();
    let mut watch = Watch::new(dir.path(), Duration::from_secs(1));
    watch.follow(["", "nothing"].into_iter()).unwrap();
    assert_eq!(watch.mode(), Mode::Events);
}

#[test]
fn without_events_it_looks_every_interval() {
    let dir = tempfile::tempdir().unwrap();
    let mut watch = Watch::polling(dir.path(), Duration::from_millis(1));
    watch.follow([""].into_iter()).unwrap();
    assert_eq!((watch.mode(), watch.n_watched()), (Mode::Polling, 0));
    assert_eq!(watch.wait(), Wake::Interval);
}

#[test]
fn a_limit_is_told_and_a_lost_event_is_a_reason_to_look() {
    let native = Native {
        watcher: notify::recommended_watcher(|_| {}).unwrap(),
        events: channel().1,
        watched: BTreeSet::new(),
    };
    let judged = |kind| native.judge(notify::Error::new(kind));
    assert!(matches!(judged(ErrorKind::MaxFilesWatch), Err(WatchFault::Limit { n_watched: 0 })));
    assert!(judged(ErrorKind::PathNotFound).is_ok());
    assert!(matches!(judged(ErrorKind::Generic(String::new())), Err(WatchFault::Refused(_))));
    let event = |kind| Ok(Event::new(kind).add_path(PathBuf::from("/p/a.rs")));
    let lost = Event::new(EventKind::Other).set_flag(Flag::Rescan);
    let lock = Event::new(EventKind::Create(CreateKind::File));
    let lock = Ok(lock.add_path(PathBuf::from("/p/.git/index.lock")));
    assert_eq!(wake_by(&Ok(lost)), Some(Wake::Overflow));
    assert_eq!(wake_by(&event(EventKind::Create(CreateKind::File))), Some(Wake::Changed));
    assert_eq!(wake_by(&event(EventKind::Access(AccessKind::Any))), None);
    assert_eq!(wake_by(&lock), None);
}
