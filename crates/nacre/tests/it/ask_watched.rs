//! Tests `nacre ask` on a terminal.

use std::fs;

use serde_json::json;

use crate::home::TestHome;
use crate::pty::Terminal;

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
    let Some(shown) = Terminal::default().run(&home, &args) else { return };
    let expected = format!("The queue is a table [{id}].");
    assert_eq!(shown.matches(&expected).count(), 1, "{shown}");
    assert!(shown.contains("· memory_recall"), "{shown}");
    assert!(!shown.contains("made-up") && !shown.contains("Redis"), "{shown}");
    assert!(shown.contains("Left out 1 sentence: 1 cited an unknown source."), "{shown}");
}
