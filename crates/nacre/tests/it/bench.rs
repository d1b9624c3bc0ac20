//! `nacre bench map`

use std::fs;

use crate::delta::{git, put, repository};
use crate::explore::settled;
use crate::home::TestHome;

fn report(home: &TestHome, more: &[&str]) -> serde_json::Value {
    let work = home.work();
    let mut args = vec!["bench", "map", "--repo", work.to_str().unwrap()];
    args.extend(more);
    let (code, value) = home.json(&args);
    assert_eq!(code, 0, "{value}");
    value["repos"][0].clone()
}

/// A project whose answers lie in long files.
fn large() -> TestHome {
    let home = repository();
    for number in 0..12 {
        let filler: String = (0..150)
            .map(|n| format!("fn filler_{number}_{n}() {{\n    let x = {n};\n}}\n"))
            .collect();
        let text =
            format!("{filler}pub fn measure_depth_of_{number}(sea: u8) -> u8 {{\n    sea\n}}\n");
        put(&home, &format!("src/deep{number}.rs"), &text);
    }
    home
}

#[test]
fn questions_about_long_files_cost_less_with_the_map() {
    let home = large();
    settled(&home);
    let report = report(&home, &["--count", "6", "--budget", "800"]);
    assert_eq!(
        (report["questions"].as_array().unwrap().len(), &report["answered"]),
        (6, &6.into())
    );
    assert!(0.5 < report["reduction_answered"].as_f64().unwrap(), "{report}");
    assert_eq!(report["hit_ratio"], 1.0);
}

#[test]
fn what_costs_more_than_it_saves_is_told() {
    let home = repository();
    let report = report(&home, &["--count", "3"]);
    // Three short files are read faster than asked about.
    assert!(report["reduction"].as_f64().unwrap() < 0.0, "{report}");
}

#[test]
fn an_answer_that_the_slice_does_not_have_counts_as_none() {
    let home = large();
    let questions = home.root().join("questions.jsonl");
    let line = r#"{"question":"where is the tide","find":["measure_depth_of_3"],"path":"src/deep3.rs","contains":"fn nowhere()"}"#;
    fs::write(&questions, format!("{line}\n")).unwrap();
    let report = report(&home, &["--questions", questions.to_str().unwrap()]);
    assert_eq!((&report["answered"], &report["cost_more"]), (&0.into(), &1.into()));
}

/// Topics with a file each. Later commits add a word to a file that no file had before.
const TOPICS: [(&str, &str, &str); 6] = [
    ("tide", "compute the tide level of a harbour", "moonpull"),
    ("pearl", "grade pearls by lustre and weight", "orient"),
    ("anchor", "drop the anchor on sandy ground", "fluke"),
    ("compass", "read the compass bearing", "declination"),
    ("lantern", "light the lantern at dusk", "wick"),
    ("rudder", "turn the rudder to starboard", "pintle"),
];

/// A repository with six commits that can be taken as tasks, and some that cannot. Returns the state before them.
fn with_history() -> (TestHome, String) {
    let home = repository();
    for (topic, words, _) in TOPICS {
        let text = format!("/// Can {words}.\npub fn {topic}_now(sea: u8) -> u8 {{\n    sea\n}}\n");
        put(&home, &format!("src/{topic}.rs"), &text);
    }
    put(&home, ".gitignore", "src/rudder.rs\n");
    git(&home, &["add", "-A", "-f"]);
    git(&home, &["commit", "-q", "-m", "Add all parts of the ship"]);
    let state = git_says(&home, &["rev-parse", "HEAD"]);
    for (topic, words, new) in TOPICS {
        let text =
            format!("/// Can {words}.\npub fn {topic}_{new}(sea: u8) -> u8 {{\n    sea\n}}\n");
        put(&home, &format!("src/{topic}.rs"), &text);
        git(&home, &["commit", "-q", "-a", "-m", &format!("{topic}: {words} by {new} (#12)")]);
        put(&home, "Cargo.toml", &format!("[package]\nname = \"{topic}\"\n"));
        git(&home, &["commit", "-q", "-a", "-m", "Bump the version to 1.2.3"]);
    }
    (home, state)
}

