//! Tests that after any sequence of changes to a watched project, its map equals one built from
//! scratch.
#![expect(clippy::disallowed_methods, reason = "the tests play the person who works on the code")]

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use nacre_types::CacheStatus;
use proptest::prelude::*;

use super::*;
use crate::artifact::{FolderRow, Stamp};
use crate::indexer::tests::oracle::{Step, step, take};
use crate::indexer::tests::{Seen, TestTree, clock_ns, options, seen};
use crate::indexer::{Deadline, Excludes, GitPlaces, Sensitive};
use crate::watch::tests::patient;

/// A project with a live map.
struct Watched {
    tree: TestTree,
    live: Live,
    current: Current,
}

/// Returns options whose time is late enough that no file counts as doubtful.
fn late() -> RefreshOptions {
    RefreshOptions { looked_ns: clock_ns() + 10_000_000_000, ..options() }
}

impl Watched {
    fn new(tree: TestTree, watch: Watch) -> Self {
        let current = tree.look();
        let mut watched = Self { tree, live: Live::new(watch), current };
        assert!(watched.now(&late()));
        watched
    }

    fn repository() -> Self {
        let tree = TestTree::with_git();
        tree.write("a.rs", "fn one() {}\n");
        tree.write("src/b.rs", "fn two() {}\n");
        tree.commit_all();
        let watch = patient(&tree.root(), || {});
        Self::new(tree, watch)
    }

    /// Updates the map. Returns whether files were compared.
    fn now(&mut self, options: &RefreshOptions) -> bool {
        self.live.now(&self.tree.cache(), &mut self.current, options).unwrap().is_refreshed
    }

    /// Returns the files and directories in the live map, and those in a map built from scratch.
    fn both(&self) -> ((Vec<Seen>, Folders), (Vec<Seen>, Folders)) {
        let cold = self.tree.cold_look();
        ((seen(&self.current), folders(&self.current)), (seen(&cold), folders(&cold)))
    }
}

type Folders = Vec<(String, FolderRow)>;

/// Returns all existing directories, ignoring anything that depends on when they were refreshed.
fn folders(current: &Current) -> Folders {
    let rows = current.artifact.folders().iter().filter(|(_, row)| row.stamp != Stamp::default());
    rows.map(|(path, row)| (path.clone(), FolderRow { is_doubtful: false, ..*row })).collect()
}

proptest! {
    // Each case runs git about twenty times.
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 8, ..ProptestConfig::default() })]

    #[test]
    fn a_live_map_is_what_a_build_from_nothing_makes(steps in prop::collection::vec(step(), 1..20)) {
        let mut watched = Watched::repository();
        for step in &steps {
            take(&watched.tree, step);
            // When another process refreshes the map, this one can become outdated.
            if matches!(step, Step::Look | Step::Ask) {
                watched.now(&options());
                let (live, cold) = watched.both();
                prop_assert_eq!(live, cold);
            }
        }
        watched.now(&options());
        let (live, cold) = watched.both();
        prop_assert_eq!(live, cold);
        watched.now(&late());
        prop_assert!(!watched.now(&late()));
        let (live, cold) = watched.both();
        prop_assert_eq!(live, cold);
    }
}

#[test]
fn nothing_is_looked_at_when_nothing_happened() {
    let mut watched = Watched::repository();
    let revision = watched.current.revision();
    for _ in 0..100 {
        // A read is not a change.
        fs::read(watched.tree.root().join("a.rs")).unwrap();
        assert!(!watched.now(&late()));
    }
    assert_eq!((watched.current.status, watched.current.revision()), (CacheStatus::Hit, revision));
}

#[test]
fn the_rounds_of_one_settling_end_with_their_deadline() {
    let tree = TestTree::new();
    for number in 0..5 {
        tree.write(&format!("src/f{number}.rs"), "fn a() {}\n");
    }
    let current = tree.settle();
    let live = Live::new(patient(&tree.root(), || {}));
    for number in 0..5 {
        tree.write(&format!("src/f{number}.rs"), "fn other() {}\n");
    }
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let deadline = Deadline::new(move || {
        count.fetch_add(1, Ordering::Relaxed);
        true
    });
    let over = RefreshOptions { deadline, n_threads: 1, ..late() };
    let mut watched = Watched { tree, live, current };
    watched.now(&over);
    assert_eq!(watched.current.stats.postponed_files, 5);
    // The deadline is checked once for each file in the refresh and once before another round.
    assert_eq!((asked.load(Ordering::Relaxed), watched.live.is_settled), (6, false));
    assert!(watched.now(&late()));
    assert!(watched.live.is_settled);
    let (live, cold) = watched.both();
    assert_eq!(live, cold);
}

