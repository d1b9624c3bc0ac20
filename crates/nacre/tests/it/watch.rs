//! `nacre watch`

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::delta::{git, put, repository};
use crate::home::TestHome;

/// A watch that is stopped at the end of the test.
struct Watching {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Watching {
    fn start(home: &TestHome, args: &[&str]) -> Self {
        let args: Vec<&str> = ["watch"].iter().chain(args).copied().collect();
        let mut command = home.command(&home.work(), &args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// Returns the next line, which is a JSON object.
    fn next(&mut self) -> Value {
        let line = self.lines.next().expect("one more line").unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn each_change_is_a_line_also_in_folders_that_are_new() {
    let home = repository();
    let mut watching = Watching::start(&home, &["--count", "3"]);
    let opening = watching.next();
    assert_eq!((&opening["notice"], &opening["mode"]), (&"watching".into(), &"events".into()));
    put(&home, "src/store.rs", "pub fn open(number: u32) {\n    drop(number);\n}\n");
    let line = watching.next();
    assert_eq!(line["delta"]["files"][0]["path"], "src/store.rs");
    assert_eq!(line["delta"]["affected"][0]["path"], "src/lib.rs");
    put(&home, "src/deep/one.rs", "fn one() {}\n");
    let line = watching.next();
    assert_eq!(line["delta"]["files"][0]["path"], "src/deep/one.rs");
    put(&home, "src/deep/two.rs", "fn two() {}\n");
    let line = watching.next();
    assert_eq!(line["delta"]["files"][0]["path"], "src/deep/two.rs");
    assert!(watching.child.wait().unwrap().success());
}

#[test]
fn what_does_not_belong_makes_no_line() {
    let home = repository();
    put(&home, ".gitignore", "*.log\n");
    let mut watching = Watching::start(&home, &["--count", "1"]);
    watching.next();
    put(&home, "a.log", "x");
    put(&home, "target/debug/x.rs", "x");
    put(&home, ".env", "x");
    put(&home, "b.rs", "fn b() {}\n");
    let line = watching.next();
    assert_eq!(line["delta"]["files"].as_array().unwrap().len(), 1, "{line}");
    assert_eq!(line["delta"]["files"][0]["path"], "b.rs");
}

#[test]
fn what_git_begins_to_track_is_noticed() {
    let home = repository();
    put(&home, ".gitignore", "gen/\n");
    put(&home, "gen/kept.rs", "fn kept() {}\n");
    let mut watching = Watching::start(&home, &["--count", "1"]);
    watching.next();
    git(&home, &["add", "-f", "gen/kept.rs"]);
    assert_eq!(watching.next()["delta"]["files"][0]["path"], "gen/kept.rs");
}

#[test]
fn polling_says_so_and_finds_the_same() {
    let home = repository();
    let mut watching = Watching::start(&home, &["--poll", "--interval", "50", "--count", "1"]);
    let opening = watching.next();
    assert_eq!((&opening["notice"], &opening["mode"]), (&"polling".into(), &"polling".into()));
    put(&home, "b.rs", "fn b() {}\n");
    assert_eq!(watching.next()["delta"]["files"][0]["path"], "b.rs");
}
