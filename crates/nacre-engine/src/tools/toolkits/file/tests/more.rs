//! Tests for multiple and inserting edits, continued reads, and the display modes of searches.

use serde_json::{Value, json};

use crate::tools::pipeline::support_tests::Bay;

#[expect(clippy::needless_pass_by_value, reason = "a literal of the test")]
fn edit(edits: Value) -> Value {
    json!({ "path": "a.txt", "edits": edits })
}

#[tokio::test]
async fn every_place_is_replaced_when_that_is_asked_for() {
    let mut bay = Bay::new();
    bay.write("a.txt", "one two one\nthree one\n");
    let twice = edit(json!([{ "find": "one", "replace": "1" }]));
    let text = bay.call("file_edit", twice).await;
    assert!(text.contains("or set `replace_all`"), "{text}");
    let all = edit(json!([
        { "find": "one", "replace": "1", "replace_all": true },
        { "find": "three", "replace": "3" },
    ]));
    let text = bay.call("file_edit", all).await;
    assert!(text.starts_with("Edited a.txt"), "{text}");
    assert_eq!(bay.read("a.txt"), "1 two 1\n3 1\n");
    let none = edit(json!([{ "find": "four", "replace": "4", "replace_all": true }]));
    assert!(bay.call("file_edit", none).await.starts_with("Error (no_match)"));
}

#[tokio::test]
async fn a_long_read_ends_where_the_next_one_can_begin() {
    let mut bay = Bay::new();
    let long: String = (1..=3000).map(|n| format!("line {n} {}\n", "x".repeat(60))).collect();
    bay.write("long.txt", &long);
    let (mut first, mut n_reads, mut seen) = (1, 0, 0);
    loop {
        let text = bay.call("file_read", json!({ "path": "long.txt", "first_line": first })).await;
        assert!(!text.contains("omitted"), "no hole in the middle");
        n_reads += 1;
        let lines: Vec<&str> = text.lines().filter(|line| line.contains("\tline ")).collect();
        seen += lines.len();
        let last = text.lines().last().unwrap();
        match last.strip_prefix("[Continue at line ").and_then(|rest| rest.strip_suffix(".]")) {
            Some(next) => first = next.parse().unwrap(),
            None if seen < 3000 => first = seen + 1,
            None => break,
        }
        assert_eq!(first, seen + 1, "{last}");
    }
    assert_eq!(seen, 3000);
    assert!(n_reads > 3, "{n_reads}");
    bay.write("wide.txt", &format!("{}\nend\n", "y".repeat(200_000)));
    let text = bay.call("file_read", json!({ "path": "wide.txt" })).await;
    assert!(text.contains("192000 bytes of this line omitted") && text.ends_with("\tend\n"));
}

#[tokio::test]
async fn a_search_shows_lines_files_or_counts() {
    let mut bay = Bay::new();
    bay.write("src/a.rs", "use x;\nfn x() {}\n");
    bay.write("src/b.rs", "x();\n");
    bay.write("docs/a.md", "x\n");
    let mut shown = String::new();
    for more in [
        json!({ "show": "files" }),
        json!({ "show": "counts", "files": "*.rs" }),
        json!({ "show": "files", "files": "!*.rs" }),
        json!({ "files": "a.rs", "max_results": 100_000, "context": 99 }),
        json!({ "show": "files", "max_results": 1 }),
        json!({ "pattern": "a\\nb" }),
    ] {
        let mut arguments = json!({ "pattern": "x" });
        for (name, value) in more.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        let text = bay.call("file_search", arguments).await;
        shown += &format!("> {more}\n{}\n", text.trim_end());
    }
    insta::assert_snapshot!(shown, @r#"
    > {"show":"files"}
    docs/a.md
    src/a.rs
    src/b.rs
    > {"files":"*.rs","show":"counts"}
    src/a.rs: 2
    src/b.rs: 1
    > {"files":"!*.rs","show":"files"}
    docs/a.md
    > {"context":99,"files":"a.rs","max_results":100000}
    src/a.rs:1: use x;
    src/a.rs-2- fn x() {}
    src/a.rs-3-
    > {"max_results":1,"show":"files"}
    docs/a.md
    [There are more matches; narrow the search.]
    > {"pattern":"a\\nb"}
    Error (arguments): The expression spans lines, but lines are matched one by one. Search for one of the lines, with `context`.
    "#);
}
