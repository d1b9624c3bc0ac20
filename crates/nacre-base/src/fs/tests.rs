//! Injects a crash, an error or a concurrent user edit at every mutating call of each kind of
//! change.
//!
//! The sweep injects one fault at call 0, 1, 2, … until the change completes without reaching the
//! fault. After each run, the sweep reopens the scope, as the next process would, and checks the
//! whole tree.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests simulate the user and create the old state"
)]

mod strangers;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use proptest::prelude::*;

use super::sys::fault::{self, Disk, Fault};
use super::*;

type Tree = BTreeMap<String, Vec<u8>>;

const ERRORS: [i32; 3] = [28 /* ENOSPC */, 5 /* EIO */, 30 /* EROFS */];

fn owner() -> Owner {
    Owner { pid: 1, command: "test".to_owned(), since: "2026-11-15T00:00:00Z".to_owned() }
}

fn path(text: &str) -> RelPath {
    RelPath::new(text).unwrap()
}

fn tree(root: &Path) -> Tree {
    fn walk(root: &Path, dir: &Path, files: &mut Tree) {
        for entry in fs::read_dir(dir).unwrap() {
            let full = entry.unwrap().path();
            let name = full.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            if full.is_dir() {
                walk(root, &full, files);
            } else if name != "journal/lock" {
                files.insert(name, fs::read(&full).unwrap());
            }
        }
    }
    let mut files = Tree::new();
    walk(root, root, &mut files);
    files
}

fn write(root: &Path, name: &str, bytes: &[u8]) {
    let full = root.join(name);
    fs::create_dir_all(full.parent().unwrap()).unwrap();
    fs::write(full, bytes).unwrap();
}

struct Scenario {
    name: &'static str,
    set: fn() -> ChangeSet,
}

fn scenarios() -> Vec<Scenario> {
    fn add(set: &mut ChangeSet) {
        set.create(path("memory/decisions/new.md"), b"new".to_vec());
        set.create(path("meta/evidence/new.json"), b"{}".to_vec());
    }
    fn update(set: &mut ChangeSet) {
        set.replace(path("memory/a.md"), b"a", b"a2".to_vec());
    }
    fn archive(set: &mut ChangeSet) {
        set.relocate(
            path("memory/b.md"),
            b"b",
            path("memory/archived/x/b.md"),
            b"b archived".to_vec(),
        );
    }
    fn of(parts: &[fn(&mut ChangeSet)]) -> ChangeSet {
        let mut set = ChangeSet::new();
        parts.iter().for_each(|part| part(&mut set));
        set
    }
    vec![
        Scenario { name: "add", set: || of(&[add]) },
        Scenario { name: "update", set: || of(&[update]) },
        Scenario { name: "archive", set: || of(&[archive]) },
        Scenario { name: "several", set: || of(&[add, update, archive]) },
    ]
}

fn old_tree(root: &Path) {
    write(root, "memory/a.md", b"a");
    write(root, "memory/b.md", b"b");
    write(root, "config.toml", b"# mine");
}

fn commit(root: &Path, set: ChangeSet) -> Result<(), FsError> {
    let scope = WriteScope::open(root, Access::Shared)?;
    let writer = scope.lock(&owner(), Duration::ZERO)?;
    writer.commit(set).map(drop)
}

fn recover(root: &Path) -> Recovery {
    let scope = WriteScope::open(root, Access::Shared).unwrap();
    let writer = scope.lock(&owner(), Duration::ZERO).unwrap();
    writer.recovery().clone()
}

/// Returns the directory trees before and after a run without faults.
fn ends(scenario: &Scenario) -> (Tree, Tree) {
    let dir = tempfile::tempdir().unwrap();
    old_tree(dir.path());
    let before = tree(dir.path());
    commit(dir.path(), (scenario.set)()).unwrap();
    (before, tree(dir.path()))
}

