//! Tests the watch with real events in real directories.
#![expect(clippy::disallowed_methods, reason = "the tests play the person who works on the code")]

use std::fs;
use std::sync::mpsc::{Receiver, channel};

use notify::EventKind;
use notify::event::{
    AccessKind, AccessMode, CreateKind, DataChange, Flag, MetadataKind, ModifyKind, RemoveKind,
    RenameMode,
};

use super::mailbox::{Meaning, meaning};
use super::*;

/// Creates a watch that waits for its barriers even if the machine is busy.
pub(super) fn patient(root: &Path, bell: impl Fn() + Send + 'static) -> Watch {
    let native = Native::new(bell, Duration::from_secs(600));
    Watch { root: root.to_owned(), native }
}

/// Watches a directory and its subdirectory. Also returns the bell's receiver.
fn watched() -> (tempfile::TempDir, Watch, Receiver<()>) {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("src")).unwrap();
    let (ring, bell) = channel();
    let mut watch = patient(dir.path(), move || {
        let _ = ring.send(());
    });
    assert_eq!(watch.follow(["", "src"].into_iter()).unwrap(), 2);
    assert_eq!((watch.mode(), watch.n_watched()), (WatchMode::Events, 2));
    (dir, watch, bell)
}

#[test]
fn what_happened_is_in_the_news_at_once() {
    let (dir, mut watch, _bell) = watched();
    for round in 0..300 {
        let name = ["a.rs", "src/b.rs"][round % 2];
        fs::write(dir.path().join(name), round.to_string()).unwrap();
        // Other programs open files too, so this open does not mean that all events have arrived.
        fs::read(dir.path().join(name)).unwrap();
        assert_eq!(watch.news(), News::Something);
        assert_eq!(watch.news(), News::Nothing);
    }
}

#[test]
fn the_bell_rings_once_until_the_news_are_taken() {
    let (dir, mut watch, bell) = watched();
    for name in ["a.rs", "b.rs", "src/c.rs"] {
        fs::write(dir.path().join(name), "x").unwrap();
    }
    bell.recv().unwrap();
    assert_eq!(watch.news(), News::Something);
    assert!(bell.try_recv().is_err());
    fs::write(dir.path().join("a.rs"), "y").unwrap();
    bell.recv().unwrap();
    assert!(0 < watch.n_told());
}

#[test]
fn a_folder_that_another_one_took_the_place_of_is_followed_again() {
    let (dir, mut watch, _bell) = watched();
    fs::create_dir(dir.path().join("src/deep")).unwrap();
    assert_eq!(watch.news(), News::Something);
    assert_eq!(watch.follow(["", "src", "src/deep"].into_iter()).unwrap(), 1);
    fs::remove_dir_all(dir.path().join("src")).unwrap();
    fs::create_dir_all(dir.path().join("src/deep")).unwrap();
    assert_eq!(watch.news(), News::Something);
    assert_eq!(watch.n_watched(), 1);
    assert_eq!(watch.follow(["", "src", "src/deep"].into_iter()).unwrap(), 2);
    assert_eq!(watch.follow(["", "src", "src/deep"].into_iter()).unwrap(), 0);
    fs::write(dir.path().join("src/deep/new.rs"), "x").unwrap();
    assert_eq!(watch.news(), News::Something);
}

#[test]
fn a_folder_that_is_gone_already_is_no_fault() {
    let (_dir, mut watch, _bell) = watched();
    watch.follow(["", "nothing"].into_iter()).unwrap();
    assert_eq!((watch.mode(), watch.n_watched()), (WatchMode::Events, 1));
}

#[test]
fn a_folder_that_cannot_be_watched_makes_it_a_watch_without_events() {
    let (_dir, mut watch, _bell) = watched();
    let refused = watch.follow(["", "no\0name"].into_iter());
    assert!(matches!(refused, Err(WatchFault::Refused(_))), "{refused:?}");
    assert_eq!((watch.mode(), watch.news()), (WatchMode::Polling, News::Something));
}

