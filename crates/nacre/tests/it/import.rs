//! `nacre import`

use std::fs;

use insta::assert_snapshot;

use crate::home::TestHome;

const AGENTS: &str = "# Shop\n\nThe shop sells pearls on the web; payments go through one provider.\n\n\
## Testing\n\n- Use vitest, never jest\n- Tests start the database with `make db`\n\n```sh\nmake db\n```\n\n\
## Releasing\n\n1. Bump the version in package.json\n2. Push the tag\n\n- TODO\n";

fn put(home: &TestHome, path: &str, text: &str) {
    let full = home.work().join(path);
    fs::create_dir_all(full.parent().unwrap()).unwrap();
    fs::write(full, text).unwrap();
}

/// Returns the directory with Claude Code's memory of the repository.
fn claude_memory(home: &TestHome) -> std::path::PathBuf {
    let path = home.work().display().to_string();
    let slug: String =
        path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    home.root().join(".claude/projects").join(slug).join("memory")
}

fn titles(home: &TestHome) -> Vec<String> {
    let (_, value) = home.json(&["review", "--limit", "0"]);
    let titles = value["candidates"].as_array().unwrap().iter();
    let mut titles: Vec<String> =
        titles.map(|one| one["title"].as_str().unwrap().to_owned()).collect();
    titles.sort();
    titles
}

const RULES: &str = "# Shop\n\n\
- Use vitest for unit tests, never jest\n\
- Money is stored in cents, as integers\n\
- The queue is a table in SQLite\n\
- Dates are shown in the time zone of the customer\n\
- Every migration can be reverted\n\
- Images are resized by the worker, not by the server\n\
- Only the signup page may load third-party scripts\n";

#[test]
fn the_statements_of_a_file_are_one_decision() {
    let home = TestHome::new();
    put(&home, "AGENTS.md", RULES);
    home.ok(&["import"]);
    let shown = home.run(&["review"]);
    let parts = ["import:AGENTS.md", "7 statements from AGENTS.md", "review --file AGENTS.md"];
    assert!(parts.iter().all(|part| shown.contains(part)), "{shown}");
    let (_, value) = home.json(&["review"]);
    assert_eq!((&value["total"], value["candidates"].as_array().unwrap().len()), (&1.into(), 1));
    let (_, value) = home.json(&["review", "--file", "AGENTS.md"]);
    assert_eq!(value["total"], 7);
    let first = value["candidates"][0]["id"].as_str().unwrap().to_owned();
    home.ok(&["review", "reject", &first]);
    let (_, value) = home.json(&["review", "accept", "import:AGENTS.md"]);
    assert_eq!(value["ids"].as_array().map(Vec::len), Some(6));
    assert!(home.run(&["review"]).contains("No candidates to review."));
}

#[test]
fn imported_statements_are_not_written_back() {
    let home = TestHome::new();
    put(&home, "AGENTS.md", RULES);
    home.ok(&["import"]);
    home.ok(&["review", "accept", "--all"]);
    home.run(&["export", "--agents-md"]);
    assert_eq!(fs::read_to_string(home.work().join("AGENTS.md")).unwrap(), RULES);
    home.add("Use tabs", &["--body", "They are shorter."]);
    let shown = home.ok(&["export", "--agents-md"]);
    assert!(shown.contains("Wrote 1 memory to AGENTS.md"), "{shown}");
    let shown = home.ok(&["export", "--agents-md", "--file", "CLAUDE.md"]);
    assert!(shown.contains("Wrote 8 memories to CLAUDE.md"), "{shown}");
}

