//! Tests for journals and locks that come from a repository: untrusted plans are not applied, and
//! files outside the scope are not written.

use std::path::PathBuf;

use super::*;
use crate::ContentHash;

struct Place {
    _dir: tempfile::TempDir,
    root: PathBuf,
    own: PathBuf,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (root, own) = (dir.path().join("store"), dir.path().join("own"));
        fs::create_dir(&root).unwrap();
        old_tree(&root);
        Self { _dir: dir, root, own }
    }

    fn scope(&self) -> WriteScope {
        WriteScope::open(&self.root, Access::Shared)
            .unwrap()
            .with_seal(Seal::from_directory(&self.own))
    }

    fn files(&self) -> Tree {
        tree(&self.root).into_iter().filter(|(name, _)| !name.starts_with("journal/")).collect()
    }

    fn recover(&self) -> Recovery {
        self.scope().lock(&owner(), Duration::ZERO).unwrap().recovery().clone()
    }
}

/// Returns a plan that anyone could write: it has a checksum, but no key.
fn forged(steps: &str) -> Vec<u8> {
    let json = format!(r#"{{"version":2,"steps":[{steps}],"new_dirs":["meta","meta/state"]}}"#);
    format!("{}\n{json}", ContentHash::of(json.as_bytes())).into_bytes()
}

fn forged_steps() -> String {
    let hash = |bytes: &[u8]| ContentHash::of(bytes).to_string();
    format!(
        r#"{{"op":"create","path":"meta/state/x.json","slot":0,"after":"{}"}},{{"op":"remove","path":"memory/a.md","slot":1,"before":"{}"}}"#,
        hash(b"forged"),
        hash(b"a")
    )
}

#[test]
fn a_journal_that_a_repository_brings_is_not_followed() {
    for disk in [Disk::Local, Disk::Plain] {
        for name in ["txn/plan", "txn/undo", "done/plan", "done/undo"] {
            let place = Place::new();
            let before = place.files();
            let folder = name.split('/').next().unwrap();
            write(&place.root, &format!("journal/{name}"), &forged(&forged_steps()));
            write(&place.root, &format!("journal/{folder}/0"), b"forged");
            write(&place.root, &format!("journal/{folder}/1.old"), b"forged too");
            assert!(place.scope().has_foreign_change(), "{name}");
            fault::with(disk, None, || place.recover());
            assert_eq!(place.files(), before, "{name}");
            assert!(place.root.join("journal/bad-1/0").exists(), "{name}: kept to be looked at");
            assert_eq!(place.recover(), Recovery::Clean, "{name}");
            assert!(!place.scope().has_foreign_change(), "{name}");
            let writer_scope = place.scope();
            let writer = writer_scope.lock(&owner(), Duration::ZERO).unwrap();
            writer.commit((scenarios()[3].set)()).unwrap();
        }
    }
}

#[test]
fn a_plan_of_many_steps_on_one_large_slot_is_not_even_opened() {
    let place = Place::new();
    let step = r#"{"op":"create","path":"config.toml","slot":0,"after":"0000000000000000000000000000000000000000000000000000000000000000"}"#;
    write(&place.root, "journal/txn/undo", &forged(&vec![step; 10_000].join(",")));
    write(&place.root, "journal/txn/0", b"");
    fs::File::options()
        .write(true)
        .open(place.root.join("journal/txn/0"))
        .unwrap()
        .set_len(256 << 20)
        .unwrap();
    assert_eq!(place.recover(), Recovery::SetAside);
}

#[test]
fn a_plan_that_names_a_slot_or_a_file_twice_is_not_followed_even_with_a_proof() {
    let one = r#"{"op":"create","path":"PATH","slot":SLOT,"after":"0000000000000000000000000000000000000000000000000000000000000000"}"#;
    let step = |path: &str, slot: &str| one.replace("PATH", path).replace("SLOT", slot);
    for (first, second, is_followed) in [
        (step("x", "0"), step("y", "1"), true),
        (step("x", "0"), step("y", "0"), false),
        (step("x", "0"), step("x", "1"), false),
        (step("x", "0"), step("journal/lock", "1"), false),
    ] {
        let place = Place::new();
        let json = format!(r#"{{"version":2,"steps":[{first},{second}],"new_dirs":[]}}"#);
        let proof = place.scope().prove(&json).unwrap();
        write(&place.root, "journal/txn/plan", format!("{proof}\n{json}").as_bytes());
        let expected = if is_followed { Recovery::Finished } else { Recovery::SetAside };
        assert_eq!(place.recover(), expected, "{json}");
    }
}

#[test]
fn a_change_is_finished_by_the_person_who_began_it_and_by_nobody_else() {
    let scenario = &scenarios()[3];
    let place = Place::new();
    let (before, after) = ends(scenario);
    // Stop once the plan is committed but no file is in place yet.
    let at = (0..)
        .find(|at| {
            let place = Place::new();
            let scope = place.scope();
            let writer = scope.lock(&owner(), Duration::ZERO).unwrap();
            let kill = Some((*at, Fault::Kill));
            let _ = fault::with(Disk::Local, kill, || writer.commit((scenario.set)()));
            place.root.join("journal/txn/plan").exists()
        })
        .unwrap();
    let scope = place.scope();
    let writer = scope.lock(&owner(), Duration::ZERO).unwrap();
    let _ = fault::with(Disk::Local, Some((at, Fault::Kill)), || writer.commit((scenario.set)()));
    drop(writer);
    let theirs = Place::new();
    copy_tree(&place.root, &theirs.root);
    assert_eq!(theirs.recover(), Recovery::SetAside);
    assert_eq!(theirs.files(), before);
    assert_eq!(place.recover(), Recovery::Finished);
    assert_eq!(place.files(), after);
    let mode = fs::metadata(place.own.join("journal/key")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_kill_at_any_call_of_the_first_change_leaves_all_or_nothing() {
    let scenario = &scenarios()[3];
    let (before, after) = ends(scenario);
    for fault in [Fault::Kill, Fault::Errno(28)] {
        for at in 0.. {
            let place = Place::new();
            let commit = || {
                let scope = place.scope();
                let writer = scope.lock(&owner(), Duration::ZERO)?;
                writer.commit((scenario.set)()).map(drop)
            };
            let (_, n_calls) = fault::with(Disk::Local, Some((at, fault.clone())), commit);
            assert_ne!(place.recover(), Recovery::SetAside, "stopped at call {at}");
            let found = place.files();
            assert!(found == before || found == after, "stopped at call {at}: {found:?}");
            if n_calls <= at {
                break;
            }
        }
    }
}

#[test]
fn a_key_that_is_torn_or_open_to_others_is_made_again() {
    for (bytes, mode) in [(&b"short"[..], 0o600), (&[7; 32][..], 0o644)] {
        let place = Place::new();
        write(&place.own, "journal/key", bytes);
        let key = place.own.join("journal/key");
        fs::set_permissions(&key, fs::Permissions::from_mode(mode)).unwrap();
        let proof = place.scope().prove("x").unwrap();
        assert_ne!(proof, blake3::keyed_hash(&[7; 32], b"x"));
        let made: [u8; 32] = fs::read(&key).unwrap().try_into().unwrap();
        assert_eq!(proof, blake3::keyed_hash(&made, b"x"));
        assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_journal_full_of_set_aside_plans_does_not_close_the_store() {
    let place = Place::new();
    for n in 1..=1000 {
        fs::create_dir_all(place.root.join(format!("journal/bad-{n}"))).unwrap();
    }
    write(&place.root, "journal/txn/plan", b"not a plan");
    assert_eq!(place.recover(), Recovery::SetAside);
    assert_eq!(place.recover(), Recovery::Clean);
}

#[test]
fn a_lock_that_is_a_hard_link_is_locked_and_not_written() {
    let place = Place::new();
    fs::create_dir(place.root.join("journal")).unwrap();
    fs::hard_link(place.root.join("config.toml"), place.root.join("journal/lock")).unwrap();
    let scope = place.scope();
    let writer = scope.lock(&owner(), Duration::ZERO).unwrap();
    assert!(matches!(scope.lock(&owner(), Duration::ZERO), Err(FsError::Busy { owner: None, .. })));
    let mut set = ChangeSet::new();
    set.create(path("new.md"), b"new".to_vec());
    writer.commit(set).unwrap();
    assert_eq!(fs::read(place.root.join("config.toml")).unwrap(), b"# mine");
    assert!(scope.has_linked_lock().unwrap());
    assert!(!Place::new().scope().has_linked_lock().unwrap());
}

#[test]
fn nothing_is_appended_to_a_file_with_a_second_name() {
    let place = Place::new();
    fs::hard_link(place.root.join("config.toml"), place.root.join("a.log")).unwrap();
    let scope = place.scope();
    let writer = scope.lock(&owner(), Duration::ZERO).unwrap();
    assert!(matches!(writer.append(&path("a.log"), b"x"), Err(FsError::NotAFile { .. })));
    assert_eq!(fs::read(place.root.join("config.toml")).unwrap(), b"# mine");
}
