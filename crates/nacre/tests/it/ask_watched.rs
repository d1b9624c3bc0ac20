//! `nacre ask` on a terminal: what a person sees while a model speaks.

use std::fs;
use std::process::Command;

use serde_json::json;

use crate::home::{NOW, TestHome};

/// Runs a program with a terminal for its output, and prints all that it wrote.
const ON_A_TERMINAL: &str = "import os, pty, sys
status = pty.spawn(sys.argv[1:], stdin_read=lambda fd: b'')
sys.exit(os.waitstatus_to_exitcode(status))
";

/// `None` where there is no Python to make a terminal with.
fn on_a_terminal(home: &TestHome, args: &[&str]) -> Option<String> {
    let mut command = Command::new("python3");
    command.args(["-c", ON_A_TERMINAL, env!("CARGO_BIN_EXE_nacre")]).args(args);
    command.current_dir(home.work()).env_clear();
    command.env("HOME", home.root()).env("NACRE_NOW", NOW).env("NO_COLOR", "1");
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    let output = command.stdin(std::process::Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n");
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    Some(text)
}

#[test]
fn a_terminal_sees_sentences_that_hold_once_each_and_no_others() {
    let home = TestHome::new();
    let id = home.add("The queue is a SQLite table", &["--body", "One file."]);
    let script = json!({ "turns": [
        {
            "say": format!("Let me look up 20260101-made-up. The queue is a table [{id}]."),
            "calls": [{ "name": "memory_recall", "arguments": { "question": "20260101-made-up" } }],
        },
        { "say": format!("The queue is a table [{id}]. It is in Redis [20260101-made-up]. It is one file [{id}].") },
    ] });
    fs::write(home.root().join("script.json"), script.to_string()).unwrap();
    let args = ["ask", "--scripted", "../script.json", "Where is the queue kept?"];
    let Some(shown) = on_a_terminal(&home, &args) else { return };
    let expected = format!("The queue is a table [{id}]. It is one file [{id}].");
    assert_eq!(shown.matches("The queue is a table").count(), 1, "{shown}");
    assert!(
        shown.contains("· memory_recall") && shown.contains(&expected[expected.len() - 40..]),
        "{shown}"
    );
    assert!(!shown.contains("made-up") && !shown.contains("Redis"), "{shown}");
    assert!(
        shown.contains("1 sentence was left out: 1 named a source that was not found."),
        "{shown}"
    );
}
