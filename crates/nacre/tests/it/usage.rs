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
      feedback     Say how a memory served

    Know the code:
      explore      Tell what a project is: where it starts, what it rests on, what it offers
      context      Collect the code that a task needs, within a budget of tokens
      delta        Tell which files and symbols changed, and who is affected
      run          Let an agent find something out in this repository

    Keep going:
      maintain     Keep memories few and true
      report       Tell what was learned, merged, put away and used
      runs         List what each sync and maintenance did, and why
      undo         Put back what a run changed, byte for byte
      queue        Show the queue of sessions
      events       Show what tasks did, event by event

    Set up:
      connect      Connect agents: their sessions, and Nacre's tools, hooks and skill
      project      Manage the projects that Nacre knows
      model        Show and try models
      config       Show and change settings

    Options:
          --json               Print one JSON object instead of text
          --project <PROJECT>  Work on this project, by name or path, not on the one around this folder
          --color <WHEN>       When to use colors [possible values: auto, always, never]
      -q, --quiet              Print results and errors only
      -h, --help               Print help
      -V, --version            Print version

    `nacre COMMAND --help` says what a command takes, `nacre commands` lists all of them.
    ");
}

#[test]
fn the_version_is_one_line() {
    let home = TestHome::empty();
    assert_eq!(home.run(&["--version"]), format!("nacre {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(home.run(&["-V"]), home.run(&["--version"]));
}

#[test]
fn nonsense_ends_with_two() {
    let home = TestHome::empty();
    assert_snapshot!(home.run(&["memroy"]), @"
    error: unrecognized subcommand 'memroy'

      tip: some similar subcommands exist: 'retry', 'memory'

    Usage: nacre [OPTIONS] <COMMAND>

    For more information, try '--help'.
    [exit 2]
    ");
    assert_snapshot!(home.run(&["memory", "list", "--limit", "many"]), @"
    error: invalid value 'many' for '--limit <N>': invalid digit found in string

    For more information, try '--help'.
    [exit 2]
    ");
}

#[test]
fn completions_speak_every_shell() {
    let home = TestHome::empty();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(home.ok(&["completions", shell]).contains("memory"), "{shell}");
    }
    let (_, value) = home.json(&["completions", "bash"]);
    assert_eq!(value["shell"], "bash");
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
