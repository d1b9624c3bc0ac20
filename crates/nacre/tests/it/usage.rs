//! Help, version, completions and what happens to nonsense.

use insta::assert_snapshot;

use crate::home::TestHome;

#[test]
fn help_fits_a_screen_and_groups_its_commands() {
    let home = TestHome::empty();
    let help = home.run(&["--help"]);
    assert!(help.lines().count() <= 48 && help.lines().all(|line| line.len() <= 100), "{help}");
    assert_snapshot!(help, @"
    A file-first memory for coding agents

    Usage: nacre [OPTIONS] <COMMAND>

    Start:
      init         Prepare this repository for memory
      status       Show what Nacre holds here
      doctor       Check every file of the store and say what is wrong

    Remember and recall:
      sync         Read new and changed sessions, and keep what is worth keeping
      ask          Ask what is remembered, and get an answer with proof
      brief        Tell what an agent should know before it starts
      review       Accept or reject what a sync proposes
      memory       Add, find, read and change memories
      trace        List, read and search the sessions of your agents

    Know the code:
      explore      Tell what a project is: where it starts, what it rests on, what it offers
      context      Collect the code that a task needs, within a budget of tokens
      search-code  Search the code by words, by a piece of text, or by a regular expression
      delta        Tell which files and symbols changed, and who is affected
      chat         Talk to Nacre's own agent in this repository

    Keep going:
      up           Let it run by itself: sync, maintenance, indexes, and the dashboard
      dashboard    Open the dashboard in a browser
      maintain     Keep memories few and true
      report       Tell what was learned, merged, put away and used
      undo         Take back what a command changed, byte for byte

    Set up:
      connect      Connect agents: their sessions, and Nacre's tools, hooks and skill
      project      Manage the projects that Nacre knows
      model        Show and try models
      config       Show and change settings

    Options:
          --json               Print one JSON object instead of text
          --project <PROJECT>  Work on this project, by name or path, not on the one around this folder
          --color <WHEN>       When to use colors [possible values: auto, always, never]
          --no-pager           Print long output without a pager
      -q, --quiet              Print results and errors only
          --local              Do it in this process, also where `nacre serve` runs
      -h, --help               Print help
      -V, --version            Print version

    `nacre COMMAND --help` says what a command takes, `nacre commands` lists all of them.
    ");
}

#[test]
fn the_version_is_one_line() {
    let home = TestHome::empty();
    // A debug build names no commit: it would be built anew after each.
    let version = format!("nacre {} (debug build; features: ", env!("CARGO_PKG_VERSION"));
    assert!(home.run(&["--version"]).starts_with(&version), "{}", home.run(&["--version"]));
    assert_eq!(home.run(&["--version"]), home.run(&["--version", "--quiet"]));
    assert_eq!(home.run(&["-V"]), home.run(&["--version"]));
}

#[test]
fn nonsense_ends_with_two() {
    let home = TestHome::empty();
    assert_snapshot!(home.run(&["memroy"]), @"
    Error: There is no command `nacre memroy`
    Hint: Did you mean `nacre memory` or `nacre retry`?
    [exit 2]
    ");
    assert_snapshot!(home.run(&["memory", "list", "--limit", "many"]), @"
    Error: `many` is not a value of `--limit <N>`
    Caused by: invalid digit found in string
    Hint: `nacre memory list --help` shows what it takes
    [exit 2]
    ");
    // The noun was left out.
    assert_snapshot!(home.run(&["search", "queue"]), @"
    Error: There is no command `nacre search`
    Hint: Did you mean `nacre memory search` or `nacre trace search`?
    [exit 2]
    ");
}

#[test]
fn completions_speak_every_shell() {
    let home = TestHome::empty();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(home.ok(&["completions", shell]).contains("memory"), "{shell}");
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(home.ok(&["completions", shell]).contains("nacre complete"), "{shell}");
    }
    let (_, value) = home.json(&["completions", "bash"]);
    assert_eq!(value["shell"], "bash");
}

#[test]
fn ids_are_completed() {
    let home = TestHome::new();
    let added = home.json(&["memory", "add", "Use SQLite"]).1;
    assert_eq!(home.run(&["complete", "20261115-use"]), "20261115-use-sqlite\n");
    let change = added["change"].as_str().unwrap();
    assert_eq!(home.run(&["complete", "memory-"]), format!("{change}\n"));
    assert!(home.run(&["complete", ""]).lines().count() >= 2);
    assert_eq!(TestHome::empty().run(&["complete", "x"]), "");
}

#[test]
fn colors_come_on_request_only() {
    let home = TestHome::new();
    home.add("Use SQLite", &[]);
    let colored = |home: &TestHome, args: &[&str]| home.ok(args).contains("\x1b[");
    assert!(!colored(&home, &["memory", "list"]));
    assert!(colored(&home, &["memory", "list", "--color", "always"]));
    home.ok(&["config", "set", "ui.color", "always"]);
    assert!(colored(&home, &["memory", "list"]));
    assert!(!colored(&home, &["memory", "list", "--color", "never"]));
}

#[test]
fn quiet_prints_results_only() {
    let home = TestHome::new();
    assert_eq!(home.run(&["memory", "add", "Use SQLite", "--quiet"]), "");
    assert_eq!(home.run(&["memory", "list", "--quiet"]).lines().count(), 1);
}

#[test]
fn a_mistake_in_json_is_one_object_too() {
    let home = TestHome::new();
    let (code, value) = home.json(&["memory", "bogus"]);
    assert_eq!((code, value["error"]["code"].as_str()), (2, Some("usage")));
}
