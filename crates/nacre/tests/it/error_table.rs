//! Tests invalid inputs, and their messages, hints and exit codes. Also generates `docs/errors.md`.

use std::fmt::Write as _;
use std::fs;

use crate::home::{TestHome, repository};

/// If set, the page is written instead of checked.
const WRITE: &str = "NACRE_WRITE_DOCS";

/// Arguments that the parser rejects.
const ARGUMENTS: &[&[&str]] = &[
    &["memroy"],
    &["search", "queue"],
    &["forget", "it"],
    &["servr"],
    &["memory", "bogus"],
    &["config", "gte"],
    &["memory"],
    &["memory", "list", "--limit", "many"],
    &["memory", "list", "--tga", "x"],
    &["memory", "list", "--type", "lesson"],
    &["memory", "list", "--type"],
    &["memory", "list", "--archived", "--status", "stale"],
    &["memory", "list", "--color", "sometimes"],
    &["memory", "list", "--scope", "everywhere"],
    &["memory", "add"],
    &["memory", "add", "One", "Two"],
    &["memory", "add", "One", "--confidence", "sure"],
    &["memory", "show"],
    &["sync", "--agent", "vim"],
    &["sync", "--since", "7d", "--window", "7d"],
    &["sync", "--mode", "warm"],
    &["ask"],
    &["feedback"],
    &["trace", "show"],
    &["queue", "--status", "lost"],
    &["brief", "--budget", "some"],
    &["explore", "--detail", "all"],
    &["completions", "tcsh"],
    &["delta", "--since", "last:week"],
    &["connect", "vim"],
    &["model", "test", "--role", "chef"],
];

/// Commands that fail in a repository without a store.
const WITHOUT_A_STORE: &[&[&str]] = &[
    &["memory", "list"],
    &["memory", "add", "Use SQLite"],
    &["report"],
    &["review"],
    &["doctor"],
    &["--project", "nowhere", "memory", "list"],
    &["--project", "..", "memory", "list"],
];

/// Commands that fail in a repository with two memories, `20261115-use-sqlite` and
/// `20261115-use-small-commits`.
const WITH_A_STORE: &[&[&str]] = &[
    &["memory", "show", "nothing"],
    &["memory", "show", "20261115-use"],
    &["memory", "archive", "nothing"],
    &["memory", "restore", "20261115-use-sqlite"],
    &["memory", "related", "nothing"],
    &["memory", "add", ""],
    &["memory", "add", "One", "--confidence", "2"],
    &["memory", "add", "One", "--supersedes", "nothing"],
    &["memory", "search", "queue", "--since", "soon"],
    &["review", "accept", "20261115-use-sqlite"],
    &["review", "accept", "one", "two", "--supersedes", "three"],
    &["feedback", "nothing", "useful"],
    &["runs", "nothing"],
    &["undo", "nothing"],
    &["report", "--since", "soon"],
    &["report", "--html", "notes.txt"],
    &["report", "--html", "."],
    &["report", "--html", "nowhere/report.html"],
    &["sync", "--since", "soon"],
    &["sync", "--trace", "gone.jsonl"],
    &["trace", "show", "nothing"],
    &["trace", "search", "queue", "--since", "soon"],
    &["trace", "import", "gone.jsonl"],
    &["queue", "--retry", "nothing"],
    &["events", "nothing"],
    &["config", "set", "memory.max_result", "5"],
    &["config", "set", "memory.max_results", "many"],
    &["config", "set", "memory.max_results", "0"],
    &["config", "nothing"],
    &["project", "remove", "nothing"],
    &["project", "add", "nowhere"],
    &["skill", "nothing"],
    &["model", "test"],
    &["import", "nothing.md"],
    &["export", "--file", "../outside.md"],
    &["trust", "nothing"],
    &["context"],
    &["context", "--task", ""],
    &["search-code", ""],
    &["search-code", "--regex", "("],
    &["context", "--file", "gone.rs"],
    &["connect", "auto", "claude"],
    &["connect", "remove"],
    &["connect", "claude", "codex", "--path", "."],
    &["connect", "claude"],
];

