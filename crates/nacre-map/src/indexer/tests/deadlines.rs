//! Tests for refreshes that exceed their deadline. The remaining files are counted and left for the
//! next refresh.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::{delta_since, refresh};
use super::*;

/// Returns single-threaded options whose deadline passes after `n_asked` checks.
fn over_after(n_asked: usize) -> RefreshOptions {
    let asked = Arc::new(AtomicUsize::new(0));
    let deadline = Deadline::new(move || n_asked <= asked.fetch_add(1, Ordering::Relaxed));
    let looked_ns = clock_ns() + 10_000_000_000;
    RefreshOptions { deadline, n_threads: 1, looked_ns, ..options() }
}

fn desk_of(n_files: usize) -> TestTree {
    let tree = TestTree::new();
    for number in 0..n_files {
        tree.write(&format!("f{number}.rs"), format!("fn f{number}() {{}}\n"));
    }
    tree
}

#[test]
fn files_that_there_was_no_time_for_are_counted_and_read_by_the_next_looks() {
    let tree = desk_of(10);
    // The first check is for the only directory.
    let look =
        |n_read: usize| refresh(&tree.cache(), &tree.project(), &over_after(1 + n_read)).unwrap();
    let first = look(4);
    assert_eq!((first.stats.file_count, first.stats.postponed_files), (10, 6));
    assert_eq!((first.stats.rehashed_entries, first.stats.unread_files), (4, 6));
    let options = RefreshOptions { n_threads: 1, ..over_after(3) };
    let second = refresh(&tree.cache(), &tree.project(), &options).unwrap();
    assert_eq!((second.stats.rehashed_entries, second.stats.postponed_files), (3, 3));
    let last = tree.settle();
    assert_eq!((last.stats.postponed_files, last.stats.unread_files), (0, 0));
    assert_eq!(seen(&last), tree.cold(), "in the end it is a build from nothing");
}

#[test]
fn how_many_files_were_read_is_told_as_it_goes() {
    let tree = desk_of(100);
    let told = Arc::new(std::sync::Mutex::new(Vec::new()));
    let heard = Arc::clone(&told);
    let progress = ReadProgress::new(move |done, total| heard.lock().unwrap().push((done, total)));
    let options = RefreshOptions { progress, n_threads: 1, ..options() };
    refresh(&tree.cache(), &tree.project(), &options).unwrap();
    let told = told.lock().unwrap();
    assert!(told.len() > 1 && told.is_sorted(), "{told:?}");
    assert_eq!(told.last(), Some(&(100, 100)));
}

#[test]
fn a_changed_file_that_there_was_no_time_for_stays_as_it_was_known() {
    let tree = desk_of(2);
    let before = tree.settle();
    tree.write("f1.rs", "fn other() {}\nfn more() {}\n");
    let late = refresh(&tree.cache(), &tree.project(), &over_after(0)).unwrap();
    assert_eq!((late.stats.postponed_files, late.revision()), (1, before.revision()));
    assert_eq!(
        late.artifact.find("f1.rs").unwrap().hash,
        before.artifact.find("f1.rs").unwrap().hash
    );
    let next = tree.settle();
    let delta = delta_since(&next, before.revision()).unwrap();
    let changed: Vec<&str> = delta.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(changed, ["f1.rs"], "and it is told when it is read");
    assert_eq!(seen(&next), tree.cold());
}

#[test]
fn a_walk_that_came_to_no_end_changes_nothing() {
    let tree = desk_of(3);
    let before = tree.settle();
    let options = RefreshOptions { trust: Verify::Contents, ..over_after(0) };
    let error = refresh(&tree.cache(), &tree.project(), &options).unwrap_err();
    assert!(error.is_late(), "{error}");
    let after = tree.settle();
    assert_eq!((after.revision(), after.stats.file_count), (before.revision(), 3));
}

#[test]
fn a_closer_look_ends_in_time_and_goes_on_later() {
    let tree = desk_of(6);
    let glanced = RefreshOptions { n_threads: 1, ..options() };
    let mut current = refresh(&tree.cache(), &tree.project(), &glanced).unwrap();
    let paths: Vec<String> = (0..6).map(|number| format!("f{number}.rs")).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    // A small project is parsed immediately. If its stored analyses are missing, its files count as
    // analysed only line by line.
    fs::remove_dir_all(tree.cache_folder().join("analyses")).unwrap();
    current.analyses = tree.cache().analyses();
    assert_eq!(current.shallow(&paths).len(), 6);
    assert_eq!(current.deepen(&tree.cache(), &paths, &over_after(2)), 2);
    assert_eq!(current.shallow(&paths).len(), 4);
    assert_eq!(current.deepen(&tree.cache(), &paths, &options()), 4);
}