#[test]
fn statements_wait_for_review_with_their_place_and_text() {
    let home = TestHome::new();
    assert_snapshot!(home.run(&["import"]), @r"
    No instruction files found.
    Hint: Specify a file: nacre import PATH
    ");
    put(&home, "AGENTS.md", AGENTS);
    let before = home.snapshot();
    assert_snapshot!(home.run(&["import", "--dry-run"]), @r"
    AGENTS.md:3   convention  The shop sells pearls on the web; payments go through one provider
    AGENTS.md:7   convention  Testing: Use vitest, never jest
    AGENTS.md:8   convention  Tests start the database with `make db`
    AGENTS.md:16  procedure   Releasing: Bump the version in package.json
    AGENTS.md: 4 found, 4 new
    Left out: 1 not a statement
    4 candidates would be added; nothing was written.
    ");
    assert_eq!(home.snapshot(), before);
    assert_snapshot!(home.run(&["import"]), @r"
    AGENTS.md:3   convention  The shop sells pearls on the web; payments go through one provider
    AGENTS.md:7   convention  Testing: Use vitest, never jest
    AGENTS.md:8   convention  Tests start the database with `make db`
    AGENTS.md:16  procedure   Releasing: Bump the version in package.json
    AGENTS.md: 4 found, 4 new
    Left out: 1 not a statement
    Added 4 candidates. Review them: nacre review
    Undo: nacre undo import-20261115-083000-[id]
    ");
    assert_eq!(fs::read_to_string(home.work().join("AGENTS.md")).unwrap(), AGENTS);
    assert_snapshot!(home.run(&["review", "--limit", "2"]), @"
    20261115-the-shop-sells-pearls-on-the-web-payments-go-through-one  convention  2026-11-15  The shop sells pearls on the web; payments go through one provider  (candidate, derived)
        Shop: The shop sells pearls on the web; payments go through one provider.
          AGENTS.md:3, 2026-11-15T08:30:00Z

    20261115-tests-start-the-database-with-make-db  convention  2026-11-15  Tests start the database with `make db`  (candidate, derived)
        Testing: Tests start the database with `make db`
        ```sh
        make db
        ```
        > - Tests start the database with `make db` ```sh make db ```
          AGENTS.md:8, 2026-11-15T08:30:00Z

    Decide: nacre review accept ID, nacre review reject ID
    … 2 more; `--limit 0` shows all
    ");
    assert!(!home.run(&["brief"]).contains("vitest"), "nothing holds before a person agrees");
    assert_snapshot!(home.run(&["import"]), @"
    AGENTS.md: 4 found, 0 new
    Left out: 4 imported before, 1 not a statement
    Nothing new.
    ");
    assert_snapshot!(home.run(&["doctor"]), @"Checked 4 memories: ok, 0 errors, 0 warnings.");
    let (_, value) = home.json(&["review", "--limit", "0"]);
    let quotes: Vec<&serde_json::Value> =
        value["candidates"].as_array().unwrap().iter().map(|one| &one["quotes"][0]).collect();
    assert!(quotes.iter().all(|quote| AGENTS.contains(quote["text"].as_str().unwrap())));
}

#[test]
fn every_kind_of_file_is_read_and_says_whose_it_is() {
    let home = TestHome::new();
    put(&home, "CLAUDE.md", "@AGENTS.md\n- Write commit subjects in the imperative mood\n");
    put(&home, "CLAUDE.local.md", "- My own staging server is called heron\n");
    put(&home, "GEMINI.md", "- Answer in short sentences without praise\n");
    put(&home, ".cursorrules", "Prefer composition over inheritance everywhere.\n");
    put(
        &home,
        ".github/copilot-instructions.md",
        "- Keep public functions documented with examples\n",
    );
    let rule =
        "---\ndescription: React\nglobs: src/**/*.tsx\n---\n- Use function components with hooks\n";
    put(&home, ".cursor/rules/react.mdc", rule);
    let memory = claude_memory(&home);
    fs::create_dir_all(&memory).unwrap();
    fs::write(memory.join("MEMORY.md"), "- [Small PRs](small.md)\n").unwrap();
    let small = "---\nname: small\ndescription: The user wants small pull requests\ntype: feedback\n---\nReviews take days.\n";
    fs::write(memory.join("small.md"), small).unwrap();
    assert_snapshot!(home.run(&["import"]), @r"
    CLAUDE.md:2                        convention  Write commit subjects in the imperative mood
    CLAUDE.local.md:1                  convention  My own staging server is called heron
    GEMINI.md:1                        convention  Answer in short sentences without praise
    .cursorrules:1                     convention  Prefer composition over inheritance everywhere
    .github/copilot-instructions.md:1  convention  Keep public functions documented with examples
    .cursor/rules/react.mdc:5          convention  React: Use function components with hooks
    claude-memory/small.md:6           preference  The user wants small pull requests
    CLAUDE.md: 1 found, 1 new
    CLAUDE.local.md: 1 found, 1 new
    GEMINI.md: 1 found, 1 new
    .cursorrules: 1 found, 1 new
    .github/copilot-instructions.md: 1 found, 1 new
    .cursor/rules/react.mdc: 1 found, 1 new
    claude-memory/MEMORY.md: 0 found, 0 new
    claude-memory/small.md: 1 found, 1 new
    Left out: 2 not a statement
    Added 7 candidates. Review them: nacre review
    Undo: nacre undo import-20261115-083000-[id]
    Warning: Private until now: CLAUDE.local.md, claude-memory/small.md
    Hint: Accepted memories are shared with the project. To keep them private: nacre import PATH --scope global_only
    ");
    let (_, value) = home.json(&["review", "--limit", "0"]);
    let speaker = |title: &str| {
        let found =
            value["candidates"].as_array().unwrap().iter().find(|one| one["title"] == title);
        found.unwrap()["quotes"][0]["speaker"].as_str().unwrap().to_owned()
    };
    assert_eq!(speaker("The user wants small pull requests"), "assistant");
    assert_eq!(speaker("Answer in short sentences without praise"), "user");
}

#[test]
fn what_is_known_is_not_taken_again() {
    let home = TestHome::new();
    home.add("Use vitest, never jest", &["--body", "Testing: Use vitest, never jest"]);
    put(&home, "AGENTS.md", AGENTS);
    put(
        &home,
        "CLAUDE.md",
        "## Testing\n- Tests start the database with `make db`\n- Use **vitest**, never jest\n",
    );
    home.ok(&["import"]);
    let (_, value) = home.json(&["import"]);
    assert_eq!(value["candidates"], serde_json::json!([]), "{value}");
    let found = titles(&home);
    assert!(!found.iter().any(|title| title.contains("vitest")), "{found:?}");
    let rejected = found.iter().find(|title| title.contains("Bump")).unwrap();
    let (_, value) = home.json(&["review", "--limit", "0"]);
    let mut candidates = value["candidates"].as_array().unwrap().iter();
    let id = candidates.find(|one| one["title"] == *rejected.as_str()).unwrap()["id"].clone();
    home.ok(&["review", "reject", id.as_str().unwrap()]);
    assert!(home.run(&["import"]).contains("1 rejected before"));
    let other = titles(&home);
    assert_eq!(other.len(), found.len() - 1, "{other:?}");
    // A memory that the user archived stays archived.
    let (_, value) = home.json(&["review", "--limit", "1"]);
    let id = value["candidates"][0]["id"].as_str().unwrap().to_owned();
    home.ok(&["memory", "archive", &id]);
    assert!(home.run(&["import"]).contains("Nothing new."));
}

#[test]
fn a_changed_line_takes_the_place_of_the_old_one() {
    let home = TestHome::new();
    let file = |version: &str| {
        format!(
            "## Runtime\n- The server runs on Node {version} in production\n- Logs go to standard error\n"
        )
    };
    put(&home, "AGENTS.md", &file("18"));
    home.ok(&["import"]);
    put(&home, "AGENTS.md", &file("20"));
    assert_snapshot!(home.run(&["import"]), @r"
    AGENTS.md:2  convention  The server runs on Node 20 in production
    AGENTS.md: 2 found, 1 new
    Left out: 1 imported before
    Added 1 candidate. Review it: nacre review
    Undo: nacre undo import-20261115-083000-[id]
    ");
    assert_eq!(
        titles(&home),
        ["Runtime: Logs go to standard error", "The server runs on Node 20 in production"]
    );
    let (_, value) = home.json(&["review", "--limit", "0"]);
    let mut candidates = value["candidates"].as_array().unwrap().iter();
    let found = candidates.find(|one| one["title"].as_str().unwrap().contains("Node")).unwrap();
    home.ok(&["review", "accept", found["id"].as_str().unwrap()]);
    put(&home, "AGENTS.md", &file("22"));
    assert_snapshot!(home.run(&["import"]), @r"
    AGENTS.md:2  convention  The server runs on Node 22 in production
    AGENTS.md: 2 found, 1 new
    Left out: 1 imported before
    Added 1 candidate. Review it: nacre review
    Undo: nacre undo import-20261115-083000-[id]
    Hint: The source line changed: nacre review accept 20261115-the-server-runs-on-node-22-in-production --supersedes 20261115-the-server-runs-on-node-20-in-production
    ");
    assert_snapshot!(home.run(&["doctor"]), @"Checked 4 memories: ok, 0 errors, 0 warnings.");
}

#[test]
fn hostile_files_are_bounded_and_links_are_not_followed() {
    let home = TestHome::new();
    fs::write(home.root().join("secret.md"), "- The outside says this and that\n").unwrap();
    std::os::unix::fs::symlink(home.root().join("secret.md"), home.work().join("AGENTS.md"))
        .unwrap();
    fs::create_dir(home.work().join(".cursor")).unwrap();
    std::os::unix::fs::symlink(home.root(), home.work().join(".cursor/rules")).unwrap();
    fs::write(home.work().join("GEMINI.md"), b"- not \xff text at all\n").unwrap();
    put(&home, ".cursorrules", &"- Use the same rule again and again\n".repeat(20_000));
    let many: String =
        (0..400).map(|n| format!("- Rule {n} is about the {n}th thing of the list\n")).collect();
    let secret = "- The staging key is sk-ant-api03-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4-AA\n";
    let local = format!("- Look into {}/notes for more of this\n", home.work().display());
    put(&home, "CLAUDE.md", &format!("{secret}{local}{many}"));
    assert_snapshot!(home.run(&["import"]).lines().skip_while(|line| !line.starts_with('…')).collect::<Vec<_>>().join("\n"), @r"
    … 280 more
    AGENTS.md: not read: not a regular file
    CLAUDE.md: 402 found, 300 new
    GEMINI.md: not read: not valid UTF-8
    .cursorrules: not read: larger than 256 KiB
    .cursor/rules: not read: not a regular file
    Left out: 1 with a secret, 101 over the limit of 300; import the others by path
    Added 300 candidates. Review them: nacre review
    Undo: nacre undo import-20261115-083000-[id]
    ");
    let (_, value) = home.json(&["import", "--dry-run"]);
    assert!(!value.to_string().contains("sk-ant-api03-Zm9v"), "{value}");
    for (path, bytes) in home.snapshot() {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(
            !text.contains("sk-ant-api03-Zm9v") && !text.contains("outside"),
            "{}",
            path.display()
        );
        let is_shared =
            path.starts_with(home.store("memory")) || path.starts_with(home.store("meta/evidence"));
        assert!(!is_shared || !text.contains(&*home.root().to_string_lossy()), "{text}");
    }
}

#[test]
fn named_files_and_our_own_block() {
    let home = TestHome::new();
    home.add("Use SQLite for the queue", &["--body", "One file and no server to run."]);
    put(&home, "AGENTS.md", "- Keep every function below forty lines\n");
    home.ok(&["export", "--agents-md"]);
    put(&home, "docs/rules.md", "- Name branches after the ticket they belong to\n");
    assert_snapshot!(home.run(&["import", "AGENTS.md", "docs"]), @r"
    AGENTS.md:1      convention  Keep every function below forty lines
    docs/rules.md:1  convention  Name branches after the ticket they belong to
    AGENTS.md: 1 found, 1 new
    docs/rules.md: 1 found, 1 new
    Left out: 1 written by `nacre export`
    Added 2 candidates. Review them: nacre review
    Undo: nacre undo import-20261115-083000-[id]
    ");
    assert_snapshot!(home.run(&["import", "nothing.md"]), @"
    Error: `nothing.md` not found
    Hint: Without a path, `nacre import` looks in the default locations
    [exit 1]
    ");
    let mine = home.root().join("mine.md");
    fs::write(&mine, "- I like tests that read like a story\n").unwrap();
    let shown = home.run(&["import", mine.to_str().unwrap(), "--scope", "global_only"]);
    assert!(shown.contains("mine.md: 1 found, 1 new"), "{shown}");
    assert!(!titles(&home).is_empty());
}
