//! Tests for the file tools, called through the pipeline.

#![expect(clippy::disallowed_methods, reason = "the tests play the person at the keyboard")]

mod large;
mod more;

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::tools::pipeline::support_tests::Bay;

async fn all(bay: &mut Bay, tool: &str, calls: impl IntoIterator<Item = Value>) -> String {
    let mut shown = String::new();
    for arguments in calls {
        shown +=
            &format!("> {arguments}\n{}\n", bay.call(tool, arguments.clone()).await.trim_end());
    }
    shown
}

#[tokio::test]
async fn files_are_read_whole_or_by_lines() {
    let mut bay = Bay::new();
    bay.write("a.txt", "one\ntwo\nthree\n");
    bay.write("empty.txt", "");
    bay.write("image.png", "\u{0}PNG");
    fs::create_dir(bay.path().join("folder")).unwrap();
    let shown = all(
        &mut bay,
        "file_read",
        [
            json!({ "path": "a.txt" }),
            json!({ "path": "./a.txt", "first_line": 2, "n_lines": 1 }),
            json!({ "path": "a.txt", "first_line": 9 }),
            json!({ "path": "empty.txt" }),
            json!({ "path": "image.png" }),
            json!({ "path": "folder" }),
            json!({ "path": "missing.txt" }),
        ],
    )
    .await;
    insta::assert_snapshot!(shown, @r#"
    > {"path":"a.txt"}
    a.txt: lines 1-3 of 3, version 10e1a16f0805
        1	one
        2	two
        3	three
    > {"first_line":2,"n_lines":1,"path":"./a.txt"}
    a.txt: lines 2-2 of 3, version 10e1a16f0805
        2	two
    > {"first_line":9,"path":"a.txt"}
    Error (arguments): `a.txt` has only 3 lines. Request an existing line range.
    > {"path":"empty.txt"}
    empty.txt: lines 1-0 of 0, version af1349b9f5f9
    > {"path":"image.png"}
    Error (wrong_kind): `image.png` is not a text file. Only text files can be read and edited.
    > {"path":"folder"}
    Error (wrong_kind): `folder` is not a regular file. Links and directories cannot be opened; list a directory with `file_find`.
    > {"path":"missing.txt"}
    Error (not_found): `missing.txt` not found. Search for it with `file_find`.
    "#);
}

#[tokio::test]
async fn a_folder_with_more_rules_than_are_read_is_not_shown_and_this_is_said() {
    let many: String = (1..5_000).map(|number| format!("made-{number}\n")).collect();
    let mut bay = Bay::new();
    for number in 0..8 {
        bay.write(&format!("f{number}/.gitignore"), &format!("{many}private.txt\n"));
        bay.write(&format!("f{number}/private.txt"), "x");
        bay.write(&format!("f{number}/code.rs"), "x");
    }
    bay.write("one/.gitignore", &format!("{many}more\nprivate.txt\n"));
    bay.write("one/private.txt", "x");
    let shown = all(&mut bay, "file_find", [json!({ "pattern": "[cp]*.*" })]).await;
    insta::assert_snapshot!(shown, @r#"
    > {"pattern":"[cp]*.*"}
    f0/code.rs
    f1/code.rs
    f2/code.rs
    f3/code.rs
    f4/code.rs
    f5/code.rs
    [6 paths; there are more files than one search covers]
    "#);
}

#[tokio::test]
async fn files_are_found_by_glob_or_part_and_ignored_ones_are_not() {
    let mut bay = Bay::new();
    for path in ["src/main.rs", "src/deep/lib.rs", "README.md", "build/out.rs", ".github/ci.yml"] {
        bay.write(path, "x");
    }
    bay.write("node_modules/a/index.js", "x");
    bay.write(".gitignore", "build/\n*.log\n!keep.log\n");
    bay.write("a.log", "x");
    bay.write("src/keep.log", "x");
    bay.write(".env", "KEY=1");
    let shown = all(
        &mut bay,
        "file_find",
        [
            json!({ "pattern": "*.rs" }),
            json!({ "pattern": "src/*.rs" }),
            json!({ "pattern": "**/*" }),
            json!({ "pattern": "MAIN" }),
            json!({ "pattern": "*", "under": "src", "max_results": 1 }),
            json!({ "pattern": "*.py" }),
            json!({ "pattern": "[" }),
            json!({ "pattern": "*", "under": "missing" }),
        ],
    )
    .await;
    insta::assert_snapshot!(shown, @r#"
    > {"pattern":"*.rs"}
    src/deep/lib.rs
    src/main.rs
    > {"pattern":"src/*.rs"}
    src/main.rs
    > {"pattern":"**/*"}
    .github/ci.yml
    .gitignore
    README.md
    src/deep/lib.rs
    src/keep.log
    src/main.rs
    > {"pattern":"MAIN"}
    src/main.rs
    > {"max_results":1,"pattern":"*","under":"src"}
    src/deep/lib.rs
    [1 of 3 paths; specify a directory or a longer pattern]
    > {"pattern":"*.py"}
    No file matches `*.py` (6 files checked).
    > {"pattern":"["}
    Error (arguments): `[` is not a valid glob: unclosed character class; missing ']'. Write one such as `src/**/*.rs`.
    > {"pattern":"*","under":"missing"}
    Error (not_found): `missing` not found. Search for it with `file_find`.
    "#);
}

#[tokio::test]
async fn lines_are_searched_within_bounds() {
    let mut bay = Bay::new();
    bay.write("a.rs", "fn one() {}\nfn two() {}\n\nfn three() {}\n");
    bay.write("b.txt", "fn four\r\nFN FIVE\r\n");
    bay.write("c.bin", "fn\u{0}");
    bay.write("long.txt", &format!("{}needle", "x".repeat(5_000)));
    let shown = all(
        &mut bay,
        "file_search",
        [
            json!({ "pattern": "^fn t" }),
            json!({ "pattern": "fn two", "context": 1 }),
            json!({ "pattern": "fn f", "ignore_case": true, "files": "*.txt" }),
            json!({ "pattern": "()", "literal": true, "max_results": 1 }),
            json!({ "pattern": "nothing like it" }),
            json!({ "pattern": "(" }),
            json!({ "pattern": "((a{100}){100}){100}" }),
            json!({ "pattern": "needle" }),
            json!({ "pattern": "fn", "under": "b.txt" }),
        ],
    )
    .await;
    insta::assert_snapshot!(shown, @r#"
    > {"pattern":"^fn t"}
    a.rs:2: fn two() {}
    a.rs:4: fn three() {}
    [In 1 lines, only the first 4096 bytes were searched.]
    [1 binary files were not searched.]
    > {"context":1,"pattern":"fn two"}
    a.rs-1- fn one() {}
    a.rs:2: fn two() {}
    a.rs-3- 
    [In 1 lines, only the first 4096 bytes were searched.]
    [1 binary files were not searched.]
    > {"files":"*.txt","ignore_case":true,"pattern":"fn f"}
    b.txt:1: fn four
    b.txt:2: FN FIVE
    [In 1 lines, only the first 4096 bytes were searched.]
    > {"literal":true,"max_results":1,"pattern":"()"}
    a.rs:1: fn one() {}
    [There are more matches; narrow the search.]
    > {"pattern":"nothing like it"}
    No line matches `nothing like it` (3 files searched).
    [In 1 lines, only the first 4096 bytes were searched.]
    [1 binary files were not searched.]
    > {"pattern":"("}
    Error (arguments): The expression is invalid: regex parse error:
        (
        ^
    error: unclosed group. Write a simpler expression, or set `literal` to search for the text itself.
    > {"pattern":"((a{100}){100}){100}"}
    Error (arguments): The expression is too large. Write a simpler expression, or set `literal` to search for the text itself.
    > {"pattern":"needle"}
    No line matches `needle` (3 files searched).
    [In 1 lines, only the first 4096 bytes were searched.]
    [1 binary files were not searched.]
    > {"pattern":"fn","under":"b.txt"}
    b.txt:1: fn four
    "#);
}

#[tokio::test]
async fn an_edit_is_exact_or_refused() {
    let mut bay = Bay::new();
    let text = "fn a() {\n    one();\n    two();\n}\nfn b() {\n    one();\n}\n";
    bay.write("a.rs", text);
    let edit = |edits: Value| json!({ "path": "a.rs", "edits": edits });
    let refused = all(
        &mut bay,
        "file_edit",
        [
            edit(json!([{ "find": "three();", "replace": "" }])),
            edit(json!([{ "find": "one();", "replace": "x" }])),
            edit(json!([{ "find": "  two();", "replace": "  two();" }])),
            edit(json!([{ "find": "one();\n   two();", "replace": "x" }])),
            edit(json!([{ "find": "two();", "replace": "x" }, { "find": "  two", "replace": "y" }])),
            edit(json!([])),
            json!({ "path": "a.rs", "edits": [{ "find": "two", "replace": "x" }], "version": "older" }),
        ],
    )
    .await;
    assert_eq!(bay.read("a.rs"), text, "nothing was changed");
    insta::assert_snapshot!(refused, @r#"
    > {"edits":[{"find":"three();","replace":""}],"path":"a.rs"}
    Error (no_match): The text does not occur in `a.rs`. Read the file again; the text must match exactly.
    > {"edits":[{"find":"one();","replace":"x"}],"path":"a.rs"}
    Error (many_matches): The text occurs more than once in `a.rs`: lines 2, 6. Add lines around it until it occurs once, or set `replace_all`.
    > {"edits":[{"find":"  two();","replace":"  two();"}],"path":"a.rs"}
    Error (arguments): The edits do not change `a.rs`. Describe a change.
    > {"edits":[{"find":"one();\n   two();","replace":"x"}],"path":"a.rs"}
    Error (no_match): The text does not occur in `a.rs`. Its first line matches line 2; compare the lines after it and the white space.
    > {"edits":[{"find":"two();","replace":"x"},{"find":"  two","replace":"y"}],"path":"a.rs"}
    Error (overlap): Two edits overlap at line 3. Combine them into one edit.
    > {"edits":[],"path":"a.rs"}
    Error (arguments): The arguments do not match the schema: at /edits: has 0 items, must have at least 1. Call `file_edit` again with arguments that match its schema.
    > {"edits":[{"find":"two","replace":"x"}],"path":"a.rs","version":"older"}
    Error (stale): `a.rs` has changed since version older. Read it again with `file_read`.
    "#);
}

#[tokio::test]
async fn edits_are_located_before_any_is_made() {
    let mut bay = Bay::new();
    bay.write("a.txt", "one\ntwo\nthree\n");
    let edits = json!([
        { "find": "three", "replace": "one" },
        { "find": "one", "replace": "zero\nhalf" },
    ]);
    let shown = all(&mut bay, "file_edit", [json!({ "path": "a.txt", "edits": edits })]).await;
    assert_eq!(bay.read("a.txt"), "zero\nhalf\ntwo\none\n");
    insta::assert_snapshot!(shown, @r#"
    > {"edits":[{"find":"three","replace":"one"},{"find":"one","replace":"zero\nhalf"}],"path":"a.txt"}
    Edited a.txt: +3 -2 lines, version e4f7f02aa377
    @@ line 1 @@
    -one
    +zero
    +half
    @@ line 3 @@
    -three
    +one
    "#);
}

#[tokio::test]
async fn line_ends_of_the_file_are_kept() {
    let mut bay = Bay::new();
    bay.write("dos.txt", "one\r\ntwo\r\nthree\r\n");
    let edits = json!([{ "find": "one\ntwo", "replace": "1\n2" }]);
    bay.call("file_edit", json!({ "path": "dos.txt", "edits": edits })).await;
    assert_eq!(bay.read("dos.txt"), "1\r\n2\r\nthree\r\n");
}

#[tokio::test]
async fn what_changed_is_said_by_the_tool_itself() {
    let mut bay = Bay::new();
    let steps = [
        ("file_create", json!({ "path": "a/b.txt", "content": "one" })),
        ("file_create", json!({ "path": "a/b.txt", "content": "two" })),
        ("file_move", json!({ "from": "a/b.txt", "to": "c.txt" })),
        ("file_delete", json!({ "path": "c.txt", "version": "older" })),
        ("file_delete", json!({ "path": "c.txt" })),
        ("file_move", json!({ "from": "a/b.txt", "to": "c.txt" })),
    ];
    let mut shown = String::new();
    for (tool, arguments) in steps {
        let batch = bay.call_all(&[(tool, arguments)]).await;
        let changed: Vec<String> = batch.records[0]
            .facts
            .changed
            .iter()
            .map(|change| format!("{:?} {}", change.kind, change.path))
            .collect();
        shown += &format!("{} {changed:?}\n", batch.results[0].text);
    }
    insta::assert_snapshot!(shown, @r#"
    Wrote a/b.txt: 1 lines, version d33fb48ab5ad ["Created a/b.txt"]
    Error (stale): `a/b.txt` already exists. Read it and use `file_edit`, or pass its version to replace it. []
    Moved a/b.txt to c.txt ["Deleted a/b.txt", "Created c.txt"]
    Error (stale): `c.txt` has changed since version older. Read it again with `file_read`. []
    Deleted c.txt ["Deleted c.txt"]
    Error (not_found): `a/b.txt` not found. Search for it with `file_find`. []
    "#);
    assert_eq!(bay.pipeline.tally().changed.len(), 4);
}

#[tokio::test]
async fn a_file_is_written_anew_only_by_who_knows_its_version() {
    let mut bay = Bay::new();
    bay.write("a.txt", "mine");
    let version = super::version_of(b"mine");
    let anew = |version: &str| json!({ "path": "a.txt", "content": "new", "version": version });
    assert!(bay.call("file_create", anew("other")).await.starts_with("Error (stale)"));
    assert_eq!(bay.read("a.txt"), "mine");
    assert!(bay.call("file_create", anew(&version)).await.starts_with("Wrote a.txt"));
    assert_eq!(bay.read("a.txt"), "new");
}

#[tokio::test]
async fn links_lead_nowhere() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret.txt"), "secret words").unwrap();
    let mut bay = Bay::new();
    symlink(outside.path(), bay.path().join("dir")).unwrap();
    symlink(outside.path().join("secret.txt"), bay.path().join("link.txt")).unwrap();
    symlink(outside.path().join("new.txt"), bay.path().join("dangling.txt")).unwrap();
    let mut shown = String::new();
    for (tool, arguments) in [
        ("file_read", json!({ "path": "link.txt" })),
        ("file_read", json!({ "path": "dir/secret.txt" })),
        ("file_search", json!({ "pattern": "secret" })),
        ("file_find", json!({ "pattern": "*", "under": "dir" })),
        ("file_find", json!({ "pattern": "*" })),
        ("file_create", json!({ "path": "dir/new.txt", "content": "x" })),
        ("file_create", json!({ "path": "dangling.txt", "content": "x" })),
        (
            "file_edit",
            json!({ "path": "link.txt", "edits": [{ "find": "secret", "replace": "x" }] }),
        ),
        ("file_delete", json!({ "path": "link.txt" })),
        ("file_move", json!({ "from": "link.txt", "to": "x.txt" })),
    ] {
        let said = bay.call(tool, arguments).await;
        shown += &format!("{tool}: {said}\n");
    }
    assert!(!shown.contains("secret words"), "{shown}");
    assert_eq!(fs::read_to_string(outside.path().join("secret.txt")).unwrap(), "secret words");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    insta::assert_snapshot!(shown, @"
    file_read: Error (wrong_kind): `link.txt` is not a regular file. Links and directories cannot be opened; list a directory with `file_find`.
    file_read: Error (wrong_kind): A parent of `dir/secret.txt` is not a plain directory. Links are not followed; use the real path.
    file_search: No line matches `secret` (0 files searched).

    file_find: Error (wrong_kind): `dir` is not a plain directory. Links are not followed; use a directory.
    file_find: No file matches `*` (0 files checked).
    file_create: Error (wrong_kind): A parent of `dir/new.txt` is not a plain directory. Links are not followed; use the real path.
    file_create: Error (stale): `dangling.txt` already exists. Read it and use `file_edit`, or pass its version to replace it.
    file_edit: Error (wrong_kind): `link.txt` is not a regular file. Links and directories cannot be opened; list a directory with `file_find`.
    file_delete: Error (wrong_kind): `link.txt` is not a regular file. Links and directories cannot be opened; list a directory with `file_find`.
    file_move: Error (wrong_kind): `link.txt` is not a regular file. Links and directories cannot be opened; list a directory with `file_find`.
    ");
}
