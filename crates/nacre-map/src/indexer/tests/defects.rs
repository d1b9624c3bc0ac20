//! Tests for defects that were measured in a comparable tool.

use nacre_types::{CacheStatus, CodeChange};

use super::super::delta_since;
use super::*;

#[test]
fn a_touch_without_a_change_becomes_clean_again() {
    let tree = TestTree::new();
    tree.write("a.rs", "fn a() {}\n");
    tree.settle();
    set_modified(&tree.root().join("a.rs"), UNIX_EPOCH + Duration::from_secs(1_600_000_000));
    let options = RefreshOptions { looked_ns: clock_ns() + 10_000_000_000, ..options() };
    let touched = refresh(&tree.cache(), &tree.project(), &options).unwrap();
    assert_eq!(touched.stats.rehashed_entries, 1);
    let after = refresh(&tree.cache(), &tree.project(), &options).unwrap();
    assert_eq!((after.status, after.stats.rehashed_entries), (CacheStatus::Hit, 0));
    assert_eq!(after.artifact.head().revision, touched.artifact.head().revision);
}

#[test]
fn an_edit_of_the_same_size_with_its_time_set_back_is_seen() {
    let tree = TestTree::new();
    tree.write("a.rs", "fn a() {}\n");
    let first = tree.settle().artifact.head().revision;
    let path = tree.root().join("a.rs");
    let before = path.metadata().unwrap().modified().unwrap();
    tree.write("a.rs", "fn b() {}\n");
    set_modified(&path, before);
    let delta = delta_since(&tree.look(), first).unwrap();
    assert_eq!(delta.count(CodeChange::Modified), 1);
}

#[test]
fn two_edits_within_one_tick_of_the_clock_are_both_seen() {
    let tree = TestTree::new();
    for round in 0..50 {
        tree.write("a.rs", format!("fn a{round:02}() {{}}\n"));
        tree.look();
        tree.write("a.rs", format!("fn b{round:02}() {{}}\n"));
        assert_eq!(seen(&tree.look()), tree.cold(), "round {round}");
    }
}

#[test]
fn what_changed_a_moment_before_it_was_read_is_read_again_until_that_is_safe() {
    let tree = TestTree::new();
    tree.write("a.rs", "fn a() {}\n");
    let metadata = tree.root().join("a.rs").metadata().unwrap();
    let changed_ns = metadata.ctime() * 1_000_000_000 + metadata.ctime_nsec();
    let read_at = |looked_ns| {
        let options = RefreshOptions { looked_ns, ..options() };
        refresh(&tree.cache(), &tree.project(), &options).unwrap().stats.rehashed_entries
    };
    let (soon, later) = (changed_ns + 1_000_000, changed_ns + 10_000_000_000);
    assert_eq!([read_at(soon), read_at(soon), read_at(later), read_at(later)], [1, 1, 1, 0]);
}

#[test]
fn a_damaged_artifact_is_built_again_and_never_an_error() {
    let tree = TestTree::new();
    tree.write("a.rs", "fn a() {}\n");
    tree.look();
    tree.write("b.rs", "fn b() {}\n");
    tree.look();
    let whole = tree.cold();
    let files = bytes_of(&tree.cache_folder());
    assert!(files.len() > 3, "an artifact, a log, analyses and a lock");
    for (path, bytes, _) in &files {
        let len = bytes.len();
        for damage in 0..24 {
            let mut damaged = bytes.clone();
            match damage % 4 {
                0 => damaged.truncate(len * damage / 24),
                1 => damaged.extend([0x55; 37]),
                _ if len > 0 => damaged[len * damage / 24] ^= 0x41,
                _ => damaged.push(7),
            }
            fs::write(path, &damaged).unwrap();
            let current = tree.look();
            let rows = |seen: &[Seen]| -> Vec<_> {
                seen.iter().map(|(path, row, _)| (path.clone(), *row)).collect()
            };
            assert_eq!(rows(&seen(&current)), rows(&whole), "{} {damage}", path.display());
            tree.restore(&files);
        }
    }
}

