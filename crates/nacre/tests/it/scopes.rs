//! Tests the order in which recall uses scopes: the project first, then the user's global memories.

use insta::assert_snapshot;

use crate::home::TestHome;

fn both() -> TestHome {
    let home = TestHome::new();
    home.add("Project rule", &[]);
    home.add("Global rule", &["--scope", "global_only"]);
    home
}

#[test]
fn each_mode_looks_where_it_says() {
    let home = both();
    assert_snapshot!(home.run(&["memory", "list"]), @"
    20261115-project-rule  decision  2026-11-15  Project rule
    20261115-global-rule   decision  2026-11-15  Global rule  (global)
    ");
    assert_snapshot!(home.run(&["memory", "list", "--scope", "project_only"]), @"20261115-project-rule  decision  2026-11-15  Project rule");
    assert_snapshot!(home.run(&["memory", "list", "--scope", "global_only"]), @"20261115-global-rule  decision  2026-11-15  Global rule  (global)");
    assert_snapshot!(home.run(&["memory", "search", "rule"]), @"
    20261115-project-rule  decision  2026-11-15  Project rule
    20261115-global-rule  decision  2026-11-15  Global rule  (global)
    ");
}

#[test]
fn the_setting_is_the_default() {
    let home = both();
    home.ok(&["config", "set", "memory.scope", "global_only"]);
    assert_snapshot!(home.run(&["memory", "list"]), @"20261115-global-rule  decision  2026-11-15  Global rule  (global)");
}

#[test]
fn a_global_memory_is_changed_where_it_lies() {
    let home = both();
    home.ok(&["memory", "archive", "20261115-global-rule"]);
    assert!(home.root().join(".nacre/memory/archived/decisions/20261115-global-rule.md").exists());
}

#[test]
fn without_a_project_the_global_memories_answer() {
    let home = TestHome::empty();
    assert_snapshot!(home.run(&["memory", "list"]), @"
    Error: No `.nacre` directory found in `$HOME/work` or its parent directories
    Hint: Run `nacre init` to set up this repository
    [exit 1]
    ");
    home.add("Global rule", &["--scope", "global_only"]);
    assert_snapshot!(home.run(&["memory", "list"]), @"20261115-global-rule  decision  2026-11-15  Global rule  (global)");
    assert_snapshot!(home.run(&["memory", "add", "x"]), @"
    Error: No `.nacre` directory found in `$HOME/work` or its parent directories
    Hint: Run `nacre init` to set up this repository
    [exit 1]
    ");
    assert_snapshot!(home.run(&["memory", "list", "--scope", "project_only"]), @"
    Error: No `.nacre` directory found in `$HOME/work` or its parent directories
    Hint: Run `nacre init` to set up this repository
    [exit 1]
    ");
}

#[test]
fn home_data_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = both();
    home.ok(&["config", "set", "memory.max_results", "9"]);
    let mut files = Vec::new();
    crate::home::walk(&home.root().join(".nacre"), &mut files);
    assert!(files.len() > 4);
    for path in files.iter().flat_map(|file| [file.as_path(), file.parent().unwrap()]) {
        let mode = std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{} has mode {mode:o}", path.display());
    }
}