/// Runs the scenario with `fault` at each call in turn, and passes each outcome to `check`.
fn sweep(
    disk: Disk,
    scenario: &Scenario,
    fault: &Fault,
    check: impl Fn(usize, &Path, Result<(), FsError>),
) {
    for at in 0.. {
        let dir = tempfile::tempdir().unwrap();
        old_tree(dir.path());
        let planted = Some((at, fault.clone()));
        let (result, n_calls) = fault::with(disk, planted, || commit(dir.path(), (scenario.set)()));
        check(at, dir.path(), result);
        if n_calls <= at {
            assert!(at > 8, "{}: only {at} calls were seen", scenario.name);
            return;
        }
    }
}

#[test]
fn a_kill_before_any_call_leaves_all_or_nothing() {
    for disk in [Disk::Local, Disk::Plain] {
        for scenario in scenarios() {
            let (before, after) = ends(&scenario);
            sweep(disk, &scenario, &Fault::Kill, |at, root, result| {
                fault::with(disk, None, || recover(root));
                let found = tree(root);
                let label = format!("{} on {disk:?}, killed at call {at}", scenario.name);
                assert!(found == before || found == after, "{label}: {found:?}");
                assert!(result.is_err() || found == after, "{label}: reported as done");
            });
        }
    }
}

#[test]
fn an_error_at_any_call_leaves_all_or_nothing() {
    for (disk, errno) in
        [Disk::Local, Disk::Plain].into_iter().flat_map(|disk| ERRORS.map(|e| (disk, e)))
    {
        for scenario in scenarios() {
            let (before, after) = ends(&scenario);
            sweep(disk, &scenario, &Fault::Errno(errno), |at, root, result| {
                let interrupted = matches!(result, Err(FsError::Interrupted { .. }));
                fault::with(disk, None, || recover(root));
                let found = tree(root);
                let label = format!("{} on {disk:?}, error {errno} at call {at}", scenario.name);
                match result {
                    Ok(()) => assert_eq!(found, after, "{label}: reported as done"),
                    Err(_) if interrupted => assert!(found == before || found == after, "{label}"),
                    Err(_) => assert_eq!(found, before, "{label}: reported as failed"),
                }
            });
        }
    }
}

#[test]
fn files_that_are_flushed_together_are_committed_together() {
    let set = || {
        let mut set = ChangeSet::new();
        (0..17).for_each(|n| set.create(path(&format!("memory/{n}.md")), b"new".to_vec()));
        set
    };
    let scenario = Scenario { name: "many", set };
    let (before, after) = ends(&scenario);
    assert_eq!(after.len(), before.len() + 17);
    for planted in [Fault::Kill, Fault::Errno(ERRORS[1])] {
        sweep(Disk::Local, &scenario, &planted, |at, root, result| {
            fault::with(Disk::Local, None, || recover(root));
            let found = tree(root);
            assert!(found == before || found == after, "call {at}: {found:?}");
            assert!(result.is_err() || found == after, "call {at}: reported as done");
        });
    }
}

#[test]
fn a_kill_inside_recovery_is_recovered_too() {
    let scenario = &scenarios()[3];
    let (before, after) = ends(scenario);
    for disk in [Disk::Local, Disk::Plain] {
        sweep(disk, scenario, &Fault::Kill, |first, root, _| {
            for second in 0.. {
                let copy = tempfile::tempdir().unwrap();
                copy_tree(root, copy.path());
                let scope = WriteScope::open(copy.path(), Access::Shared).unwrap();
                let lock = || scope.lock(&owner(), Duration::ZERO).map(drop);
                let (_, n_calls) = fault::with(disk, Some((second, Fault::Kill)), lock);
                fault::with(disk, None, || recover(copy.path()));
                let found = tree(copy.path());
                assert!(
                    found == before || found == after,
                    "{disk:?} killed at {first}, then {second}: {found:?}"
                );
                if n_calls <= second {
                    break;
                }
            }
        });
    }
}

/// Copies empty directories and hard links too, because both affect recovery.
fn copy_tree(from: &Path, to: &Path) {
    let copied = std::process::Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status();
    assert!(copied.unwrap().success());
}

/// What the user does to one of the files while the change set is applied.
struct Act {
    file: &'static str,
    how: fn(&Path),
}