#[test]
fn without_events_nobody_knows_what_happened() {
    let dir = tempfile::tempdir().unwrap();
    let mut watch = Watch::polling(dir.path());
    watch.follow([""].into_iter()).unwrap();
    assert_eq!((watch.mode(), watch.n_watched()), (WatchMode::Polling, 0));
    assert_eq!(watch.news(), News::Something);
}

#[test]
fn who_is_never_told_of_openings_is_certain_of_nothing_and_soon_waits_no_more() {
    let mut watcher = notify::recommended_watcher(|_| {}).unwrap();
    let mut barriers = Barriers::new(&mut watcher, Duration::from_millis(1));
    let deaf = Mailbox::default();
    for _ in 0..4 {
        assert!(!barriers.pass(&mut watcher, &deaf));
    }
    assert_eq!(format!("{barriers:?}"), "Barriers { patience: 1ms, barriers: [] }");
}

#[test]
fn when_the_systems_side_ends_the_watch_goes_on_by_polling() {
    let (_dir, mut watch, bell) = watched();
    let mailbox = Arc::clone(&watch.native.as_ref().unwrap().mailbox);
    let (ring, second) = channel();
    drop(Teller {
        mailbox,
        bell: move || {
            let _ = ring.send(());
        },
    });
    second.recv().unwrap();
    assert_eq!(watch.news(), News::Lost);
    assert_eq!(watch.mode(), WatchMode::Polling);
    drop(bell);
}

#[test]
fn a_limit_is_told() {
    let native = Native::new(|| {}, EVENT_TIMEOUT).unwrap();
    let judged = |kind| native.judge(notify::Error::new(kind));
    assert!(matches!(judged(ErrorKind::MaxFilesWatch), Err(WatchFault::Limit { n_watched: 0 })));
    assert!(judged(ErrorKind::PathNotFound).is_ok());
    assert!(matches!(judged(ErrorKind::Generic(String::new())), Err(WatchFault::Refused(_))));
}

#[test]
fn events_are_understood() {
    let open = EventKind::Access(AccessKind::Open(AccessMode::Any));
    let table = [
        (EventKind::Create(CreateKind::File), "/p/a.rs", Meaning::Changed),
        (EventKind::Modify(ModifyKind::Data(DataChange::Any)), "/p/a.rs", Meaning::Changed),
        (EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any)), "/p/a.rs", Meaning::Changed),
        (EventKind::Modify(ModifyKind::Name(RenameMode::To)), "/p/a.rs", Meaning::Changed),
        (EventKind::Remove(RemoveKind::File), "/p/a.rs", Meaning::Changed),
        (EventKind::Access(AccessKind::Close(AccessMode::Write)), "/p/a.rs", Meaning::Changed),
        (EventKind::Access(AccessKind::Close(AccessMode::Read)), "/p/a.rs", Meaning::Nothing),
        (open, "/p/a.rs", Meaning::Nothing),
        (open, "/p/.git/HEAD", Meaning::Nothing),
        (EventKind::Create(CreateKind::File), "/p/.git/index.lock", Meaning::Nothing),
        (EventKind::Create(CreateKind::File), "/p/.git/index", Meaning::Changed),
        (open, "/proc/self/fd/7", Meaning::Passed(Path::new("/proc/self/fd/7"))),
        (EventKind::Remove(RemoveKind::File), "/proc/self/fd/7", Meaning::Nothing),
    ];
    for (kind, path, expected) in table {
        let event = Ok(Event::new(kind).add_path(PathBuf::from(path)));
        assert_eq!(meaning(&event), expected, "{kind:?} {path}");
    }
    let lost = Ok(Event::new(EventKind::Other).set_flag(Flag::Rescan));
    assert_eq!(meaning(&lost), Meaning::Lost);
    assert_eq!(meaning(&Err(notify::Error::generic("broken"))), Meaning::Lost);
}
