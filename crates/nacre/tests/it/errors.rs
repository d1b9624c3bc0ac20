//! Tests adverse environments. Each must cause one clear error and the correct exit code, and leave
//! nothing half-written.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;

use insta::assert_snapshot;

use crate::home::TestHome;

#[test]
fn without_a_store_the_hint_is_init() {
    let home = TestHome::empty();
    assert_snapshot!(home.run(&["memory", "add", "x"]), @"
    Error: No `.nacre` directory found in `$HOME/work` or its parent directories
    Hint: Run `nacre init` to set up this repository
    [exit 1]
    ");
    assert_snapshot!(home.run(&["doctor"]), @"
    Error: No `.nacre` directory found in `$HOME/work` or its parent directories
    Hint: Run `nacre init` to set up this repository
    [exit 1]
    ");
    let (code, value) = home.json(&["memory", "list"]);
    assert_eq!(code, 1);
    assert_snapshot!(serde_json::to_string_pretty(&value).unwrap(), @r#"
    {
      "error": {
        "causes": [],
        "code": "no_project",
        "hints": [
          "Run `nacre init` to set up this repository"
        ],
        "message": "No `.nacre` directory found in `$HOME/work` or its parent directories"
      }
    }
    "#);
}

#[test]
fn a_store_that_is_a_link_is_refused() {
    let home = TestHome::empty();
    let outside = home.root().join("outside");
    fs::create_dir(&outside).unwrap();
    symlink(&outside, home.work().join(".nacre")).unwrap();
    assert_snapshot!(home.run(&["init"]), @"
    Error: `$HOME/work/.nacre` is not a plain folder
    Hint: Nacre does not follow links inside a store. Replace the link with a regular file or directory
    [exit 1]
    ");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn a_folder_that_is_a_link_leads_nowhere() {
    let home = TestHome::new();
    let outside = home.root().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::create_dir(home.store("memory")).unwrap();
    symlink(&outside, home.store("memory/decisions")).unwrap();
    assert_snapshot!(home.run(&["memory", "add", "x"]), @"
    Error: `$HOME/work/.nacre/memory/decisions` is not a plain folder
    Hint: Nacre does not follow links inside a store. Replace the link with a regular file or directory
    [exit 1]
    ");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn a_busy_store_says_who_holds_it() {
    let home = TestHome::new().with_var("NACRE_LOCK_WAIT_MS", "5");
    let lock =
        fs::OpenOptions::new().read(true).write(true).open(home.store("journal/lock")).unwrap();
    lock.lock().unwrap();
    fs::write(
        home.store("journal/lock"),
        r#"{"pid":7,"command":"nacre sync","since":"2026-11-15T08:00:00Z"}"#,
    )
    .unwrap();
    assert_snapshot!(home.run(&["memory", "add", "x"]), @"
    Error: Another process is writing to `$HOME/work/.nacre` (`nacre sync`, process 7, since 2026-11-15T08:00:00Z)
    Hint: Wait for it to finish, or run `nacre config set lock.wait_ms 60000`
    [exit 4]
    ");
    assert_snapshot!(home.run(&["memory", "list"]), @"No memories.");
}

#[test]
fn a_full_disk_changes_nothing() {
    in_mount("size=64k,mode=755", |home, work| {
        let body = "y".repeat(50_000);
        let first = home.run_in(work, &["memory", "add", "x", "--body", &body]);
        assert!(first.contains("[exit 1]") && first.contains("No space left on device"), "{first}");
        assert!(first.contains("Hint: Free some disk space"), "{first}");
        assert!(home.run_in(work, &["doctor"]).contains("ok, 0 errors"));
        let added = home.run_in(work, &["memory", "add", "small"]);
        assert!(added.starts_with("Added 20261115-small"), "{added}");
    });
}

#[test]
fn a_read_only_disk_can_be_read() {
    in_mount("size=1m,mode=755", |home, work| {
        home.run_in(work, &["memory", "add", "small"]);
        mount(&["-o", "remount,ro"], work);
        let list = home.run_in(work, &["memory", "list"]);
        assert!(list.starts_with("20261115-small"), "{list}");
        let add = home.run_in(work, &["memory", "add", "more"]);
        assert!(add.contains("Read-only file system") && add.contains("[exit 1]"), "{add}");
        mount(&["-o", "remount,rw"], work);
    });
}

#[test]
fn a_home_that_cannot_be_used_does_not_stop_init() {
    let home = TestHome::empty().with_var("NACRE_HOME", "/proc/nothing/here");
    let shown = home.run(&["init"]);
    assert!(shown.contains("could not be registered") && shown.ends_with("[exit 3]\n"), "{shown}");
    assert!(home.store("config.toml").exists());
}

#[test]
fn an_unreadable_file_is_reported_and_skipped() {
    let home = TestHome::new();
    home.add("Use SQLite", &[]);
    let other = home.add("Use Redis", &[]);
    let file = home.store(&format!("memory/decisions/{other}.md"));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&file).is_ok() {
        // Root can read any file, so a pipe without a writer takes its place.
        fs::remove_file(&file).unwrap();
        assert!(Command::new("mkfifo").arg(&file).status().unwrap().success());
    }
    let list = home.run(&["memory", "list"]);
    assert!(list.starts_with("20261115-use-sqlite"), "{list}");
    let doctor = home.run(&["doctor"]);
    assert!(doctor.contains(&format!("{other}.md: ")), "{doctor}");
}

#[test]
fn a_closed_pipe_is_no_error() {
    let home = TestHome::new();
    home.add("Use SQLite", &[]);
    let nacre = env!("CARGO_BIN_EXE_nacre");
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{nacre} completions bash | head -c 10; exit ${{PIPESTATUS:-0}}")]);
    let output = command.current_dir(home.work()).env("HOME", home.root()).output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Runs `check` in a repository on its own mount, if this process may create one.
#[expect(clippy::print_stderr, reason = "whoever runs the tests should know what was left out")]
fn in_mount(options: &str, check: impl FnOnce(&TestHome, &std::path::Path)) {
    let home = TestHome::empty();
    let disk = home.root().join("disk");
    fs::create_dir(&disk).unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", options, "tmpfs"])
        .arg(&disk)
        .output()
        .is_ok_and(|output| output.status.success());
    if !mounted {
        eprintln!("not run: this user may not mount a disk");
        return;
    }
    let _unmount = Unmount(disk.clone());
    fs::create_dir(disk.join(".git")).unwrap();
    home.run_in(&disk, &["init"]);
    check(&home, &disk);
}

fn mount(args: &[&str], path: &std::path::Path) {
    assert!(Command::new("mount").args(args).arg(path).status().unwrap().success());
}

struct Unmount(std::path::PathBuf);

impl Drop for Unmount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
