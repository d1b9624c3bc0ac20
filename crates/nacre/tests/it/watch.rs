//! `nacre watch`

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::delta::{git, put, repository};
use crate::home::TestHome;

/// A watch under way; it ends with the test.
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

    /// The next line: one JSON object.
    fn next(&mut self) -> Value {
        let line = self.lines.next().expect("one more line").unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// One that answers, after its first line.
    fn serving(home: &TestHome, args: &[&str]) -> Self {
        let args: Vec<&str> = ["--serve"].iter().chain(args).copied().collect();
        let mut watching = Self::start(home, &args);
        let opening = watching.next();
        assert!(["watching", "polling"].contains(&opening["notice"].as_str().unwrap()));
        watching
    }

    fn write(&mut self, line: impl AsRef<[u8]>) {
        let input = self.child.stdin.as_mut().unwrap();
        input.write_all(line.as_ref()).unwrap();
        input.write_all(b"\n").unwrap();
    }

    /// Asks, and returns the answer; what changed meanwhile is passed over.
    fn ask(&mut self, question: &Value) -> Value {
        self.write(question.to_string());
        self.next_answer()
    }

    fn next_answer(&mut self) -> Value {
        loop {
            let line = self.next();
            if line["command"] != "watch" {
                return line;
            }
        }
    }

    /// Says that no more questions come; returns how it ended.
    fn end(&mut self) -> Option<i32> {
        drop(self.child.stdin.take());
        while self.lines.next().is_some() {}
        self.child.wait().unwrap().code()
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

/// Makes a file that nobody can see half written.
fn put_at_once(home: &TestHome, path: &str, text: &str) {
    let draft = home.root().join("draft");
    std::fs::write(&draft, text).unwrap();
    std::fs::rename(draft, home.work().join(path)).unwrap();
}

/// What a command prints, less how it came about.
fn printed(home: &TestHome, args: &[&str]) -> Value {
    let output = home.command(&home.work(), args).output().unwrap();
    timeless(serde_json::from_slice(&output.stdout).unwrap())
}

fn timeless(mut answer: Value) -> Value {
    answer["cache_status"].take();
    answer["stats"].take();
    answer
}

#[test]
fn answers_are_those_of_the_commands() {
    let home = repository();
    let mut watching = Watching::serving(&home, &[]);
    put(&home, "src/store.rs", "pub fn open(number: u16) {\n    drop(number);\n}\n");
    for (question, args) in [
        (json!({"command": "explore"}), &["explore"][..]),
        (
            json!({"command": "explore", "detail": "verbose", "budget": 2000}),
            &["explore", "--detail", "verbose", "--budget", "2000"],
        ),
        (json!({"command": "delta"}), &["delta"]),
        (
            json!({"command": "delta", "since": "0", "limit": 1}),
            &["delta", "--since", "0", "-n", "1"],
        ),
        (
            json!({"command": "context", "for": "open the store", "files": ["src/lib.rs"]}),
            &["context", "--for", "open the store", "--files", "src/lib.rs"],
        ),
    ] {
        let answer = timeless(watching.ask(&question));
        let args: Vec<&str> = args.iter().chain(&["--format", "json"]).copied().collect();
        assert_eq!(answer, printed(&home, &args), "{question}");
        // The same again comes from memory, and is the same.
        assert_eq!(timeless(watching.ask(&question)), answer);
    }
    assert_eq!(watching.end(), Some(0));
}

#[test]
fn an_edit_before_a_question_is_always_seen_by_its_answer() {
    let home = repository();
    let mut watching = Watching::serving(&home, &[]);
    let mut revision = watching.ask(&json!({"command": "explore"}))["revision"].clone();
    for round in 0..200 {
        let path = format!("src/{}.rs", ["store", "lib", "other"][round % 3]);
        put(&home, &path, &format!("pub fn round_{round}() {{}}\n"));
        let answer = watching.ask(&json!({"command": "delta", "since": revision, "id": round}));
        assert_eq!(answer["id"], round);
        assert_eq!(answer["delta"]["files"][0]["path"], path.as_str(), "{answer}");
        let symbols = answer["delta"]["files"][0]["symbols"]["changed"].to_string();
        assert!(round == 2 || symbols.contains(&format!("round_{round}\"")), "{answer}");
        assert_eq!(answer["delta"]["files"].as_array().unwrap().len(), 1, "{answer}");
        revision = answer["revision"].clone();
    }
}

#[test]
fn changes_are_told_between_the_answers() {
    let home = repository();
    let mut watching = Watching::serving(&home, &["--count", "2"]);
    put_at_once(&home, "one.rs", "fn one() {}\n");
    let line = watching.next();
    assert_eq!(
        (&line["command"], &line["delta"]["files"][0]["path"]),
        (&"watch".into(), &"one.rs".into())
    );
    put_at_once(&home, "two.rs", "fn two() {}\n");
    watching.write(json!({"command": "explore"}).to_string());
    let mut lines = [watching.next(), watching.next()];
    lines.sort_by_key(|line| line["command"].to_string());
    assert_eq!(lines[0]["stats"]["file_count"], 5, "{lines:?}");
    assert_eq!(lines[1]["delta"]["files"][0]["path"], "two.rs", "{lines:?}");
    assert!(watching.child.wait().unwrap().success());
}

#[test]
fn what_makes_no_sense_is_an_error_of_one_line_and_the_next_is_answered() {
    let home = repository();
    let mut watching = Watching::serving(&home, &[]);
    let mut told = String::new();
    for line in [
        &b"hello"[..],
        b"",
        b"[1]",
        b"{\"command\":\"rm\",\"id\":1}",
        b"{\"command\":\"explore\",\"colour\":\"red\",\"id\":{\"a\":[2]}}",
        b"{\"command\":\"explore\",\"budget\":\"-\xff\"}",
        b"{\"command\":\"explore\",\"budget\":1,\"id\":\"\xe2\x80\xae\"}",
        b"{\"command\":\"delta\",\"since\":\"git:nothing\"}",
        b"{\"command\":\"context\",\"files\":\"gone.rs\"}",
    ] {
        watching.write(line);
        let answer = watching.next_answer();
        // The numbers behind a colon depend on how long this folder's name is.
        let message = answer["error"]["message"].to_string();
        let message = message.split(':').next().unwrap();
        told += &format!("{} {message}\n", answer["id"]).replace('\u{202e}', "\\u202e");
    }
    insta::assert_snapshot!(told, @r#"
    null "The line is no JSON object"
    null "The line is no JSON object"
    null "The line is no JSON object"
    1 "Wrong `command`
    {"a":[2]} "unknown field `colour`, expected one of `client`, `detail`, `budget`"
    null "The line is no JSON object"
    "\u202e" "A budget of 1 tokens is too small
    null "Git knows no commit `nothing` here"
    null "`gone.rs` is not in the map"
    "#);
    watching.write(format!("{{\"command\":\"{}\"}}", "x".repeat(2 << 20)));
    assert_eq!(watching.next_answer()["error"]["message"], "A line has at most 1048576 bytes");
    watching.write("[".repeat(100_000));
    assert_eq!(watching.next_answer()["error"]["code"], "usage");
    assert_eq!(watching.ask(&json!({"command": "explore", "id": null}))["stats"]["file_count"], 3);
    assert_eq!(watching.end(), Some(0));
}

#[test]
fn a_setting_that_is_changed_meanwhile_holds_for_the_next_answer() {
    let home = repository();
    let mut watching = Watching::serving(&home, &[]);
    let n_files = |answer: Value| answer["stats"]["file_count"].as_u64().unwrap();
    assert_eq!(n_files(watching.ask(&json!({"command": "explore"}))), 3);
    home.ok(&["config", "set", "map.deny", "[\"store.rs\"]"]);
    assert_eq!(n_files(watching.ask(&json!({"command": "explore"}))), 2);
    std::fs::create_dir_all(home.root().join(".config/git")).unwrap();
    std::fs::write(home.root().join(".config/git/ignore"), "fresh.rs\n").unwrap();
    put(&home, "fresh.rs", "fn fresh() {}\n");
    assert_eq!(n_files(watching.ask(&json!({"command": "explore"}))), 2);
    std::fs::write(home.root().join(".config/git/ignore"), "").unwrap();
    assert_eq!(n_files(watching.ask(&json!({"command": "explore"}))), 3);
}

#[test]
fn a_watch_ends_when_its_cache_is_to_be_kept_in_another_way() {
    let home = repository();
    let mut watching = Watching::serving(&home, &[]);
    home.ok(&["config", "set", "map.at_rest", "encrypted"]);
    watching.write(json!({"command": "explore"}).to_string());
    assert_eq!(watching.end(), Some(1));
}

#[test]
fn without_events_answers_are_as_fresh() {
    let home = repository();
    let mut watching = Watching::serving(&home, &["--poll", "--interval", "60000"]);
    for round in 0..5 {
        put(&home, &format!("new_{round}.rs"), "fn f() {}\n");
        let answer = watching.ask(&json!({"command": "explore"}));
        assert_eq!(answer["stats"]["file_count"], 4 + round);
    }
    assert_eq!(watching.end(), Some(0));
}

#[test]
fn questions_that_are_written_at_once_are_answered_in_their_order() {
    let home = repository();
    let mut watching = Watching::serving(&home, &[]);
    let lines: Vec<String> =
        (0..100).map(|id| json!({"command": "explore", "id": id}).to_string()).collect();
    watching.write(lines.join("\n"));
    for id in 0..100 {
        assert_eq!(watching.next_answer()["id"], id);
    }
    watching.write("{\"command\":\"explore\",\"id\":\"last\"}");
    drop(watching.child.stdin.take());
    assert_eq!(watching.next_answer()["id"], "last");
    assert_eq!(watching.end(), Some(0));
}
