//! Tests the program's second role: supervising a program that an agent started.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

#[test]
fn the_program_that_people_run_watches_over_what_agents_start() {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().canonicalize().unwrap();
    for folder in ["workspace", "spill", "spill/tmp"] {
        std::fs::create_dir(root.join(folder)).unwrap();
    }
    let order = json!({
        "program": { "script": "echo in > in; echo out > ../spill/out; exit 5" },
        "folder": root.join("workspace"),
        "environment": { "PATH": "/usr/bin:/bin" },
        "time_limit": { "secs": 60, "nanos": 0 },
        "quotas": { "memory": 1 << 30, "file_bytes": 1 << 20, "processes": 4096 },
        "output": { "head": 100, "tail": 100 },
        "confinement": {
            "workspace": root.join("workspace"), "scratch": root.join("spill/tmp"), "outside": root.join("spill"),
            "own": [], "secrets": [], "reach": "nothing", "metadata": "kept",
        },
    });
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let mut watcher = Command::new(env!("CARGO_BIN_EXE_nacre"))
        .args(["__program", "watch"])
        .env_clear()
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    writeln!(ours, "{order}").unwrap();
    let words: Vec<Value> = BufReader::new(ours)
        .lines()
        .map_while(Result::ok)
        .map(|line| serde_json::from_str(&line).unwrap())
        .collect();
    assert!(watcher.wait().unwrap().success());
    assert_eq!(words[1]["ended"]["ending"], json!({ "exited": 5 }), "{words:?}");
    assert!(root.join("workspace/in").exists() && !root.join("spill/out").exists());
}
