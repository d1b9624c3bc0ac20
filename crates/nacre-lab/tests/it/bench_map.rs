//! `bench map`

use std::fs;

use crate::lab::Lab;

fn report(lab: &Lab, more: &[&str]) -> serde_json::Value {
    let args = ["bench", "map", "--json", "--repo", "."];
    lab.json(&[&args[..], more].concat())["repos"][0].clone()
}

/// Creates a repository with one commit.
fn repository() -> Lab {
    let lab = Lab::new();
    let text = "mod store;\nuse crate::store::open;\npub fn run() {\n    open(1);\n}\n";
    lab.put("src/lib.rs", text);
    lab.put("src/store.rs", "pub fn open(number: u8) {\n    drop(number);\n}\n");
    lab.put("Cargo.toml", "[package]\nname = \"pearl\"\n");
    lab.git(&["add", "-A"]);
    lab.git(&["commit", "-q", "-m", "first"]);
    lab
}

/// Creates a project whose answers are in long files.
fn large() -> Lab {
    let lab = repository();
    for number in 0..12 {
        let filler: String = (0..150)
            .map(|n| format!("fn filler_{number}_{n}() {{\n    let x = {n};\n}}\n"))
            .collect();
        let text =
            format!("{filler}pub fn measure_depth_of_{number}(sea: u8) -> u8 {{\n    sea\n}}\n");
        lab.put(&format!("src/deep{number}.rs"), &text);
    }
    lab
}

#[test]
fn questions_about_long_files_cost_less_with_the_map() {
    let lab = large();
    // Recently written files are checked again, so repeat until the map is current.
    let report = (0..1_000)
        .map(|_| report(&lab, &["--count", "6", "--budget", "800", "--tasks", "0"]))
        .find(|report| report["hit_ratio"] == 1.0)
        .expect("the map settles");
    assert_eq!(
        (report["questions"].as_array().unwrap().len(), &report["answered"]),
        (6, &6.into())
    );
    assert!(0.5 < report["reduction_answered"].as_f64().unwrap(), "{report}");
}

#[test]
fn what_costs_more_than_it_saves_is_told() {
    let lab = repository();
    let report = report(&lab, &["--count", "3"]);
    // Reading three short files costs less than using the map.
    assert!(report["reduction"].as_f64().unwrap() < 0.0, "{report}");
}

#[test]
fn an_answer_that_the_slice_does_not_have_counts_as_none() {
    let lab = large();
    let questions = lab.root().join("questions.jsonl");
    let line = r#"{"question":"where is the tide","find":["measure_depth_of_3"],"path":"src/deep3.rs","contains":"fn nowhere()"}"#;
    fs::write(&questions, format!("{line}\n")).unwrap();
    let report = report(&lab, &["--questions", questions.to_str().unwrap()]);
    assert_eq!((&report["answered"], &report["cost_more"]), (&0.into(), &1.into()));
}

/// Topics with one file each. A later commit adds a word that no file contained before.
const TOPICS: [(&str, &str, &str); 6] = [
    ("tide", "compute the tide level of a harbour", "moonpull"),
    ("pearl", "grade pearls by lustre and weight", "orient"),
    ("anchor", "drop the anchor on sandy ground", "fluke"),
    ("compass", "read the compass bearing", "declination"),
    ("lantern", "light the lantern at dusk", "wick"),
    ("rudder", "turn the rudder to starboard", "pintle"),
];

/// Creates a repository with six commits that are suitable as tasks and some that are not. Returns
/// the commit before them.
fn with_history() -> (Lab, String) {
    let lab = repository();
    for (topic, words, _) in TOPICS {
        let text = format!("/// Can {words}.\npub fn {topic}_now(sea: u8) -> u8 {{\n    sea\n}}\n");
        lab.put(&format!("src/{topic}.rs"), &text);
    }
    lab.put(".gitignore", "src/rudder.rs\n");
    lab.git(&["add", "-A", "-f"]);
    lab.git(&["commit", "-q", "-m", "Add all parts of the ship"]);
    let state = lab.git(&["rev-parse", "HEAD"]);
    for (topic, words, new) in TOPICS {
        let text =
            format!("/// Can {words}.\npub fn {topic}_{new}(sea: u8) -> u8 {{\n    sea\n}}\n");
        lab.put(&format!("src/{topic}.rs"), &text);
        lab.git(&["commit", "-q", "-a", "-m", &format!("{topic}: {words} by {new} (#12)")]);
        lab.put("Cargo.toml", &format!("[package]\nname = \"{topic}\"\n"));
        lab.git(&["commit", "-q", "-a", "-m", "Bump the version to 1.2.3"]);
    }
    (lab, state)
}

/// Lists all paths below a directory with their sizes.
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
    let (lab, state) = with_history();
    let before = listing(&lab.work().join(".git"));
    let report = report(&lab, &["--count", "1"]);
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
    // The repository was not modified.
    assert_eq!(listing(&lab.work().join(".git")), before);
}

#[test]
fn what_came_later_is_not_seen() {
    let (lab, _) = with_history();
    // The new word occurs only in the later text of `src/tide.rs`, not in the old state.
    lab.put("src/tide.rs", "pub fn moonpull() {}\n");
    lab.git(&["commit", "-q", "-a", "-m", "moonpull moonpulls moonpulling"]);
    let before = report(&lab, &["--count", "1"]);
    let task = &before["localisation"]["tasks"][0];
    assert_eq!(task["task"], "moonpull moonpulls moonpulling");
    assert_eq!(task["bm25_rank"], serde_json::Value::Null);
    // Memories created later must not be visible either.
    let memory = "---\nid: 20261115-moonpull\ntitle: Moonpull moonpulls moonpulling\ncreated: 2026-11-15T08:30:00Z\n---\nAll about moonpull is in `src/tide.rs`.\n";
    lab.put(".nacre/memory/decisions/20261115-moonpull.md", memory);
    let after = report(&lab, &["--count", "1"]);
    assert_eq!(after["localisation"]["tasks"], before["localisation"]["tasks"]);
}

#[test]
fn where_history_says_too_little_that_is_reported() {
    let lab = repository();
    let report = report(&lab, &["--count", "1"]);
    assert_eq!(report["localisation"], serde_json::Value::Null);
    let reason = report["no_localisation"].as_str().unwrap();
    assert_eq!(reason, "only 0 recent commits are suitable as tasks; 5 are required");
    let report = self::report(&lab, &["--count", "1", "--tasks", "0"]);
    assert_eq!(report["no_localisation"], serde_json::Value::Null);
    let refused = lab.run(&["bench", "map", "--repo", ".", "--tasks", "201"]);
    assert!(refused.ends_with("[exit 2]\n"), "{refused}");
}

#[test]
fn localisation_is_printed_with_what_it_means() {
    let (lab, _) = with_history();
    let text = lab.run(&["bench", "map", "--repo", ".", "--count", "1"]);
    let at = text.find("  localisation: 6 commits, tested at ").unwrap();
    let said = &text[at..];
    assert!(said.contains("context               100.0 %    100.0 %     100.0 %"), "{said}");
    assert!(
        said.contains(
            "In 6 of 6 commits, a changed file was among the first five (BM25: 6). A context"
        ),
        "{said}"
    );
}