impl TestTree {
    fn restore(&self, files: &[(PathBuf, Vec<u8>, u64)]) {
        fs::remove_dir_all(self.cache_folder()).unwrap();
        for (path, bytes, _) in files {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
    }
}

#[test]
fn a_hit_writes_nothing() {
    let tree = TestTree::with_git();
    for number in 0..40 {
        tree.write(&format!("src/f{number}.rs"), format!("fn f{number}() {{}}\n"));
    }
    tree.settle();
    let before = bytes_of(tree.dir.path().join("cache").as_path());
    let hit = tree.settle();
    assert_eq!(hit.status, CacheStatus::Hit);
    assert_eq!(hit.stats.reused_entries, 40);
    assert_eq!(bytes_of(tree.dir.path().join("cache").as_path()), before);
}

#[test]
fn what_is_written_is_in_proportion_to_what_changed() {
    let tree = TestTree::new();
    for number in 0..2000 {
        tree.write(&format!("src/d{}/f{number}.rs", number % 40), format!("fn f{number}() {{}}\n"));
    }
    tree.settle();
    let size =
        || bytes_of(&tree.cache_folder()).iter().map(|(_, bytes, _)| bytes.len()).sum::<usize>();
    let before = size();
    tree.write("src/d1/f1.rs", "fn other() {}\n");
    tree.settle();
    let grown = size().saturating_sub(before);
    assert!(grown < 2_000, "one edit wrote {grown} bytes beside {before}");
}

#[test]
fn a_delta_is_never_cut() {
    let tree = TestTree::new();
    let first = tree.look().artifact.head().revision;
    for number in 0..600 {
        tree.write(&format!("f{number}.txt"), "x");
    }
    let delta = delta_since(&tree.look(), first).unwrap();
    assert_eq!((delta.count(CodeChange::Added), delta.files.len()), (600, 600));
}

#[test]
fn after_a_day_everything_is_read_again_before_it_is_served() {
    let tree = TestTree::new();
    tree.write("a.rs", "fn a() {}\n");
    tree.settle();
    let later = RefreshOptions {
        now_ns: NOON_NS + DAY_NS + 1,
        looked_ns: clock_ns() + 10_000_000_000,
        ..options()
    };
    let look = || refresh(&tree.cache(), &tree.project(), &later).unwrap();
    let stale = look();
    assert_eq!((stale.status, stale.stats.rehashed_entries), (CacheStatus::StaleRebuild, 1));
    assert_eq!(look().status, CacheStatus::Hit, "once a day is enough");
}

#[test]
fn only_so_many_projects_are_kept_and_the_one_used_longest_ago_goes() {
    let tree = TestTree::new();
    let folder = tree.cache_folder();
    let mut projects = Vec::new();
    for number in 0..66 {
        let root = tree.root().join(format!("p{number}"));
        fs::create_dir(&root).unwrap();
        fs::write(root.join("a.txt"), "x").unwrap();
        let project = Project::at(root);
        refresh(&tree.cache(), &project, &options()).unwrap();
        // The projects are used an hour apart, and the first one is used again at the end.
        let used = UNIX_EPOCH + Duration::from_secs(1_700_000_000 + 3600 * number);
        let times = fs::FileTimes::new().set_accessed(used).set_modified(used);
        for (path, _, _) in bytes_of(&folder.join(&project.id)) {
            fs::File::options().write(true).open(path).unwrap().set_times(times).unwrap();
        }
        projects.push(project);
    }
    let is_kept = |project: &Project| folder.join(&project.id).is_dir();
    assert_eq!(projects.iter().filter(|project| is_kept(project)).count(), 64);
    assert!(!is_kept(&projects[0]) && !is_kept(&projects[1]) && is_kept(&projects[2]));
}

#[test]
fn what_is_kept_is_for_its_owner_alone_and_never_in_the_repository() {
    let tree = TestTree::with_git();
    tree.write("a.rs", "fn a() {}\n");
    tree.commit_all();
    tree.look();
    assert_eq!(tree.git(&["status", "--porcelain", "--ignored"]), "");
    for (path, _, _) in bytes_of(&tree.cache_folder()) {
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600, "{}", path.display());
    }
}