#[test]
fn a_folder_without_git_is_kept_live_and_one_that_gets_a_repository_too() {
    let tree = TestTree::new();
    tree.write("a.rs", "fn one() {}\n");
    let watch = patient(&tree.root(), || {});
    let mut watched = Watched::new(tree, watch);
    assert!(!watched.now(&late()));
    watched.tree.git(&["init", "-q"]);
    watched.now(&late());
    assert!(!watched.now(&late()));
    watched.tree.write("build/b.rs", "fn two() {}\n");
    watched.now(&late());
    assert_eq!(watched.current.stats.file_count, 1);
    watched.tree.git(&["add", "-f", "build/b.rs"]);
    watched.now(&late());
    assert_eq!(watched.current.stats.file_count, 2);
    let (live, cold) = watched.both();
    assert_eq!(live, cold);
}

#[test]
fn each_edit_is_seen_at_once() {
    let mut watched = Watched::repository();
    for round in 0..200 {
        let path = ["a.rs", "src/b.rs"][round % 2];
        let before = watched.current.revision();
        watched.tree.write(path, format!("fn round_{round}() {{}}\n"));
        assert!(watched.now(&options()));
        assert_eq!(watched.current.stats.file_count, 2);
        assert_eq!(watched.current.revision().number, before.number + 1);
        let text = watched.current.text(path).expect("the map is of this text");
        assert!(text.contains(&format!("round_{round}(")), "{text}");
    }
}

#[test]
fn a_file_that_is_written_by_its_other_name_is_seen_by_both() {
    let mut watched = Watched::repository();
    let root = watched.tree.root();
    fs::hard_link(root.join("a.rs"), root.join("src/other.rs")).unwrap();
    watched.now(&late());
    watched.tree.write("src/other.rs", "fn by_its_other_name() {}\n");
    assert!(watched.now(&late()));
    let text = watched.current.text("a.rs").expect("the map is of this text");
    assert!(text.contains("by_its_other_name"), "{text}");
}

#[test]
fn what_is_in_doubt_is_looked_at_again_without_an_event() {
    let mut watched = Watched::repository();
    watched.tree.write("a.rs", "fn new() {}\n");
    // By this clock, the file always appears to have just been written.
    let early = RefreshOptions { looked_ns: clock_ns() - 10_000_000_000, ..options() };
    assert!(watched.now(&early));
    assert!(watched.now(&early));
    assert!(watched.now(&late()));
    assert!(!watched.now(&late()));
}

#[test]
fn what_no_event_tells_is_noticed() {
    let mut watched = Watched::repository();
    let a_day_later =
        RefreshOptions { now_ns: late().now_ns + 25 * 3600 * 1_000_000_000, ..late() };
    assert!(watched.now(&a_day_later));
    assert_eq!(watched.current.status, CacheStatus::StaleRebuild);
    assert!(!watched.now(&a_day_later));

    let sensitive = Sensitive::new(&["b.rs".to_owned()]).unwrap();
    let denied = RefreshOptions { sensitive, ..a_day_later.clone() };
    assert!(watched.now(&denied));
    assert_eq!(watched.current.stats.file_count, 1);
    assert!(watched.now(&a_day_later));

    let rules = watched.tree.root().with_file_name("ignore");
    fs::write(&rules, "a.rs\nsrc/\n").unwrap();
    watched.tree.git(&["rm", "-q", "--cached", "-r", "."]);
    watched.now(&a_day_later);
    assert_eq!(watched.current.stats.file_count, 2);
    let places = GitPlaces { default_excludes: Some(rules), ..GitPlaces::default() };
    let excludes = Excludes::find(&watched.tree.root(), &places);
    let excluded = RefreshOptions { excludes, ..a_day_later };
    assert!(watched.now(&excluded));
    assert_eq!(watched.current.stats.file_count, 0);
    assert!(!watched.now(&excluded));
}

