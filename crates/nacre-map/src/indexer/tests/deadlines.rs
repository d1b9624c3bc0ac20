//! Looks that come to no end in time: what is left is counted, and read by the next look.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::{delta_since, refresh};
use super::*;

/// Options by which time is over when it was asked for so often, on one thread.
fn over_after(n_asked: usize) -> RefreshOptions {
    let asked = Arc::new(AtomicUsize::new(0));
    let deadline = Deadline::new(move || n_asked <= asked.fetch_add(1, Ordering::Relaxed));
    let looked_ns = clock_ns() + 10_000_000_000;
    RefreshOptions { deadline, n_threads: 1, looked_ns, ..options() }
}

fn desk_of(n_files: usize) -> Desk {
    let desk = Desk::new();
    for number in 0..n_files {
        desk.write(&format!("f{number}.rs"), format!("fn f{number}() {{}}\n"));
    }
    desk
}

#[test]
fn files_that_there_was_no_time_for_are_counted_and_read_by_the_next_looks() {
    let desk = desk_of(10);
    // The first time it is asked for the one folder.
    let look =
        |n_read: usize| refresh(&desk.cache(), &desk.project(), &over_after(1 + n_read)).unwrap();
    let first = look(4);
    assert_eq!((first.stats.file_count, first.stats.postponed_files), (10, 6));
    assert_eq!((first.stats.rehashed_entries, first.stats.unread_files), (4, 6));
    let options = RefreshOptions { n_threads: 1, ..over_after(3) };
    let second = refresh(&desk.cache(), &desk.project(), &options).unwrap();
    assert_eq!((second.stats.rehashed_entries, second.stats.postponed_files), (3, 3));
    let last = desk.settled();
    assert_eq!((last.stats.postponed_files, last.stats.unread_files), (0, 0));
    assert_eq!(seen(&last), desk.cold(), "in the end it is a build from nothing");
}

#[test]
fn a_changed_file_that_there_was_no_time_for_stays_as_it_was_known() {
    let desk = desk_of(2);
    let before = desk.settled();
    desk.write("f1.rs", "fn other() {}\nfn more() {}\n");
    let late = refresh(&desk.cache(), &desk.project(), &over_after(0)).unwrap();
    assert_eq!((late.stats.postponed_files, late.revision()), (1, before.revision()));
    assert_eq!(
        late.artifact.find("f1.rs").unwrap().hash,
        before.artifact.find("f1.rs").unwrap().hash
    );
    let next = desk.settled();
    let delta = delta_since(&next, before.revision()).unwrap();
    let changed: Vec<&str> = delta.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(changed, ["f1.rs"], "and it is told when it is read");
    assert_eq!(seen(&next), desk.cold());
}

#[test]
fn a_walk_that_came_to_no_end_changes_nothing() {
    let desk = desk_of(3);
    let before = desk.settled();
    let options = RefreshOptions { trust: Verify::Contents, ..over_after(0) };
    let error = refresh(&desk.cache(), &desk.project(), &options).unwrap_err();
    assert!(error.is_late(), "{error}");
    let after = desk.settled();
    assert_eq!((after.revision(), after.stats.file_count), (before.revision(), 3));
}

#[test]
fn a_closer_look_ends_in_time_and_goes_on_later() {
    let desk = desk_of(6);
    let glanced = RefreshOptions { n_threads: 1, ..options() };
    let mut current = refresh(&desk.cache(), &desk.project(), &glanced).unwrap();
    let paths: Vec<String> = (0..6).map(|number| format!("f{number}.rs")).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    // Few files are looked at closely at once; these are made to have been glanced at only.
    fs::remove_dir_all(desk.cache_folder().join("analyses")).unwrap();
    current.analyses = desk.cache().analyses();
    assert_eq!(current.shallow(&paths).len(), 6);
    assert_eq!(current.deepen(&desk.cache(), &paths, &over_after(2)), 2);
    assert_eq!(current.shallow(&paths).len(), 4);
    assert_eq!(current.deepen(&desk.cache(), &paths, &options()), 4);
}