const HEAD: &str = "# What does an error look like?

Every error states what failed, why, and what to type. With `--json`, it is an object with a `code`.
The exit code is 0 on success, 1 on failure, 2 for a usage error, 3 if only a part was done, and 4
if another process is writing. This page is generated from the program by `make docs`, and a test
checks that it is up to date.
";

fn with_a_store() -> TestHome {
    let home = TestHome::new();
    home.add("Use SQLite", &[]);
    home.add("Use small commits", &[]);
    fs::write(home.work().join("notes.txt"), "my notes\n").unwrap();
    fs::create_dir_all(home.root().join(".claude")).unwrap();
    home
}

/// Quotes a word as typed in a shell.
fn typed(word: &&str) -> String {
    if word.is_empty() || word.contains(' ') { format!("\"{word}\"") } else { (*word).to_owned() }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// Returns an input's table row. If parts of its error are missing, they are added to `faults`.
fn row(home: &TestHome, args: &[&str], faults: &mut Vec<String>) -> String {
    let words: Vec<String> = args.iter().map(typed).collect();
    let input = format!("nacre {}", words.join(" "));
    let (code, value) = home.json(args);
    let error = &value["error"];
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let texts = |key: &str| -> Vec<String> {
        error[key].as_array().into_iter().flatten().map(text).collect()
    };
    let (message, hints) = (text(&error["message"]), texts("hints"));
    let mut fault = |is_so: bool, what: &str| {
        if is_so {
            faults.push(format!("{input}: {what}: {value}"));
        }
    };
    fault(message.is_empty(), "no error");
    fault(hints.is_empty(), "no hint");
    fault(message.ends_with('.'), "a message is no sentence with a full stop");
    fault(message.starts_with(char::is_lowercase), "a message starts with a capital");
    fault(!(1..=4).contains(&code), "not an exit code of ours");
    let because = texts("causes").iter().fold(message, |said, cause| format!("{said}: {cause}"));
    let (because, hints) = (cell(&because), cell(&hints.join("<br>")));
    format!("| `{}` | {because} | {hints} | {code} |\n", cell(&input))
}

#[test]
fn every_wrong_input_has_a_message_a_hint_and_a_code() {
    let (empty, filled) = (TestHome::empty(), with_a_store());
    let (mut page, mut faults, mut n_rows) = (HEAD.to_owned(), Vec::new(), 0);
    for (title, home, inputs) in [
        ("Arguments", &empty, ARGUMENTS),
        ("Without a store", &empty, WITHOUT_A_STORE),
        ("With a store", &filled, WITH_A_STORE),
    ] {
        let _ =
            write!(page, "\n## {title}\n\n| input | message | hint | exit |\n|---|---|---|---|\n");
        for args in inputs {
            page.push_str(&row(home, args, &mut faults));
            n_rows += 1;
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(n_rows >= 60, "{n_rows}");
    let file = repository().join("docs/errors.md");
    if std::env::var_os(WRITE).is_some() {
        fs::write(&file, &page).unwrap();
    }
    let stored = fs::read_to_string(&file).unwrap_or_default();
    assert!(page == stored, "docs/errors.md is out of date; run `make docs`");
}

#[test]
fn the_parser_speaks_as_everything_else_does() {
    let home = TestHome::empty();
    for args in ARGUMENTS.iter().filter(|args| **args != ["memory"]) {
        let shown = home.run(args);
        assert!(shown.starts_with("Error: ") && shown.ends_with("[exit 2]\n"), "{args:?}: {shown}");
        assert!(shown.contains("\nHint: "), "{args:?}: {shown}");
        assert!(!shown.contains("For more information"), "{args:?}: {shown}");
    }
}
