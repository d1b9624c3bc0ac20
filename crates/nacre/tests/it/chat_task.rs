//! Tests a whole task with a scripted model: it finds a failing test, fixes, formats and tests the
//! code with the project's own commands, and records a decision. The changes are then undone byte
//! for byte, and the next session recalls the decision.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::home::{TestHome, walk};

const CODE: &str = "#!/bin/sh\n# The share of each person of an amount, in cents.\necho $(($1 * 100 / ($2 - 1)))\n";

const TEST: &str = "#!/bin/sh\nshare=$(sh share.sh 10 2)\nif [ \"$share\" != 500 ]; then\n    \
                    echo \"FAILED: 10 for 2 people is $share, not 500\"\n    exit 1\nfi\necho '1 test passed'\n";

/// The project's own formatter, which removes trailing spaces.
const FORMAT: &str = "#!/bin/sh\nset -e\nfor file; do\n    text=$(sed 's/[[:space:]]*$//' \"$file\")\n    \
                      printf '%s\\n' \"$text\" > \"$file\"\n    echo \"formatted $file\"\ndone\n";

const DECISION: &str = "no, remember: always split amounts in cents as integers, never as floats";

/// Creates a project with a failing test. Its commands need only `sh`.
fn home() -> TestHome {
    let home = TestHome::new();
    let files = [
        ("share.sh", CODE),
        ("check.sh", TEST),
        ("tools/format.sh", FORMAT),
        ("AGENTS.md", "Test with `sh check.sh`. Format with `sh tools/format.sh FILE`.\n"),
        ("notes/empty.txt", ""),
        ("notes/crlf.txt", "one\r\ntwo\r\n"),
    ];
    for (path, text) in files {
        let full = home.work().join(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, text).unwrap();
    }
    fs::set_permissions(home.work().join("check.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    home
}

fn run(argv: &[&str]) -> Value {
    json!({ "name": "shell_run", "arguments": { "argv": argv } })
}

/// Writes the model's script. Each response lists messages that the model must have received by
/// then.
fn script(home: &TestHome) {
    let told = |parts: &[&str]| json!({ "last_contains": parts });
    let read = |path: &str| json!({ "name": "file_read", "arguments": { "path": path } });
    let mend = json!({ "name": "file_edit", "arguments": { "path": "share.sh", "edits": [
        { "find": "echo $(($1 * 100 / ($2 - 1)))\n", "replace": "echo $(($1 * 100 / $2))  \t\n\n\n" },
    ] } });
    let note = json!({ "name": "file_create", "arguments": { "path": "notes/mended.md", "content": "Mended.\n" } });
    let turns = json!([
        { "expect": { "system_contains": ["sh check.sh"], "last_contains": ["The test fails"] },
          "say": "I run the test first.", "calls": [run(&["sh", "check.sh"])] },
        { "expect": told(&["FAILED: 10 for 2 people is 1000", "exit code 1"]),
          "calls": [read("share.sh"), read("check.sh")] },
        { "expect": told(&["1 test passed"]), "say": "It divides by one too few.", "calls": [mend, note] },
        { "calls": [run(&["sh", "tools/format.sh", "share.sh"])] },
        { "expect": told(&["formatted share.sh"]), "calls": [run(&["sh", "check.sh"])] },
        { "expect": told(&["1 test passed", "exit code 0"]),
          "say": "It divided by one too few (share.sh:3); the test passes now." },
    ]);
    fs::write(home.root().join("script.json"), json!({ "turns": turns }).to_string()).unwrap();
}

/// Returns every file in the repository except Nacre's own: path, bytes and mode.
fn tree(home: &TestHome) -> BTreeMap<PathBuf, (Vec<u8>, u32)> {
    let root = home.work();
    let mut files = Vec::new();
    walk(&root, &mut files);
    let is_ours =
        |path: &Path| path.strip_prefix(&root).is_ok_and(|path| path.starts_with(".nacre"));
    files
        .into_iter()
        .filter(|path| !is_ours(path))
        .map(|path| {
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            let bytes = fs::read(&path).unwrap();
            (path, (bytes, mode))
        })
        .collect()
}

fn mend(home: &TestHome) -> Value {
    script(home);
    let words = format!("The test fails. Mend it. And {DECISION}.");
    let args = ["chat", "-p", &words, "--policy", "full", "--scripted", "../script.json"];
    let (exit, report) = home.json(&args);
    assert_eq!((exit, &report["signal"]), (0, &json!("done")), "{report}");
    assert_eq!(report["changed"], json!(["notes/mended.md", "share.sh"]), "{report}");
    report
}

#[test]
fn a_failing_test_is_mended_and_taken_back_to_the_byte() {
    let home = home();
    let before = tree(&home);
    mend(&home);
    let code = fs::read_to_string(home.work().join("share.sh")).unwrap();
    let formatted = CODE.replace("($2 - 1)", "$2");
    assert_eq!(code, formatted, "the project's formatter was run");
    assert_ne!(tree(&home), before);
    let (exit, undone) = home.json(&["chat", "--undo"]);
    assert_eq!(exit, 0, "{undone}");
    // Everything is restored except files that Git ignores: programs ran that could have changed
    // them, and they are not watched.
    let kept: Vec<&Value> = undone["kept"].as_array().unwrap().iter().collect();
    assert!(kept.iter().all(|kept| kept["path"] == "files that git ignores"), "{undone}");
    assert_eq!(tree(&home), before);
}

#[test]
fn what_was_decided_is_in_the_brief_of_the_next_session() {
    let home = home();
    mend(&home);
    // The session was written just now, but this clock makes it inactive.
    let home = home.with_var("NACRE_NOW", "2099-01-01T00:00:00Z");
    let synced = home.ok(&["sync"]);
    let (_, memories) = home.json(&["memory", "list"]);
    assert!(memories.to_string().contains("in cents as integers"), "{synced}\n{memories}");
    let brief = home.ok(&["brief"]);
    assert!(brief.contains("in cents as integers"), "{brief}");
    let turns =
        json!([{ "expect": { "system_contains": ["in cents as integers"] }, "say": "In cents." }]);
    fs::write(home.root().join("script.json"), json!({ "turns": turns }).to_string()).unwrap();
    let args = ["chat", "-p", "How do we split amounts?", "--scripted", "../script.json"];
    let (exit, report) = home.json(&args);
    assert_eq!((exit, &report["text"]), (0, &json!("In cents.")), "{report}");
}