#[test]
fn a_writer_goes_on_after_an_interrupted_change() {
    let scenario = &scenarios()[3];
    let (before, after) = ends(scenario);
    for at in 0..80 {
        let dir = tempfile::tempdir().unwrap();
        old_tree(dir.path());
        let scope = WriteScope::open(dir.path(), Access::Shared).unwrap();
        let writer = scope.lock(&owner(), Duration::ZERO).unwrap();
        let first = Some((at, Fault::Kill));
        let _ = fault::with(Disk::Local, first, || writer.commit((scenario.set)()));
        let mut second = ChangeSet::new();
        second.create(path("later.md"), b"later".to_vec());
        writer.commit(second).unwrap();
        let mut found = tree(dir.path());
        assert_eq!(found.remove("later.md").unwrap(), b"later");
        assert!(found == before || found == after, "stopped at call {at}: {found:?}");
    }
}

#[test]
fn a_person_is_never_overwritten() {
    fn save(file: &Path) {
        fs::write(file, "person").unwrap();
    }
    fn save_by_rename(file: &Path) {
        fs::write(file.with_extension("swp"), "person").unwrap();
        fs::rename(file.with_extension("swp"), file).unwrap();
    }
    let acts = [
        Act { file: "memory/a.md", how: save },
        Act { file: "memory/a.md", how: save_by_rename },
        Act { file: "memory/b.md", how: save },
        Act { file: "memory/b.md", how: save_by_rename },
        Act { file: "memory/decisions/new.md", how: save },
    ];
    let scenario = &scenarios()[3];
    let (before, after) = ends(scenario);
    for disk in [Disk::Local, Disk::Plain] {
        for act in &acts {
            (0..).find(|at| !race(disk, scenario, act, *at, (&before, &after)));
        }
    }
}

/// Performs the user's action just before call `at`. Returns whether that call was reached.
fn race(disk: Disk, scenario: &Scenario, act: &Act, at: usize, ends: (&Tree, &Tree)) -> bool {
    let dir = tempfile::tempdir().unwrap();
    old_tree(dir.path());
    let acted = Rc::new(Cell::new(false));
    let person = {
        let (file, acted, how) = (dir.path().join(act.file), Rc::clone(&acted), act.how);
        // The user cannot write to a directory that does not exist yet.
        Fault::Person(Rc::new(move || {
            if file.parent().is_some_and(Path::exists) {
                how(&file);
                acted.set(true);
            }
        }))
    };
    let (result, n_calls) =
        fault::with(disk, Some((at, person)), || commit(dir.path(), (scenario.set)()));
    if acted.get() {
        check_race(&tree(dir.path()), act.file, &result, ends);
    }
    n_calls > at
}

fn check_race(
    found: &Tree,
    file: &str,
    result: &Result<(), FsError>,
    (before, after): (&Tree, &Tree),
) {
    let label = format!("{file}: {result:?} {found:?}");
    assert!(found.values().any(|bytes| bytes == b"person"), "lost: {label}");
    let rest = |tree: &Tree| -> Tree {
        let others = tree.iter().filter(|(name, bytes)| *name != file && *bytes != b"person");
        others.map(|(name, bytes)| (name.clone(), bytes.clone())).collect()
    };
    let expected = if result.is_ok() { after } else { before };
    assert_eq!(rest(found), rest(expected), "half applied: {label}");
    if let Err(FsError::Conflict { paths }) = result {
        assert!(paths.iter().any(|path| path.as_str() == file), "not named: {label}");
    }
}

#[test]
fn a_changed_file_stops_the_whole_set() {
    let dir = tempfile::tempdir().unwrap();
    old_tree(dir.path());
    write(dir.path(), "memory/a.md", b"edited");
    let before = tree(dir.path());
    let error = commit(dir.path(), (scenarios()[3].set)()).unwrap_err();
    assert_eq!(error.to_string(), "Changed by another program in the meantime: `memory/a.md`");
    assert_eq!(tree(dir.path()), before);
}

