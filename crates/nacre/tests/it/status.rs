//! `nacre status`

use insta::assert_snapshot;

use crate::home::TestHome;

#[test]
fn status_counts_and_does_not_judge() {
    let home = TestHome::new();
    home.add("Use SQLite", &[]);
    home.ok(&["memory", "archive", &home.add("Use Redis", &[])]);
    assert_snapshot!(home.run(&["status"]), @"
    Project work in $HOME/work
    project  1 decision (+1 archived), 0 learnings, 0 summaries  $HOME/work/.nacre
    global   0 decisions, 0 learnings, 0 summaries  $HOME/.nacre
    Scope project_fallback_global, 1 registered project
    Health unchecked: run `nacre doctor`
    ");
    let (_, value) = home.json(&["status"]);
    assert_eq!(value["health"], "unchecked");
}

#[test]
fn status_outside_a_project_says_so() {
    let home = TestHome::empty();
    assert_snapshot!(home.run(&["status"]), @"
    No project here
    Scope project_fallback_global, 0 registered projects
    Health unchecked: run `nacre doctor`
    Hint: Run `nacre init` to prepare this repository
    ");
}

#[test]
fn status_with_a_broken_file_is_partial() {
    let home = TestHome::new();
    home.write("memory/decisions/20261101-broken.md", "nothing");
    assert_snapshot!(home.run(&["status"]), @"
    Project work in $HOME/work
    project  0 decisions, 0 learnings, 0 summaries  $HOME/work/.nacre
             1 malformed; `nacre doctor` shows where
    global   0 decisions, 0 learnings, 0 summaries  $HOME/.nacre
    Scope project_fallback_global, 1 registered project
    Health unchecked: run `nacre doctor`
    [exit 3]
    ");
}
