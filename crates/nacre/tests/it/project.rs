//! `nacre project`

use std::fs;

use insta::assert_snapshot;

use crate::home::TestHome;

#[test]
fn projects_are_added_listed_and_removed() {
    let home = TestHome::new();
    let other = home.root().join("other");
    fs::create_dir(&other).unwrap();
    assert_snapshot!(home.run(&["project", "add", "../other", "--name", "second"]), @r#"
    Found directory (no Git: history comes only from runs) $HOME/other
    Created .nacre/.gitignore, .nacre/config.toml
    Project `second`, 0 memories.
    Git shares decisions and learnings; session summaries stay local (share.summaries).
    Found no sessions of any coding agent.

    Next: nacre memory add "Use SQLite for the queue" --body "One file, no server."
    Undo: nacre undo project-20261115-083000-[id]
    "#);
    let again = home.run(&["project", "add", "../other"]);
    assert!(
        again.contains("The store already exists; nothing changed.\nProject `second`"),
        "{again}"
    );
    assert_snapshot!(home.run(&["project"]), @"
    work    ready  $HOME/work
    second  ready  $HOME/other
    ");
    fs::remove_dir_all(other.join(".nacre")).unwrap();
    assert!(home.run(&["project"]).contains("second  no store  $HOME/other"));
    assert_snapshot!(home.run(&["project", "add", "../other", "--name", "work"]), @"
    Error: Project `work` is already registered, with path `$HOME/work`
    Hint: Choose another name. If the project has moved, add its new path with `--also $HOME/work`
    [exit 1]
    ");
    assert_snapshot!(home.run(&["project", "remove", "secnd"]), @"
    Error: No project named `secnd`
    Hint: Did you mean `second`?
    [exit 1]
    ");
    assert_snapshot!(home.run(&["project", "remove", "second"]), @"
    Unregistered project `second`; its files are kept.
    Undo: nacre undo project-20261115-083000-[id]
    ");
    assert_snapshot!(home.run(&["project", "add", "../nowhere"]), @"
    Error: `$HOME/nowhere` is not a directory
    Hint: Specify the repository's directory: nacre project add PATH
    [exit 1]
    ");
    assert!(other.exists());
}

#[test]
fn comments_in_the_register_stay() {
    let home = TestHome::new();
    let register = home.root().join(".nacre/projects.toml");
    let text = format!("# mine\n{}", fs::read_to_string(&register).unwrap());
    fs::write(&register, &text).unwrap();
    fs::create_dir(home.root().join("other")).unwrap();
    home.ok(&["project", "add", "../other", "--name", "all"]);
    assert!(fs::read_to_string(&register).unwrap().starts_with(&text));
}

#[test]
fn the_nearest_project_wins_and_a_flag_beats_it() {
    let home = TestHome::new();
    let inner = home.work().join("inner");
    fs::create_dir_all(inner.join("src")).unwrap();
    fs::create_dir(inner.join(".git")).unwrap();
    home.run_in(&inner, &["init"]);
    home.add("Of the outer one", &[]);
    home.run_in(&inner, &["memory", "add", "Of the inner one"]);
    assert_snapshot!(home.run_in(&inner.join("src"), &["memory", "list"]), @"20261115-of-the-inner-one  decision  2026-11-15  Of the inner one");
    assert_snapshot!(home.run_in(&inner, &["memory", "list", "--project", "work"]), @"20261115-of-the-outer-one  decision  2026-11-15  Of the outer one");
    assert_snapshot!(home.run_in(&inner, &["memory", "list", "--project", ".."]), @"20261115-of-the-outer-one  decision  2026-11-15  Of the outer one");
    assert_snapshot!(home.run_in(&inner, &["memory", "list", "--project", "wrk"]), @"
    Error: Project `wrk` not found
    Hint: Did you mean `work`?
    [exit 2]
    ");
}

#[test]
fn a_project_that_cannot_be_made_is_not_registered() {
    let home = TestHome::new();
    let folder = home.root().join("blocked");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join(".nacre"), "").unwrap();
    assert!(home.run(&["project", "add", &folder.display().to_string()]).contains("[exit 1]"));
    assert!(!home.ok(&["project", "list"]).contains("blocked"));
}

#[cfg(unix)]
#[test]
fn the_plugin_runs_no_program_of_the_repository() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = TestHome::new();
    let (own, repository) = (home.root().join("own"), home.root().join("repository"));
    for (folder, word) in [(&own, "good"), (&repository.join("fake"), "evil")] {
        let program = folder.join(".local/bin/nacre");
        std::fs::create_dir_all(program.parent().unwrap()).unwrap();
        std::fs::write(&program, format!("#!/bin/sh\necho {word}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    std::fs::create_dir_all(repository.join("sub")).unwrap();
    std::fs::create_dir(repository.join(".git")).unwrap();
    std::os::unix::fs::symlink(&repository, home.root().join("link")).unwrap();
    let script = crate::home::repository().join("plugin/bin/nacre");
    let run = |from: &std::path::Path| {
        let mut command = std::process::Command::new("sh");
        command.arg(&script).env("HOME", from).env_remove("CLAUDE_PROJECT_DIR");
        let output = command.current_dir(repository.join("sub")).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(run(&own), "good\n");
    for fake in ["repository/fake", "link/fake", "repository/sub/../fake"] {
        assert_ne!(run(&home.root().join(fake)), "evil\n", "{fake}");
    }
}
