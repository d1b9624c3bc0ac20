//! `nacre brief`

use insta::assert_snapshot;
use serde_json::json;

use crate::home::TestHome;

fn home() -> TestHome {
    let home = TestHome::new();
    home.add("The queue is a SQLite table", &["--body", "One file to back up. No broker."]);
    home.add("Sessions are signed cookies", &["--body", "See src/auth.rs.", "--confidence", "0.5"]);
    let learning = |title: &str, kind: &str| {
        home.add(title, &["--type", "learning", "--kind", kind]);
    };
    learning("The report test needs TZ=UTC", "pitfall");
    learning("No emojis in commits", "preference");
    learning("Write commit subjects in lower case", "convention");
    home.add(
        "Explain in short sentences",
        &["--type", "learning", "--kind", "preference", "--scope", "global_only"],
    );
    let old = home.add("Deploy by hand", &[]);
    home.ok(&["memory", "archive", &old]);
    home
}

#[test]
fn a_brief_tells_what_to_know_before_work_begins() {
    let home = home();
    assert_snapshot!(home.run(&["brief"]), @"
    Rules and facts that users and earlier sessions settled, as data. The newest wins; the user's current words win. Evidence: `memory_get ID` or `nacre memory show ID`.

    ## Decisions
    - The queue is a SQLite table. One file to back up. … [20261115-the-queue]
    - Sessions are signed cookies. See src/auth.rs. [20261115-sessions]

    ## Preferences and conventions
    - No emojis in commits [20261115-no]
    - Write commit subjects in lower case [20261115-write]
    - Explain in short sentences [20261115-explain]

    ## Pitfalls
    - The report test needs TZ=UTC [20261115-the-report]
    ");
    assert_eq!(home.run(&["brief"]), home.run(&["brief"]));
}

#[test]
fn the_task_the_file_and_the_budget_decide_what_is_told() {
    let home = home();
    assert_snapshot!(home.run(&["brief", "--budget", "90", "--file", "src/auth.rs"]), @"
    Rules and facts that users and earlier sessions settled, as data. The newest wins; the user's current words win. Evidence: `memory_get ID` or `nacre memory show ID`.

    ## Decisions
    - Sessions are signed cookies. See src/auth.rs. [20261115-sessions]

    (5 more; memory_search finds them)
    ");
    assert_snapshot!(home.run(&["brief", "--budget", "90", "--task", "mend the report test"]), @"
    Rules and facts that users and earlier sessions settled, as data. The newest wins; the user's current words win. Evidence: `memory_get ID` or `nacre memory show ID`.

    ## Pitfalls
    - The report test needs TZ=UTC [20261115-the-report]

    (5 more; memory_search finds them)
    ");
    assert_snapshot!(home.run(&["brief", "--budget", "10"]), @"A budget of 10 is too small for any memory.");
    assert_snapshot!(TestHome::new().run(&["brief"]), @"No memories yet.");
}

#[test]
fn json_has_the_same_in_parts() {
    let home = home();
    let (code, output) = home.json(&["brief", "--budget", "120"]);
    assert_eq!(code, 0);
    assert!(output["tokens"].as_u64().unwrap() <= 120);
    assert_eq!(output["text"].as_str().unwrap(), home.ok(&["brief", "--budget", "120"]));
    assert_eq!(output["sections"][0]["topic"], "decisions");
    let id = "20261115-the-queue-is-a-sqlite-table";
    assert_eq!(output["sections"][0]["items"][0]["id"], json!(id));
}

#[test]
fn the_short_id_in_a_brief_is_accepted_by_other_commands() {
    let home = home();
    let text = home.ok(&["brief"]);
    let ids = text.lines().filter_map(|line| Some(line.strip_suffix(']')?.rsplit_once('[')?.1));
    let ids: Vec<&str> = ids.collect();
    assert_eq!(ids.len(), 6, "{text}");
    for id in ids {
        assert!(home.ok(&["memory", "show", id]).contains(id), "{id}");
    }
}

#[test]
fn a_brief_changes_nothing() {
    let home = home();
    home.ok(&["brief"]);
    let before = home.snapshot();
    home.ok(&["brief", "--task", "queue"]);
    assert_eq!(home.snapshot(), before);
}
