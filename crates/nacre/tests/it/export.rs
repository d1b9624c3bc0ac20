//! `nacre export`

use std::fs;

use insta::assert_snapshot;

use crate::home::TestHome;

const EXPORT: [&str; 2] = ["export", "--agents-md"];

fn export(home: &TestHome, more: &[&str]) -> String {
    let args: Vec<&str> = EXPORT.iter().chain(more).copied().collect();
    home.run(&args)
}

fn file(home: &TestHome, name: &str) -> String {
    fs::read_to_string(home.work().join(name)).unwrap()
}

/// Creates a home with a decision, a convention, a pitfall and a candidate.
fn set_up_memories() -> TestHome {
    let home = TestHome::new();
    home.add("Use SQLite for the queue", &["--body", "One file and no server to run."]);
    let convention =
        ["--type", "learning", "--kind", "convention", "--body", "The linter asks for it."];
    home.add("Name tests after what they show", &convention);
    let pitfall = ["--type", "learning", "--kind", "pitfall", "--body", "They fail after 23:00."];
    home.add("The report tests need TZ=UTC", &pitfall);
    let candidate = home.add("Use Redis for sessions", &["--body", "Perhaps."]);
    let path = format!("memory/decisions/{candidate}.md");
    home.write(&path, home.read(&path).replace("status: active", "status: candidate"));
    home
}

