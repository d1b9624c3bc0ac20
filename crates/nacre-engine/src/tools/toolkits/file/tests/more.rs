//! Edits everywhere and by insertion, reads that can be continued, and the ways to show what a search found.

use serde_json::{Value, json};

use super::super::super::super::pipeline::testing::Bay;

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

async fn version(bay: &mut Bay) -> String {
    let text = bay.call("file_read", json!({ "path": "a.txt" })).await;
    text.lines().next().unwrap().rsplit(' ').next().unwrap().to_owned()
}

#[tokio::test]
async fn lines_are_inserted_behind_a_line_and_before_the_first() {
    for (before, after_line, insert, after) in [
        ("a\nb\n", 0, "x", "x\na\nb\n"),
        ("a\nb\n", 1, "x\ny", "a\nx\ny\nb\n"),
        ("a\nb\n", 2, "x\n", "a\nb\nx\n"),
        ("a\nb", 2, "x", "a\nb\nx"),
        ("a\r\nb\r\n", 1, "x", "a\r\nx\r\nb\r\n"),
        ("", 0, "x\n", "x\n"),
    ] {
        let mut bay = Bay::new();
        bay.write("a.txt", before);
        let version = version(&mut bay).await;
        let edits = json!([{ "after_line": after_line, "insert": insert }]);
        let text = bay
            .call("file_edit", json!({ "path": "a.txt", "edits": edits, "version": version }))
            .await;
        assert_eq!(bay.read("a.txt"), after, "{before:?} {after_line}: {text}");
    }
    let mut bay = Bay::new();
    bay.write("a.txt", "a\n");
    let beyond = json!([{ "after_line": 7, "insert": "x" }]);
    let version = version(&mut bay).await;
    let text = bay
        .call("file_edit", json!({ "path": "a.txt", "edits": beyond, "version": version }))
        .await;
    assert!(text.contains("has no line 7"), "{text}");
}

#[tokio::test]
async fn what_is_wrong_with_an_edit_is_named_by_its_field() {
    let mut bay = Bay::new();
    bay.write("a.txt", "a\n");
    let mut shown = String::new();
    for edits in [
        json!([{ "find": "a" }]),
        json!([{ "find": "a", "replace": "b" }, { "first_line": 1, "replace": "b" }]),
        json!([{ "replace": "b" }]),
        json!([{ "after_line": 1 }]),
        json!([{ "insert": "x" }]),
        json!([{ "find": "a", "replace": "b", "first_line": 1, "last_line": 1 }]),
        json!([{ "first_line": 1, "last_line": 1, "replace": "b", "replace_all": true }]),
        json!([{ "find": "a", "replace": "b", "replaceAll": true }]),
    ] {
        let text = bay.call("file_edit", edit(edits)).await;
        let end = text.find(". Give").or_else(|| text.find(". Call")).unwrap_or(text.len());
        shown += &text[..end];
        shown.push('\n');
    }
    insta::assert_snapshot!(shown, @r#"
    Error (arguments): `edits[0]` has no `replace`
    Error (arguments): `edits[1]` has no `last_line`
    Error (arguments): `edits[0]` has no `find`
    Error (arguments): `edits[0]` has no `insert`
    Error (arguments): `edits[0]` has no `after_line`
    Error (arguments): `edits[0]` says more than one thing
    Error (arguments): `edits[0].replace_all` needs `find`
    Error (arguments): The arguments do not fit: at /edits/0/replaceAll: is not a known key
    "#);
    assert_eq!(bay.read("a.txt"), "a\n");
}

#[tokio::test]
async fn a_long_read_ends_where_the_next_one_can_begin() {
    let mut bay = Bay::new();
    let long: String = (1..=3000).map(|n| format!("line {n} {}\n", "x".repeat(60))).collect();
    bay.write("long.txt", &long);
    let (mut first, mut n_reads, mut seen) = (1, 0, 0);
    loop {
        let text = bay.call("file_read", json!({ "path": "long.txt", "first_line": first })).await;
        assert!(!text.contains("left out"), "no hole in the middle");
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
    assert!(text.contains("192000 bytes of this line are left out") && text.ends_with("\tend\n"));
}

#[tokio::test]
async fn a_search_shows_lines_groups_files_or_counts() {
    let mut bay = Bay::new();
    bay.write("src/a.rs", "use x;\nfn x() {}\n");
    bay.write("src/b.rs", "x();\n");
    bay.write("docs/a.md", "x\n");
    let mut shown = String::new();
    for more in [
        json!({ "show": "grouped" }),
        json!({ "show": "files" }),
        json!({ "show": "counts", "files": "*.rs" }),
        json!({ "show": "files", "files": "!*.rs" }),
        json!({ "exclude": ["docs/**", "b.rs"], "max_results": 100_000, "context": 99 }),
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
    > {"show":"grouped"}
    docs/a.md
      1: x
    src/a.rs
      1: use x;
      2: fn x() {}
    src/b.rs
      1: x();
    > {"show":"files"}
    docs/a.md
    src/a.rs
    src/b.rs
    > {"files":"*.rs","show":"counts"}
    src/a.rs: 2
    src/b.rs: 1
    > {"files":"!*.rs","show":"files"}
    docs/a.md
    > {"context":99,"exclude":["docs/**","b.rs"],"max_results":100000}
    src/a.rs:1: use x;
    src/a.rs-2- fn x() {}
    src/a.rs-3-
    > {"max_results":1,"show":"files"}
    docs/a.md
    [There are more matches; narrow the search.]
    > {"pattern":"a\\nb"}
    Error (arguments): The expression spans lines, and lines are matched one by one. Look for one of the lines, with `context`.
    "#);
}

#[tokio::test]
async fn a_name_that_is_not_found_is_answered_with_those_that_are_like_it() {
    let mut bay = Bay::new();
    for path in ["src/parser.rs", "src/printer.rs", "src/main.rs"] {
        bay.write(path, "x");
    }
    for (pattern, expected) in [
        ("src/parsr.rs", "Files with a similar name: src/parser.rs."),
        ("lib/parser_main.rs", "Files with a similar name: src/main.rs, src/parser.rs."),
        ("*.toml", "(3 files looked at)."),
    ] {
        let text = bay.call("file_find", json!({ "pattern": pattern })).await;
        assert!(text.ends_with(expected), "{pattern}: {text}");
    }
}
