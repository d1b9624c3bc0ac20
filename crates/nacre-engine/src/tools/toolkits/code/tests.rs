//! Tests for the code tools, called through the pipeline.

use std::sync::Arc;

use serde_json::json;

use crate::tools::pipeline::support_tests::{Bay, Plan, full_access, write};
use crate::tools::workspace::Workspace;

fn bay() -> Bay {
    let root = tempfile::tempdir().unwrap();
    write(
        root.path(),
        "src/lib.rs",
        "pub struct Pearl;\n\nimpl Pearl {\n    pub fn grow(&self) {\n        open(\"a\").unwrap();\n        // open(\"b\").unwrap()\n    }\n}\n",
    );
    write(root.path(), "web/app.ts", "export const grow = () => open().then(x => x);\n");
    write(root.path(), "web/view.tsx", "const view = <div>{open().then(x => x)}</div>;\n");
    write(root.path(), "notes.md", "grow\n");
    write(root.path(), "gen/out.rs", "fn grow() {}\n");
    write(root.path(), ".gitignore", "gen/\n");
    let workspace = Arc::new(Workspace::open(root.path(), &[]).unwrap());
    let tools = super::tools(&workspace);
    Bay::at(root, Plan { permissions: full_access(), tools, ..Plan::default() })
}

#[tokio::test]
async fn code_is_outlined_and_searched_by_structure() {
    let mut bay = bay();
    let mut shown = String::new();
    for (tool, arguments) in [
        ("code_outline", json!({ "path": "src/lib.rs" })),
        ("code_outline", json!({ "path": "notes.md" })),
        ("code_symbols", json!({ "name": "GROW" })),
        ("code_symbols", json!({ "name": "pearl", "under": "src" })),
        ("code_search", json!({ "pattern": "$X.unwrap()", "language": "rust" })),
        ("code_search", json!({ "pattern": "$X.then($$$)", "language": "typescript" })),
        ("code_search", json!({ "pattern": "fn (", "language": "rust" })),
        ("code_search", json!({ "pattern": "x", "language": "cobol" })),
        ("code_search", json!({ "pattern": "nothing($A)", "language": "python" })),
        ("code_references", json!({ "name": "open" })),
        ("code_references", json!({ "name": "open", "max_results": 1 })),
        ("code_references", json!({ "name": "grow" })),
        ("code_references", json!({ "name": "Pearl", "under": "src" })),
        ("code_references", json!({ "name": "ope" })),
        ("code_references", json!({ "name": "a::b" })),
        ("code_symbols", json!({ "name": "grow", "max_results": 9999 })),
    ] {
        let said = bay.call(tool, arguments.clone()).await;
        shown += &format!("> {tool} {arguments}\n{}\n", said.trim_end());
    }
    insta::assert_snapshot!(shown, @r#"
    > code_outline {"path":"src/lib.rs"}
    src/lib.rs: 3 symbols in 8 lines of rust
        1-1     pub struct Pearl;
        3-8     impl Pearl
        4-7       pub fn grow(&self)
    > code_outline {"path":"notes.md"}
    Error (unsupported): The language of `notes.md` is not supported. Read it instead; only bash, c, cpp, csharp, elixir, go, java, javascript, kotlin, lua, php, python, ruby, rust, scala, swift, tsx, typescript can be parsed.
    > code_symbols {"name":"GROW"}
    src/lib.rs:4: method pub fn grow(&self)
    web/app.ts:1: function export const grow = () => open().then(x => x);
    > code_symbols {"name":"pearl","under":"src"}
    src/lib.rs:1: pub struct Pearl;
    src/lib.rs:3: implementation impl Pearl
    > code_search {"language":"rust","pattern":"$X.unwrap()"}
    src/lib.rs:5: (in method grow) open("a").unwrap()
    > code_search {"language":"typescript","pattern":"$X.then($$$)"}
    web/app.ts:1: (in function grow) open().then(x => x)
    web/view.tsx:1: open().then(x => x)
    > code_search {"language":"rust","pattern":"fn ("}
    Error (arguments): The pattern is not valid rust code: it has a syntax error. Write a whole expression, statement or declaration, with `$NAME` as a placeholder.
    > code_search {"language":"cobol","pattern":"x"}
    Error (unsupported): `cobol` is not a supported language. Known are bash, c, cpp, csharp, elixir, go, java, javascript, kotlin, lua, php, python, ruby, rust, scala, swift, tsx, typescript.
    > code_search {"language":"python","pattern":"nothing($A)"}
    No python code matches (0 files searched).
    > code_references {"name":"open"}
    src/lib.rs:5 in grow: open("a").unwrap();
    src/lib.rs:6 in grow: // open("b").unwrap()
    web/app.ts:1 in grow: export const grow = () => open().then(x => x);
    web/view.tsx:1: const view = <div>{open().then(x => x)}</div>;
    > code_references {"max_results":1,"name":"open"}
    src/lib.rs:5 in grow: open("a").unwrap();
    [3 more: src/lib.rs 1, web/app.ts 1, web/view.tsx 1. Limit the search with `under`.]
    > code_references {"name":"grow"}
    declared src/lib.rs:4: pub fn grow(&self) {
    declared web/app.ts:1: export const grow = () => open().then(x => x);
    No uses of `grow` found.
    > code_references {"name":"Pearl","under":"src"}
    declared src/lib.rs:1: pub struct Pearl;
    src/lib.rs:3 in Pearl: impl Pearl {
    > code_references {"name":"ope"}
    No uses of `ope` found.
    > code_references {"name":"a::b"}
    Error (arguments): `a::b` is not a single name. Use the last part of a path, such as `run`.
    > code_symbols {"max_results":9999,"name":"grow"}
    src/lib.rs:4: method pub fn grow(&self)
    web/app.ts:1: function export const grow = () => open().then(x => x);
    "#);
}
