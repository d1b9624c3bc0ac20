//! Tests help, version, completions, and invalid input.

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
      status       Show this project's memories, sessions and pending work
      doctor       Check all files in the store and report problems

    Remember and recall:
      sync         Read new and changed sessions and extract memories
      ask          Ask a question and get an answer with citations
      brief        Print the briefing an agent gets at the start of a session
      review       Accept or reject candidates
      memory       Add, find, read and change memories
      trace        List your agents' sessions, latest first; show and search them

    Know the code:
      explore      Print an overview of the code: entry points, central files, public symbols
      context      Collect the code that a task needs, within a token budget
      search-code  Search the code by words, literal text or a regular expression
      delta        Show which files and symbols changed, and which files are affected
      chat         Talk to Nacre's own agent in this repository

    Keep going:
      up           Run the server in the background: sync, maintenance, indexes and dashboard
      dashboard    Open the dashboard in a browser
      maintain     Merge duplicates, resolve contradictions, archive stale memories
      report       Report what was learned, merged, archived and used
      undo         Undo what a command changed, byte for byte

    Set up:
      connect      Connect agents: read their sessions, and add Nacre's tools, hooks and skill
      project      List, add or remove registered projects
      model        List the configured models, their providers, and the search models
      config       Show every setting with its value and source; change settings

    Options:
          --json               Print one JSON object instead of text
          --project <PROJECT>  Use this project, by name or path, instead of the current directory's
          --color <WHEN>       When to use colors [possible values: auto, always, never]
          --no-pager           Print long output without a pager
      -q, --quiet              Print results and errors only
          --local              Don't use the running server
      -h, --help               Print help
      -V, --version            Print version

    `nacre COMMAND --help` describes a command; `nacre commands` lists all commands.
    ");
}

#[test]
fn the_version_is_one_line() {
    let home = TestHome::empty();
    // Debug builds leave out the commit, because they would have to be rebuilt after every commit.
    let version = format!("nacre {} (debug build; features: ", env!("CARGO_PKG_VERSION"));
    assert!(home.run(&["--version"]).starts_with(&version), "{}", home.run(&["--version"]));
    assert_eq!(home.run(&["--version"]), home.run(&["--version", "--quiet"]));
    assert_eq!(home.run(&["-V"]), home.run(&["--version"]));
}

#[test]
fn nonsense_ends_with_two() {
    let home = TestHome::empty();
    assert_snapshot!(home.run(&["memroy"]), @"
    Error: Unknown command `nacre memroy`
    Hint: Did you mean `nacre memory`?
    [exit 2]
    ");
    // `mend` has only a few letters in common with any command.
    assert_snapshot!(home.run(&["mend"]), @"
    Error: Unknown command `nacre mend`
    Hint: `nacre commands` lists all commands
    [exit 2]
    ");
    assert_snapshot!(home.run(&["memory", "list", "--limit", "many"]), @"
    Error: Invalid value `many` for `--limit <N>`
    Caused by: expected a whole number
    Hint: See `nacre memory list --help`
    [exit 2]
    ");
    assert_snapshot!(home.run(&["remember", "use tabs"]), @"
    Error: Unknown command `nacre remember`
    Hint: Did you mean `nacre memory add`?
    [exit 2]
    ");
    assert_snapshot!(home.run(&["memory", "explore"]), @"
    Error: Unknown command `nacre memory explore`
    Hint: Did you mean `nacre explore`?
    [exit 2]
    ");
    // The command should have been `memory search`.
    assert_snapshot!(home.run(&["search", "queue"]), @"
    Error: Unknown command `nacre search`
    Hint: Did you mean `nacre memory search` or `nacre trace search`?
    [exit 2]
    ");
}

#[test]
fn commands_are_listed_as_json() {
    let (_, value) = TestHome::empty().json(&["commands"]);
    assert_eq!(value["commands"][0]["name"], "init");
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
