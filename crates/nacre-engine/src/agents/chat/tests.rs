//! Tests for the agent's prompt, using a project with hostile file names and long files.

use std::path::Path;

use super::*;
use crate::tools::{Area, Exec, MemoryUse, Workspace};

fn put(root: &Path, path: &str, text: &str) {
    let full = root.join(path);
    std::fs::create_dir_all(full.parent().unwrap()).unwrap();
    std::fs::write(full, text).unwrap();
}

fn look(files: &[(&str, &str)]) -> Orientation {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    files.iter().for_each(|(path, text)| put(&root, path, text));
    let workspace = Workspace::open(&root, &[]).unwrap();
    let mut found = Orientation::look(&workspace, "2026-11-17");
    found.folder = "/work".to_owned();
    found
}

#[test]
fn the_start_says_where_the_agent_is() {
    let found = look(&[
        (".git/HEAD", "ref: refs/heads/feature/x\n"),
        (".gitignore", "target\n"),
        ("AGENTS.md", "Run `make check`.\n"),
        ("CLAUDE.md", "Run `make check`.\n"),
        ("Cargo.toml", ""),
        ("crates/a/src/lib.rs", ""),
        ("crates/a/src/b.rs", ""),
        ("crates/b/src/lib.rs", ""),
        ("docs/guide.md", ""),
        ("target/debug/x", ""),
    ]);
    let spec = chat(&Permissions::read_only(), &found, CHAT_BUDGETS);
    let (_, told) = spec.prompt.split_once("Where you are").unwrap();
    insta::assert_snapshot!(told, @r"

    - Folder: /work
    - Branch: feature/x
    - Today: 2026-11-17
    - You have 200 tool calls a turn.
    - Files, without what git ignores:
      .gitignore AGENTS.md CLAUDE.md Cargo.toml
      crates/a/ (2 files)
      crates/b/ (1 file)
      docs/ (1 file)

    The project's `AGENTS.md`:
    Run `make check`.
    ");
}

#[test]
fn what_a_project_says_is_bounded_and_shows_no_secret() {
    let key =
        "sk-ant-api03-AAAAbbbbCCCCddddEEEEffffGGGGhhhhIIIIjjjjKKKKllllMMMMnnnnOOOOpppp-QQQQrrrrAA";
    let long = format!("Use KEY={key}\n{}", "All work and no play. ".repeat(5000));
    let many: Vec<String> = (0..200).map(|n| format!("folder{n}/file.rs")).collect();
    let mut files: Vec<(&str, &str)> = many.iter().map(|path| (path.as_str(), "")).collect();
    files.push(("AGENTS.md", &long));
    files.push((".git/HEAD", "0123456789abcdef0123456789abcdef01234567\n"));
    let found = look(&files);
    assert_eq!(found.branch.as_deref(), Some("detached HEAD at 0123456789ab"));
    assert!(found.tree.lines().count() <= 43, "{}", found.tree);
    assert!(found.tree.ends_with("and 160 more directories"), "{}", found.tree);
    let text = &found.instructions[0].text;
    assert!(text.len() < 16_100 && text.ends_with("[There is more; read the file.]"));
    assert!(!text.contains("bbbbCCCC"));
}

#[test]
fn a_folder_without_anything_is_told_without_anything() {
    let found = look(&[]);
    assert_eq!((found.branch, found.tree.as_str(), found.instructions.len()), (None, "", 0));
}

#[test]
fn the_agent_may_do_what_it_was_given_and_is_summed_up() {
    let permissions = Permissions {
        reads: vec![Area::Tree(None)],
        writes: vec![Area::Tree(None)],
        denied: vec!["*.key".to_owned()],
        exec: Exec::Anything,
        network: true,
        memory: MemoryUse::Changes,
    };
    let spec = chat(&permissions, &Orientation::default(), CHAT_BUDGETS);
    assert_eq!(spec.permissions, permissions);
    assert!(spec.sums_up && spec.budgets.tool_calls == 200);
    assert!(spec.tools.contains(&"delegate") && spec.tools.contains(&"memory_add"));
    for tool in ["memory_search", "memory_add", "delegate"] {
        assert!(PROMPT.contains(tool), "{tool}");
    }
}

#[test]
fn a_model_with_a_small_window_is_told_less_and_offered_fewer_tools() {
    let budgets = Budgets { context_tokens: 16_384, ..CHAT_BUDGETS };
    let spec = chat(&Permissions::read_only(), &Orientation::default(), budgets);
    assert!(spec.tools.iter().all(|tool| TOOLS.contains(tool)) && spec.tools.len() <= 8);
    let named = spec.prompt.split('`').filter(|word| word.contains('_') && !word.contains(' '));
    assert!(named.clone().count() > 3 && named.clone().all(|tool| spec.tools.contains(&tool)));
    assert!(spec.prompt.len() < 1_500, "{}", spec.prompt);
}