#[test]
fn a_plan_of_strangers_is_set_aside() {
    let dir = tempfile::tempdir().unwrap();
    old_tree(dir.path());
    write(dir.path(), "journal/txn/plan", b"not a plan");
    let before = tree(dir.path())["memory/a.md"].clone();
    assert_eq!(recover(dir.path()), Recovery::SetAside);
    assert_eq!(tree(dir.path())["memory/a.md"], before);
    assert!(dir.path().join("journal/bad-1/plan").exists());
    assert_eq!(recover(dir.path()), Recovery::Clean);
}

#[test]
fn what_is_not_ours_in_the_journal_does_not_close_the_store() {
    let dir = tempfile::tempdir().unwrap();
    old_tree(dir.path());
    write(dir.path(), "journal/txn/0/deep.md", b"theirs");
    write(dir.path(), "journal/done/0/deep.md", b"theirs");
    recover(dir.path());
    assert_eq!(recover(dir.path()), Recovery::Clean);
    assert_eq!(tree(dir.path()).values().filter(|bytes| *bytes == b"theirs").count(), 2);
    write(dir.path(), "journal/txn", b"no folder at all");
    assert_eq!(recover(dir.path()), Recovery::SetAside);
    for name in ["journal/txn/0", "Journal/lock", "journal"] {
        let mut set = ChangeSet::new();
        set.create(path(name), b"x".to_vec());
        assert!(matches!(commit(dir.path(), set), Err(FsError::Reserved { .. })), "{name}");
    }
}

#[test]
fn links_lead_nowhere() {
    let dir = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    write(outside.path(), "secret.md", b"secret");
    old_tree(dir.path());
    symlink(outside.path(), dir.path().join("memory/out")).unwrap();
    symlink(outside.path().join("secret.md"), dir.path().join("memory/link.md")).unwrap();
    let scope = WriteScope::open(dir.path(), Access::Shared).unwrap();
    assert!(matches!(
        scope.read(&path("memory/out/secret.md"), 99),
        Err(FsError::NotAFolder { .. })
    ));
    assert!(matches!(scope.read(&path("memory/link.md"), 99), Err(FsError::NotAFile { .. })));
    let writer = scope.lock(&owner(), Duration::ZERO).unwrap();
    let mut set = ChangeSet::new();
    set.create(path("memory/out/evil.md"), b"x".to_vec());
    assert!(writer.commit(set).is_err());
    let mut set = ChangeSet::new();
    set.replace(path("memory/link.md"), b"secret", b"x".to_vec());
    assert!(matches!(writer.commit(set), Err(FsError::Conflict { .. })));
    assert!(writer.write_atomic(&path("memory/link.md"), b"x").is_err());
    assert_eq!(tree(outside.path()), Tree::from([("secret.md".to_owned(), b"secret".to_vec())]));
}

#[test]
fn a_pipe_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        dir.path().join("pipe.md"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let scope = WriteScope::open(dir.path(), Access::Shared).unwrap();
    assert!(matches!(scope.read(&path("pipe.md"), 99), Err(FsError::NotAFile { .. })));
}

#[test]
fn a_second_writer_is_told_who_is_first() {
    let dir = tempfile::tempdir().unwrap();
    let scope = WriteScope::open(dir.path(), Access::Shared).unwrap();
    let first = scope.lock(&owner(), Duration::ZERO).unwrap();
    let error = scope.lock(&owner(), Duration::from_millis(3)).unwrap_err();
    assert!(
        matches!(&error, FsError::Busy { owner: Some(found), .. } if *found == owner()),
        "{error}"
    );
    drop(first);
    scope.lock(&owner(), Duration::ZERO).unwrap();
}

#[test]
fn private_means_private() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a.md", b"a");
    fs::set_permissions(dir.path().join("a.md"), fs::Permissions::from_mode(0o640)).unwrap();
    let scope = WriteScope::open(dir.path(), Access::Private).unwrap();
    let writer = scope.lock(&owner(), Duration::ZERO).unwrap();
    let mut set = ChangeSet::new();
    set.replace(path("a.md"), b"a", b"b".to_vec());
    set.create(path("new/b.md"), b"b".to_vec());
    writer.commit(set).unwrap();
    writer.write_atomic(&path("a.md"), b"c").unwrap();
    let mode =
        |name: &str| fs::metadata(dir.path().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("a.md"), mode("new"), mode("new/b.md")), (0o600, 0o700, 0o600));
}