#[test]
fn without_events_everything_is_looked_at_each_time() {
    let tree = TestTree::new();
    tree.write("a.rs", "fn one() {}\n");
    let watch = Watch::polling(&tree.root());
    let mut watched = Watched::new(tree, watch);
    watched.tree.write("b.rs", "fn two() {}\n");
    assert!(watched.now(&late()));
    assert_eq!(watched.current.stats.file_count, 2);
    assert!(watched.now(&late()));
    assert_eq!(watched.current.status, CacheStatus::Hit);
}

#[test]
fn when_events_were_lost_everything_is_looked_at_and_watched_anew() {
    let mut watched = Watched::repository();
    let n_watched = watched.live.watch.n_watched();
    let mailbox = std::sync::Arc::clone(&watched.live.watch.native.as_ref().unwrap().mailbox);
    mailbox.put(&Err(notify::Error::generic("lost")));
    let options = late();
    let now = watched.live.now(&watched.tree.cache(), &mut watched.current, &options).unwrap();
    assert_eq!((now.is_refreshed, now.is_lost), (true, true));
    assert_eq!((watched.now(&options), watched.live.watch.n_watched()), (false, n_watched));
    watched.tree.write("src/b.rs", "fn after() {}\n");
    assert!(watched.now(&options));
}

#[test]
fn a_repository_with_submodules_is_looked_at_each_time() {
    let tree = TestTree::with_git();
    tree.write("a.rs", "fn one() {}\n");
    fs::create_dir_all(tree.root().join(".git/modules")).unwrap();
    let watch = patient(&tree.root(), || {});
    let mut watched = Watched::new(tree, watch);
    assert!(watched.now(&late()));
    assert_eq!(watched.current.status, CacheStatus::Hit);
}

#[test]
fn a_root_that_is_gone_is_an_error_and_not_an_old_answer() {
    let mut watched = Watched::repository();
    let root = watched.tree.root();
    fs::rename(&root, root.with_file_name("elsewhere")).unwrap();
    let options = late();
    assert!(watched.live.now(&watched.tree.cache(), &mut watched.current, &options).is_err());
    fs::rename(root.with_file_name("elsewhere"), &root).unwrap();
    assert!(watched.now(&options));
}

#[test]
fn another_process_that_kept_the_change_first_does_no_harm() {
    let mut watched = Watched::repository();
    for round in 0..20 {
        watched.tree.write("a.rs", format!("fn round_{round}() {{}}\n"));
        let other = watched.tree.look();
        watched.now(&options());
        assert_eq!(watched.current.revision(), other.revision());
        let (live, cold) = watched.both();
        assert_eq!(live, cold);
    }
}

#[test]
fn folders_that_come_go_and_come_again_are_watched() {
    let mut watched = Watched::repository();
    let deep = watched.tree.root().join("src/deep/deeper");
    for round in 0..30 {
        fs::create_dir_all(&deep).unwrap();
        watched.tree.write("src/deep/deeper/c.rs", format!("fn in_{round}() {{}}\n"));
        watched.now(&options());
        assert_eq!(watched.current.stats.file_count, 3);
        watched.tree.write("src/deep/deeper/c.rs", format!("fn again_{round}() {{}}\n"));
        watched.now(&options());
        assert!(watched.current.text("src/deep/deeper/c.rs").is_some(), "round {round}");
        fs::remove_dir_all(watched.tree.root().join("src/deep")).unwrap();
        if round % 2 == 0 {
            watched.now(&options());
            assert_eq!(watched.current.stats.file_count, 2);
        }
    }
}

#[test]
fn a_burst_is_one_refresh() {
    let mut watched = Watched::repository();
    for number in 0..300 {
        watched.tree.write(&format!("many/{number}.rs"), "fn f() {}\n");
    }
    watched.now(&options());
    for number in 0..300 {
        watched.tree.write(&format!("many/{number}.rs"), "fn g() {}\n");
    }
    assert!(watched.now(&late()));
    let (live, cold) = watched.both();
    assert_eq!(live, cold);
    assert!(!watched.now(&late()));
}