fn git_says(home: &TestHome, args: &[&str]) -> String {
    let output =
        std::process::Command::new("git").args(args).current_dir(home.work()).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Every path below a folder with its size.
fn listing(folder: &std::path::Path) -> Vec<String> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let size = path.metadata().unwrap().len();
        match path.is_dir() {
            true => paths.extend(listing(&path)),
            false => paths.push(format!("{} {size}", path.display())),
        }
    }
    paths.sort();
    paths
}

#[test]
fn commits_are_tasks_on_the_state_before_them() {
    let (home, state) = with_history();
    let before = listing(&home.work().join(".git"));
    let report = report(&home, &["--count", "1"]);
    let measured = &report["localisation"];
    assert_eq!((&measured["state"], &measured["files"]), (&state.into(), &9.into()));
    let tasks = measured["tasks"].as_array().unwrap();
    let first = |task: &serde_json::Value| task["context_rank"].as_u64();
    assert_eq!(tasks.iter().map(first).collect::<Vec<_>>(), [Some(1); 6], "{measured}");
    assert_eq!(tasks[5]["task"], "tide: compute the tide level of a harbour by moonpull");
    assert_eq!(tasks[5]["files"], serde_json::json!(["src/tide.rs"]));
    for ranking in ["context", "bm25"] {
        let expected = serde_json::json!(
            {"recall_5": 1.0, "recall_10": 1.0, "recall_any": 1.0, "tasks_5": 6}
        );
        assert_eq!(measured[ranking], expected);
    }
    assert_eq!(report["no_localisation"], serde_json::Value::Null);
    // Nothing of the repository was touched, and nothing of the copy is left.
    assert_eq!(listing(&home.work().join(".git")), before);
    let copies = home.root().join(".nacre/cache/bench");
    assert!(copies.exists(), "the copy lay elsewhere");
    assert_eq!(fs::read_dir(copies).unwrap().count(), 0);
}

#[test]
fn what_came_later_is_not_seen() {
    let (home, _) = with_history();
    // By then only the text of `src/tide.rs` has the word, and no text of the old state.
    put(&home, "src/tide.rs", "pub fn moonpull() {}\n");
    git(&home, &["commit", "-q", "-a", "-m", "moonpull moonpulls moonpulling"]);
    let before = report(&home, &["--count", "1"]);
    let task = &before["localisation"]["tasks"][0];
    assert_eq!(task["task"], "moonpull moonpulls moonpulling");
    assert_eq!(task["bm25_rank"], serde_json::Value::Null);
    // Nor is what was remembered since.
    home.ok(&["init"]);
    let body = "All about moonpull is in `src/tide.rs`.";
    home.ok(&["memory", "add", "Moonpull moonpulls moonpulling", "--body", body]);
    let work = home.work();
    let asked = ["context", work.to_str().unwrap(), "--for", "moonpull moonpulls moonpulling"];
    assert!(home.ok(&[&asked[..], &["--format", "json"]].concat()).contains("\"memory\""));
    let after = report(&home, &["--count", "1"]);
    assert_eq!(after["localisation"]["tasks"], before["localisation"]["tasks"]);
}

#[test]
fn where_history_says_too_little_that_is_reported() {
    let home = repository();
    let report = report(&home, &["--count", "1"]);
    assert_eq!(report["localisation"], serde_json::Value::Null);
    let reason = report["no_localisation"].as_str().unwrap();
    assert_eq!(reason, "only 0 recent commits can be taken as tasks, and 5 are needed");
    let report = self::report(&home, &["--count", "1", "--tasks", "0"]);
    assert_eq!(report["no_localisation"], serde_json::Value::Null);
    let work = home.work();
    let (code, _) =
        home.json(&["bench", "map", "--repo", work.to_str().unwrap(), "--tasks", "201"]);
    assert_eq!(code, 2);
}

#[test]
fn localisation_is_printed_with_what_it_means() {
    let (home, _) = with_history();
    let work = home.work();
    let text = home.run(&["bench", "map", "--repo", work.to_str().unwrap(), "--count", "1"]);
    let at = text.find("  localisation: 6 commits, asked at ").unwrap();
    let said = &text[at..];
    assert!(said.contains("context               100.0 %    100.0 %     100.0 %"), "{said}");
    assert!(
        said.contains(
            "In 6 of 6 commits a file that changed was among the first five (BM25: 6). An answer"
        ),
        "{said}"
    );
}
