//! Tests for absolute paths, files of any size, and reading and searching stored output.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests play the person who makes links and files"
)]

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::tools::pipeline::support_tests::Bay;

#[tokio::test]
async fn an_absolute_path_is_taken_where_it_lies_in_the_workspace() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret.txt"), "secret words").unwrap();
    let mut bay = Bay::new();
    bay.write("src/a.rs", "fn a() {}\n");
    symlink(outside.path(), bay.path().join("out")).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    symlink(bay.path(), elsewhere.path().join("work")).unwrap();
    let root = bay.path().display().to_string();
    let linked = elsewhere.path().join("work").display().to_string();
    let at = |path: &str| json!({ "path": path });
    for (tool, arguments, expected) in [
        ("file_read", at(&format!("{root}/src/a.rs")), "src/a.rs: lines 1-1 of 1"),
        ("file_read", at(&format!("{root}//src/./a.rs")), "src/a.rs: lines 1-1 of 1"),
        ("file_read", at(&format!("{linked}/src/a.rs")), "src/a.rs: lines 1-1 of 1"),
        (
            "file_create",
            json!({ "path": format!("{linked}/new/b.rs"), "content": "x\n" }),
            "Wrote new/b.rs",
        ),
        (
            "file_search",
            json!({ "pattern": "fn a", "under": format!("{root}/src") }),
            "src/a.rs:1:",
        ),
        ("file_find", json!({ "pattern": "*.rs", "under": root.clone() }), "new/b.rs\nsrc/a.rs"),
        ("file_delete", at(&format!("{root}/new/b.rs")), "Deleted new/b.rs"),
        ("file_read", at(&format!("{root}/out/secret.txt")), "Error (wrong_kind)"),
        ("file_read", at(&format!("{linked}/out/secret.txt")), "Error (arguments)"),
        ("file_read", at(&format!("{root}/../x")), "Error (arguments)"),
        ("file_read", at(&format!("{linked}/../x")), "Error (arguments)"),
        ("file_read", at(&format!("{root}-other/x")), "Error (arguments)"),
        ("file_read", at("/etc/passwd"), "Error (arguments): `/etc/passwd` is outside"),
        ("file_create", json!({ "path": "/tmp/nacre-x", "content": "x" }), "Error (arguments)"),
    ] {
        let said = bay.call(tool, arguments.clone()).await;
        assert!(said.starts_with(expected), "{tool} {arguments}: {said}");
        assert!(!said.contains("secret words"), "{said}");
    }
}

fn many_lines(n_lines: usize) -> String {
    let mut text = String::new();
    for number in 1..=n_lines {
        let _ = writeln!(
            text,
            "line {number} of a log that has grown for a long time, again and again"
        );
    }
    text
}

#[tokio::test]
async fn a_file_of_any_size_is_read_on_and_searched() {
    let mut bay = Bay::new();
    let n_lines = 280_000;
    let log = many_lines(n_lines);
    assert!(17 << 20 < log.len());
    bay.write("big.log", &log);
    bay.write("small.log", "line 279999 of a small one\n");
    let read =
        |first: usize, n: usize| json!({ "path": "big.log", "first_line": first, "n_lines": n });
    let said = bay.call("file_read", read(279_999, 1)).await;
    let head = format!("big.log: lines 279999-279999 of {n_lines}; {} bytes, too large", log.len());
    assert!(said.starts_with(&head), "{said}");
    assert!(said.contains("279999\tline 279999 of a log"), "{said}");
    let said = bay.call("file_read", json!({ "path": "big.log" })).await;
    let next = said.lines().last().unwrap().trim_matches(|c: char| !c.is_ascii_digit()).to_owned();
    let next: usize = next.parse().unwrap();
    assert!(said.contains("\tline 1 of"), "{said}");
    let said = bay.call("file_read", read(next, 1)).await;
    assert!(said.contains(&format!("line {next} of")), "{said}");
    let everywhere = bay.call("file_search", json!({ "pattern": "line 279999 " })).await;
    assert!(everywhere.contains("small.log:1:"), "{everywhere}");
    let hint = "1 files larger than 4 MB were not searched; name one in `under`, such as `big.log`";
    assert!(everywhere.contains(hint), "{everywhere}");
    let there = json!({ "pattern": "line 279999 ", "under": "big.log" });
    let said = bay.call("file_search", there).await;
    assert!(said.starts_with("big.log:279999: line 279999 of"), "{said}");
    let counted = json!({ "pattern": "again", "under": "big.log", "show": "counts" });
    let said = bay.call("file_search", counted).await;
    assert_eq!(said, format!("big.log: {n_lines}\n"));
}

#[tokio::test]
async fn one_line_without_an_end_is_shown_in_part() {
    let mut bay = Bay::new();
    bay.write("one.json", &"x".repeat(17 << 20));
    let said = bay.call("file_read", json!({ "path": "one.json" })).await;
    let head = &said[..said.len().min(200)];
    assert!(said.starts_with("one.json: lines 1-1 of 1; 17825792 bytes"), "{head}");
    assert!(said.len() < 10_000 && said.contains("bytes of this line omitted"));
}

#[tokio::test]
async fn a_long_output_says_last_how_to_read_on_and_is_searched() {
    let mut bay = Bay::new();
    bay.write("a.txt", &many_lines(4_000));
    let said = bay.call("file_search", json!({ "pattern": "line", "max_results": 500 })).await;
    let last = said.lines().last().unwrap();
    assert!(last.starts_with("[Read on with file_read `spill:"), "{last}");
    let name = last.split('`').nth(1).unwrap().to_owned();
    let next: usize =
        last.split("from line ").nth(1).unwrap().split(',').next().unwrap().parse().unwrap();
    let before_gap = said.lines().position(|line| line.starts_with("[…")).unwrap();
    assert_eq!(next, before_gap + 1, "{last}");
    let read =
        bay.call("file_read", json!({ "path": name, "first_line": next, "n_lines": 1 })).await;
    assert!(read.contains(&format!("a.txt:{next}: line {next} of")), "{read}");
    let found = bay.call("file_search", json!({ "pattern": "line 321 ", "under": name })).await;
    assert!(found.starts_with(&format!("{name}:321: a.txt:321: line 321 of")), "{found}");
    for under in ["spill:../a.txt", "spill:none.txt", "spill:/etc/passwd"] {
        let said = bay.call("file_search", json!({ "pattern": "x", "under": under })).await;
        assert!(said.starts_with("Error ("), "{under}: {said}");
    }
    let gone = bay.call("file_read", json!({ "path": "spill:none.txt" })).await;
    assert!(gone.contains("is no longer stored. Repeat the call that produced it"), "{gone}");
}
