//! Tests directory ownership: other users' repositories and stores are not used.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::PathBuf;

use insta::assert_snapshot;

use crate::home::TestHome;
use crate::sync_run;

fn open_to_all(home: &TestHome) {
    fs::set_permissions(home.work(), fs::Permissions::from_mode(0o1777)).unwrap();
}

#[test]
fn a_store_where_anybody_may_write_is_passed_by_and_refused_by_name() {
    let home = TestHome::new();
    home.add("Use tabs", &[]);
    open_to_all(&home);
    assert_snapshot!(home.run(&["memory", "list", "--scope", "project_only"]), @r#"
    Warning: `$HOME/work/.nacre` was ignored: Any user can write to `$HOME/work`
    Hint: If you trust the directory: nacre config set safe.folders "$HOME/work"
    Error: No `.nacre` directory found in `$HOME/work` or its parent directories
    Hint: Run `nacre init` to set up this repository
    [exit 1]
    "#);
    assert_snapshot!(home.run_in(&home.root(), &["--project", "work", "memory", "list"]), @r#"
    Error: The project in `$HOME/work` was ignored: Any user can write to `$HOME/work`
    Hint: If you trust the directory: nacre config set safe.folders "$HOME/work"
    [exit 1]
    "#);
    let folder = home.work().display().to_string();
    home.run_in(&home.root(), &["config", "set", "safe.folders", &folder]);
    assert!(home.run(&["memory", "list"]).contains("Use tabs"));
}

#[test]
fn a_repository_cannot_call_itself_safe() {
    let home = TestHome::new();
    home.write("config.toml", "[safe]\nfolders = [\"*\"]\n");
    open_to_all(&home);
    let listed = home.run(&["memory", "list", "--scope", "project_only"]);
    assert!(listed.contains("was ignored"), "{listed}");
}

#[test]
fn a_repository_of_another_user_is_not_mapped() {
    let home = TestHome::empty();
    fs::write(home.work().join("lib.rs"), "pub fn a() {}\n").unwrap();
    // Only root can change the owner of a directory.
    if chown(home.work().join(".git"), Some(12_345), None).is_err() {
        return;
    }
    let refused = home.run(&["explore"]);
    assert!(refused.contains("belongs to user 12345"), "{refused}");
    // The user's own directory inside it is mapped on its own.
    fs::create_dir(home.work().join("mine")).unwrap();
    fs::write(home.work().join("mine/own.rs"), "pub fn mine() {}\n").unwrap();
    let shown = home.run_in(&home.work().join("mine"), &["explore"]);
    assert!(shown.contains("own.rs") && shown.contains("was ignored"), "{shown}");
    assert!(!shown.contains("lib.rs"), "{shown}");
}

#[test]
fn who_became_root_by_sudo_uses_their_own_repository() {
    let home = TestHome::empty();
    fs::write(home.work().join("lib.rs"), "pub fn a() {}\n").unwrap();
    if chown(home.work().join(".git"), Some(12_345), None).is_err() {
        return;
    }
    let home = home.with_var("SUDO_UID", "12345");
    assert!(home.run(&["explore"]).contains("lib.rs"));
}

#[test]
fn a_store_is_made_readable_whatever_the_umask_is() {
    let home = TestHome::empty();
    let nacre = env!("CARGO_BIN_EXE_nacre");
    for (umask, folder) in [("077", "tight"), ("000", "loose")] {
        let root = home.root().join(folder);
        fs::create_dir_all(root.join(".git")).unwrap();
        let script = format!("umask {umask}; {nacre} init && {nacre} memory add 'Use tabs'");
        let status = std::process::Command::new("sh")
            .args(["-c", &script])
            .current_dir(&root)
            .env("HOME", home.root())
            .output()
            .unwrap();
        assert!(status.status.success(), "{status:?}");
        let mode = |path: &str| {
            let found = fs::metadata(root.join(path)).unwrap();
            found.permissions().mode() & 0o777
        };
        let memories = fs::read_dir(root.join(".nacre/memory/decisions")).unwrap();
        let memory = memories.flatten().next().unwrap().path();
        let memory = memory.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        assert_eq!(mode(".nacre"), 0o755, "{folder}");
        assert_eq!(mode(".nacre/memory/decisions"), 0o755, "{folder}");
        assert_eq!(mode(".nacre/config.toml"), 0o644, "{folder}");
        assert_eq!(mode(&memory), 0o644, "{folder}");
    }
}

#[test]
fn a_session_is_stored_for_its_owner_alone() {
    let home = sync_run::reading();
    // Simulates a store that an older version created.
    home.add("Use tabs", &[]);
    for name in ["journal", "workspace", "meta/state"] {
        fs::set_permissions(home.store(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    sync_run::talk(&home, "one", 1, sync_run::PNPM);
    home.ok(&["sync"]);
    let is_open = |path: &PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o077 != 0;
    // Collects the files that other users can reach. A private directory hides everything in it.
    let (mut reached, mut folders) = (BTreeSet::new(), vec![home.store("")]);
    while let Some(folder) = folders.pop() {
        let paths = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        for path in paths.filter(is_open) {
            if path.is_dir() {
                folders.push(path);
            } else {
                reached.insert(folder.strip_prefix(home.store("")).unwrap().to_owned());
            }
        }
    }
    let shared = ["", "memory/decisions", "memory/learnings", "meta/evidence"].map(PathBuf::from);
    assert_eq!(reached, BTreeSet::from(shared));
    // The files themselves must be private too, because archives do not always preserve the modes
    // of directories.
    let closed = home.snapshot().into_iter().map(|(path, _)| path).filter(|path| {
        path.starts_with(home.store("workspace")) || path.starts_with(home.store("meta/traces"))
    });
    assert!(closed.clone().count() > 2 && !closed.into_iter().any(|path| is_open(&path)));
}