#[test]
fn a_store_is_open_where_git_shares_it_and_closed_elsewhere() {
    let dir = tempfile::tempdir().unwrap();
    let mode = |name: &str| {
        format!("{:o}", fs::metadata(dir.path().join(name)).unwrap().permissions().mode() & 0o777)
    };
    let open = |name: &str, bits: u32| {
        fs::set_permissions(dir.path().join(name), fs::Permissions::from_mode(bits)).unwrap();
    };
    let commit = |name: &str, before: Option<&[u8]>| {
        let access = Access::ByGit("# why\n/*\n!/a/\n/a/b/\n!/c/\n/c/*\n!/c/d/\n");
        let scope = WriteScope::open(dir.path(), access).unwrap();
        let mut set = ChangeSet::new();
        match before {
            Some(before) => set.replace(path(name), before, b"new".to_vec()),
            None => set.create(path(name), b"old".to_vec()),
        }
        scope.lock(&owner(), Duration::ZERO).unwrap().commit(set).unwrap();
    };
    let cases =
        [("a/x", "644"), ("a/b/x", "600"), ("c/d/x", "644"), ("c/e/x", "600"), ("f/x", "600")];
    for (name, expected) in cases {
        commit(name, None);
        assert_eq!(mode(name), expected, "{name}");
    }
    let folders = ["a", "a/b", "c", "c/d", "c/e", "f", "journal"];
    let expected = ["755", "700", "755", "755", "700", "700", "700"];
    assert_eq!(folders.map(mode), expected);
    // Simulate the modes that older versions used.
    folders.into_iter().for_each(|name| open(name, 0o755));
    cases.into_iter().for_each(|(name, _)| open(name, 0o664));
    commit("f/x", Some(b"old"));
    assert_eq!(folders.map(mode), expected);
    commit("a/x", Some(b"old"));
    assert_eq!(["f/x", "a/x"].map(mode), ["600", "664"], "git shares the second");
}

proptest! {
    /// A change set modifies nothing if even one of its files was changed in the meantime.
    #[test]
    fn a_conflict_changes_nothing(
        names in prop::collection::btree_set("[a-c]/[a-f]\\.md", 1..8),
        kinds in prop::collection::vec(0_u8..3, 8),
        changed in any::<prop::sample::Index>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let names: Vec<String> = names.into_iter().collect();
        let mut set = ChangeSet::new();
        for (name, kind) in names.iter().zip(&kinds) {
            match kind {
                0 => set.create(path(name), b"new".to_vec()),
                1 => { write(dir.path(), name, b"old"); set.replace(path(name), b"old", b"new".to_vec()); }
                _ => { write(dir.path(), name, b"old"); set.remove(path(name), b"old"); }
            }
        }
        write(dir.path(), changed.get(names.as_slice()).as_str(), b"person");
        let before = tree(dir.path());
        let is_conflict = matches!(commit(dir.path(), set), Err(FsError::Conflict { .. }));
        prop_assert!(is_conflict);
        prop_assert_eq!(tree(dir.path()), before);
    }
}

#[test]
fn a_derived_folder_goes_but_not_what_is_not_ours_in_it() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["flat/a", "flat/b", "deep/a", "deep/theirs/b"] {
        write(dir.path(), name, b"x");
    }
    let scope = WriteScope::open(dir.path(), Access::Shared).unwrap();
    let writer = scope.lock(&owner(), Duration::ZERO).unwrap();
    for name in ["flat", "deep", "nothing"] {
        writer.remove_derived_folder(&path(name)).unwrap();
    }
    assert!(writer.remove_derived_folder(&path("journal")).is_err());
    assert_eq!(tree(dir.path()).into_keys().collect::<Vec<_>>(), ["deep/theirs/b"]);
    assert!(!dir.path().join("flat").exists());
}