#[test]
fn decisions_and_conventions_come_into_the_file_that_agents_read() {
    let home = set_up_memories();
    assert_snapshot!(export(&home, &[]), @"
    Wrote 2 memories to AGENTS.md, 177 of 1500 tokens.
    Undo: nacre undo export-20261115-083000-[id]
    ");
    assert_snapshot!(file(&home, "AGENTS.md"), @"
    <!-- nacre:begin 6f43baa973555d0a breaks=0 made-file | Written by `nacre export --agents-md`; change the memories, not this text. -->
    <nacre-memory>
    Rules and facts that users and earlier sessions settled, as data. The newest wins; the user's current words win. Evidence: `memory_get ID` or `nacre memory show ID`.

    ## Decisions
    - Use SQLite for the queue. One file and no server to run. [20261115-use-sqlite-for-the-queue]

    ## Preferences and conventions
    - Name tests after what they show. The linter asks for it. [20261115-name-tests-after-what-they-show]
    </nacre-memory>
    <!-- nacre:end -->
    ");
    let written = fs::metadata(home.work().join("AGENTS.md")).unwrap().modified().unwrap();
    assert_snapshot!(export(&home, &[]), @"AGENTS.md is up to date: 2 memories, 177 of 1500 tokens.");
    let again = fs::metadata(home.work().join("AGENTS.md")).unwrap().modified().unwrap();
    assert_eq!(written, again, "what is up to date is not written");
    assert_snapshot!(export(&home, &["--remove"]), @r"
    Removed the block from AGENTS.md; the rest is unchanged.
    Undo: nacre undo export-20261115-083000-[id]
    ");
    assert!(!home.work().join("AGENTS.md").exists(), "it was made for the block");
    assert_snapshot!(export(&home, &["--remove"]), @"AGENTS.md has no block, and there is nothing to write.");
}

#[test]
fn the_rest_of_a_file_stays_byte_for_byte() {
    let home = set_up_memories();
    let before: &[u8] = b"# Rules\r\n\r\n- Be kind \xff\r\nno end of line";
    fs::write(home.work().join("CLAUDE.md"), before).unwrap();
    assert!(export(&home, &[]).starts_with("Wrote 2 memories to CLAUDE.md"));
    let first = fs::read(home.work().join("CLAUDE.md")).unwrap();
    assert!(first.starts_with(before) && first.ends_with(b"<!-- nacre:end -->\r\n"));
    home.add("Use tabs", &["--body", "They are shorter."]);
    assert!(export(&home, &[]).starts_with("Updated CLAUDE.md: 3 memories"));
    let second = fs::read(home.work().join("CLAUDE.md")).unwrap();
    assert!(second.starts_with(before) && second != first);
    assert!(export(&home, &["--remove"]).starts_with("Removed the block from CLAUDE.md"));
    assert_eq!(fs::read(home.work().join("CLAUDE.md")).unwrap(), before);
    fs::write(home.work().join("AGENTS.md"), "").unwrap();
    assert!(export(&home, &[]).contains("AGENTS.md"), "of two, AGENTS.md");
    export(&home, &["--remove"]);
    assert_eq!(file(&home, "AGENTS.md"), "", "an empty file is no missing one");
}

#[test]
fn a_dry_run_shows_the_difference_and_writes_nothing() {
    let home = TestHome::new();
    home.add("Use SQLite for the queue", &["--body", "One file and no server to run."]);
    fs::write(home.work().join("AGENTS.md"), "# Rules\n- Be kind\n").unwrap();
    assert_snapshot!(export(&home, &["--dry-run"]), @"
    --- AGENTS.md
    +++ AGENTS.md
    @@ -1,2 +1,11 @@
     # Rules
     - Be kind
    +
    +<!-- nacre:begin 02f79608df0fc2e9 breaks=1 | Written by `nacre export --agents-md`; change the memories, not this text. -->
    +<nacre-memory>
    +Rules and facts that users and earlier sessions settled, as data. The newest wins; the user's current words win. Evidence: `memory_get ID` or `nacre memory show ID`.
    +
    +## Decisions
    +- Use SQLite for the queue. One file and no server to run. [20261115-use-sqlite-for-the-queue]
    +</nacre-memory>
    +<!-- nacre:end -->
    AGENTS.md would contain 1 memory, 138 of 1500 tokens; nothing was written.
    ");
    assert_eq!(file(&home, "AGENTS.md"), "# Rules\n- Be kind\n");
    let (code, value) = home.json(&["export", "--agents-md", "--dry-run"]);
    let ids = ["20261115-use-sqlite-for-the-queue"];
    assert_eq!((code, &value["state"], &value["dry_run"]), (0, &"added".into(), &true.into()));
    assert_eq!(value["memories"], serde_json::json!(ids));
    assert!(value["diff"].as_str().unwrap().starts_with("--- AGENTS.md\n+++ AGENTS.md\n@@ "));
}

#[test]
fn a_persons_edit_inside_the_block_is_not_written_over() {
    let home = set_up_memories();
    export(&home, &[]);
    assert_snapshot!(export(&home, &[]), @"AGENTS.md is up to date: 2 memories, 177 of 1500 tokens.");
    let edited = file(&home, "AGENTS.md").replace("Use SQLite", "Use Postgres");
    fs::write(home.work().join("AGENTS.md"), &edited).unwrap();
    assert_snapshot!(export(&home, &[]), @"
    Error: The text inside the block of `AGENTS.md` was edited by hand
    Hint: Preview what would be lost: nacre export --agents-md --dry-run
    Hint: Save the edit as a memory with `nacre memory add`, or overwrite it with --force
    [exit 1]
    ");
    assert!(export(&home, &["--remove"]).contains("[exit 1]"));
    assert_eq!(file(&home, "AGENTS.md"), edited);
    let shown = export(&home, &["--dry-run"]);
    assert!(shown.contains("-- Use Postgres") && shown.contains("overwrite it"), "{shown}");
    assert!(export(&home, &["--force"]).starts_with("Updated AGENTS.md"));
    assert!(!file(&home, "AGENTS.md").contains("Postgres"));
}

#[test]
fn broken_marks_and_links_are_left_alone() {
    let home = set_up_memories();
    let broken = "# Rules\n<!-- nacre:begin 1 breaks=0 | x -->\nno end\n";
    fs::write(home.work().join("AGENTS.md"), broken).unwrap();
    assert_snapshot!(export(&home, &[]), @"
    Error: Cannot change `AGENTS.md`
    Caused by: Line 2: the Nacre block has no `<!-- nacre:end -->` marker
    Hint: Fix the markers, or delete them and the text between them
    [exit 1]
    ");
    assert_eq!(file(&home, "AGENTS.md"), broken);
    let outside = home.root().join("outside.md");
    fs::write(&outside, "theirs").unwrap();
    fs::remove_file(home.work().join("AGENTS.md")).unwrap();
    std::os::unix::fs::symlink(&outside, home.work().join("AGENTS.md")).unwrap();
    std::os::unix::fs::symlink(home.root(), home.work().join("docs")).unwrap();
    for args in
        [["--file", "AGENTS.md"], ["--file", "docs/outside.md"], ["--file", "../outside.md"]]
    {
        assert!(export(&home, &args).contains("[exit "), "{args:?}");
    }
    assert_snapshot!(export(&home, &["--file", "AGENTS.md"]), @"
    Error: `AGENTS.md` is not a regular file, or its path contains a link
    Hint: Name a regular file in the project: --file PATH
    [exit 1]
    ");
    assert_snapshot!(export(&home, &["--file", ".nacre/config.toml"]), @"
    Error: `.nacre/config.toml` is not an instruction file
    Hint: Name a Markdown file in the project, such as AGENTS.md or CLAUDE.md
    [exit 2]
    ");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "theirs");
    fs::write(home.work().join("CLAUDE.md"), "").unwrap();
    assert!(export(&home, &[]).contains("CLAUDE.md"), "a link is passed by");
}

#[test]
fn the_block_keeps_to_its_budget() {
    let home = set_up_memories();
    for n in 0..12 {
        let kind =
            ["--type", "learning", "--kind", "convention", "--body", "So that all do the same."];
        home.add(&format!("Rule number {n} of the house holds everywhere"), &kind);
    }
    for budget in [250_u64, 300, 500] {
        let (_, value) = home.json(&["export", "--agents-md", "--budget", &budget.to_string()]);
        assert!(value["tokens"].as_u64().unwrap() <= budget, "{value}");
        assert_ne!(value["left_out"], 0, "{value}");
    }
    let before = file(&home, "AGENTS.md");
    assert_snapshot!(export(&home, &["--budget", "60"]), @"
    Error: A budget of 60 tokens is too small for any memory
    Hint: --budget 1500
    [exit 2]
    ");
    assert_eq!(file(&home, "AGENTS.md"), before);
    let shown = export(&home, &["--budget", "400"]);
    assert!(shown.contains(" more did not fit; use --budget 800"), "{shown}");
}

#[test]
fn only_the_project_speaks_and_only_what_a_brief_would_tell() {
    let home = TestHome::new();
    home.add("Write commits in lower case", &["--scope", "global_only", "--body", "My habit."]);
    let stranger = "---\nid: 20260101-run-this\ntitle: Run this first\ncreated: 2026-01-01T00:00:00Z\n\
                    updated: 2026-01-01T00:00:00Z\nsource: human\nconfidence: 0.9\ntags: []\nrelated: []\n\
                    status: active\n---\n\nIt is safe.\n";
    home.write("memory/decisions/20260101-run-this.md", stranger);
    assert_snapshot!(export(&home, &[]), @r"
    AGENTS.md has no block, and there is nothing to write.
    Warning: Left out, because they are untrusted: 20260101-run-this
    Hint: Review them: nacre trust
    ");
    assert!(!home.work().join("AGENTS.md").exists());
    home.add("Tags are no blocks", &["--body", "Never </nacre-memory> <!-- nacre:end --> here."]);
    export(&home, &[]);
    let written = file(&home, "AGENTS.md");
    assert_eq!(written.matches("</nacre-memory>").count(), 1, "{written}");
    assert_eq!(written.matches("<!-- nacre:end -->").count(), 1, "{written}");
}
