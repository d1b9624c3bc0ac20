//! Tests `nacre report --team` and `nacre ask --all-projects`, which cover every project that a
//! user may read.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::home::TestHome;
use crate::people::{ask, token};
use crate::serve::Served;

const PNPM: (&str, &str) = ("Install packages with pnpm", "npm writes a second lock file.");
const NO_PNPM: (&str, &str) = (
    "Do not install packages with pnpm any more",
    "We switched to npm from now on, pnpm is no longer used: it broke the docker build.",
);

/// Creates a home and a second project, which made a different decision.
fn two_projects() -> TestHome {
    let home = TestHome::new();
    let shell = home.root().join("shell");
    fs::create_dir_all(shell.join(".git")).unwrap();
    home.run_in(&shell, &["init"]);
    home.add(PNPM.0, &["--body", PNPM.1]);
    let mut add = home.command(&shell, &["memory", "add", NO_PNPM.0, "--body", NO_PNPM.1]);
    add.env("NACRE_NOW", "2026-11-15T08:40:00Z");
    assert!(add.output().unwrap().status.success());
    home
}

#[test]
fn a_team_is_told_what_was_learned_and_where_projects_disagree() {
    let home = two_projects().with_var("NACRE_NOW", "2026-11-16T00:00:00Z");
    assert_snapshot!(home.run(&["report", "--team"]), @"
    2 projects, 2026-11-09 to 2026-11-16

    shell
      1 learned
        Do not install packages with pnpm any more [20261115-do-not-install-packages-with-pnpm-any-more]

    work
      1 learned
        Install packages with pnpm [20261115-install-packages-with-pnpm]

    Projects with contradicting memories
      shell says “Do not install packages with pnpm any more” [20261115-do-not-install-packages-with-pnpm-any-more], but work says “Install packages with pnpm” [20261115-install-packages-with-pnpm]
    ");
    // A month later, there is nothing new, and no memory was used.
    let later = home.with_var("NACRE_NOW", "2026-12-31T00:00:00Z");
    let (_, report) = later.json(&["report", "--team"]);
    let work = &report["projects"].as_array().unwrap().iter().find(|one| one["project"] == "work");
    let work = work.unwrap();
    assert_eq!((&work["n_learned"], &work["n_unused"]), (&json!(0), &json!(1)), "{report:#}");
    let (_, report) = later.json(&["report", "--team", "--since", "2026-11-01"]);
    assert_eq!(report["projects"][1]["n_learned"], json!(1), "{report:#}");
}

#[test]
fn what_is_contested_waits_for_a_person() {
    let home = TestHome::new();
    home.add(PNPM.0, &["--body", PNPM.1]);
    home.add(NO_PNPM.0, &["--body", NO_PNPM.1]);
    let (_, report) = home.json(&["report", "--team"]);
    let contested = &report["projects"][0]["contested"];
    assert_eq!(contested.as_array().map(Vec::len), Some(1), "{report:#}");
    // Archiving one of the memories resolves the contradiction.
    home.ok(&["memory", "archive", contested[0]["older"].as_str().unwrap()]);
    let (_, report) = home.json(&["report", "--team"]);
    assert_eq!(report["projects"][0]["contested"], json!([]), "{report:#}");
}

#[test]
fn a_question_is_answered_from_all_projects_that_may_be_read() {
    let home = two_projects();
    let question = ["ask", "--no-model", "do we install packages with pnpm?"];
    let one = home.run(&question);
    assert!(!one.contains("any more"), "{one}");
    let all = home.run(&[&question[..], &["--all-projects"]].concat());
    assert!(all.contains(", shell)") && all.contains(", work)"), "{all}");

    let ana = token(&home, &["ana", "--in", "work"]);
    let both = token(&home, &["bo"]);
    let served = Served::start(&home);
    let body = json!({"question": question[2], "no_model": true, "all_projects": true});
    let asked = |token: &str| ask(&served, token, "POST", "/api/ask", &body);
    let told = |token: &str| ask(&served, token, "GET", "/api/team/report", &Value::Null);
    for (status, text) in [asked(&both), told(&both)] {
        assert_eq!(status, 200, "{text}");
        assert!(text.contains("shell"), "{text}");
    }
    for (status, text) in [asked(&ana), told(&ana)] {
        assert_eq!(status, 200, "{text}");
        assert!(text.contains("pnpm") && !text.contains("shell"), "{text}");
    }
    served.stop();
}
