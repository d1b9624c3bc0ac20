//! `nacre memory edit`

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;

use crate::home::TestHome;

const FILE: &str = "memory/decisions/20261115-use-sqlite.md";

/// Creates a home with an editor that runs the script `action` on the file `$1`.
fn with_editor(action: &str) -> TestHome {
    let home = TestHome::new();
    home.add("Use SQLite", &["--body", "One file."]);
    set_editor(home, action)
}

pub(crate) fn set_editor(home: TestHome, action: &str) -> TestHome {
    let script = home.root().join("editor.sh");
    fs::write(&script, format!("#!/bin/sh\n{action}\n")).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let script = script.display().to_string();
    home.with_var("EDITOR", &script).with_var("NACRE_NOW", "2026-11-16T00:00:00Z")
}

/// Returns the saved drafts.
fn drafts(home: &TestHome) -> Vec<String> {
    let mut files = Vec::new();
    crate::home::walk(&home.root().join(".nacre/drafts"), &mut files);
    files.iter().map(|file| fs::read_to_string(file).unwrap()).collect()
}

#[test]
fn a_saved_edit_is_taken_over() {
    let home =
        with_editor("sed -i 's/One file/Just one file/; s/^status:/mine: yes\\nstatus:/' \"$1\"");
    assert_snapshot!(home.run(&["memory", "edit", "20261115-use-sqlite"]), @"
    Edited 20261115-use-sqlite
    Undo: nacre undo memory-20261116-000000-[id]
    ");
    assert_snapshot!(home.read(FILE), @"
    ---
    id: 20261115-use-sqlite
    title: Use SQLite
    created: 2026-11-15T08:30:00Z
    updated: 2026-11-16T00:00:00Z
    source: human
    confidence: 0.9
    tags: []
    related: []
    mine: yes
    status: active
    ---

    Just one file.
    ");
    assert_eq!(drafts(&home), Vec::<String>::new());
}

#[test]
fn an_edit_without_changes_changes_nothing() {
    let home = with_editor("true");
    let before = home.snapshot();
    assert_snapshot!(home.run(&["memory", "edit", "20261115-use-sqlite"]), @"Left unchanged 20261115-use-sqlite");
    assert_eq!(home.snapshot(), before);
}

#[test]
fn a_broken_edit_leaves_the_memory_and_keeps_the_draft() {
    let home = with_editor("sed -i 's/^title:.*/title: [oops/' \"$1\"");
    let before = home.read(FILE);
    assert_snapshot!(home.run(&["memory", "edit", "20261115-use-sqlite"]), @"
    Error: Not a valid memory
    Caused by: Line 4: the frontmatter is not valid YAML: illegal placement of ':' indicator
    Hint: Fix the line and try again
    Hint: Your text was kept. Continue editing: nacre memory edit 20261115-use-sqlite
    [exit 1]
    ");
    assert_eq!(home.read(FILE), before);
    let home = set_editor(home, "sed -i 's/^title:.*/title: Mended/' \"$1\"");
    assert_snapshot!(home.run(&["memory", "edit", "20261115-use-sqlite"]), @"
    Edited 20261115-use-sqlite
    Undo: nacre undo memory-20261116-000000-[id]
    Warning: Continuing with the draft of an earlier edit
    Hint: To discard the draft and start again: nacre memory edit 20261115-use-sqlite --discard
    ");
    assert!(home.read(FILE).contains("title: Mended\n"));
}

#[test]
fn the_id_cannot_be_changed() {
    let home = with_editor("sed -i 's/^id:.*/id: 20261115-other/' \"$1\"");
    assert_snapshot!(home.run(&["memory", "edit", "20261115-use-sqlite"]), @"
    Error: Not a valid memory
    Caused by: Line 2: `id` is `20261115-other`, but the file name requires `20261115-use-sqlite`
    Hint: Fix the line and try again
    Hint: Your text was kept. Continue editing: nacre memory edit 20261115-use-sqlite
    [exit 1]
    ");
}

#[test]
fn somebody_elses_edit_meanwhile_is_a_conflict() {
    let home = TestHome::new();
    home.add("Use SQLite", &["--body", "One file."]);
    let memory = home.store(FILE);
    let action = format!("echo theirs >> {}; echo mine >> \"$1\"", memory.display());
    let home = set_editor(home, &action);
    assert_snapshot!(home.run(&["memory", "edit", "20261115-use-sqlite"]), @"
    Error: Changed by another program in the meantime: `memory/decisions/20261115-use-sqlite.md`
    Hint: Nothing was changed. Check the file and run the command again
    Hint: Your text was kept. Continue editing: nacre memory edit 20261115-use-sqlite
    [exit 1]
    ");
    assert!(home.read(FILE).ends_with("theirs\n"));
    assert!(drafts(&home).iter().any(|text| text.ends_with("mine\n")));
    let home = set_editor(home, "echo more >> \"$1\"");
    let shown = home.run(&["memory", "edit", "20261115-use-sqlite"]);
    // The draft's name includes the store's path, which differs between runs.
    let (head, tail) = shown.split_once("drafts/").unwrap();
    let masked = format!("{head}drafts/[STORE]{}", &tail[16..]);
    assert_snapshot!(masked, @"
    Error: The memory was changed after you started this draft
    Hint: Your draft is $HOME/.nacre/drafts/[STORE]-20261115-use-sqlite.md
    Hint: Discard the draft and start again: nacre memory edit 20261115-use-sqlite --discard
    [exit 1]
    ");
    assert!(home.read(FILE).ends_with("theirs\n"));
    home.ok(&["memory", "edit", "20261115-use-sqlite", "--discard"]);
    assert!(home.read(FILE).ends_with("theirs\nmore\n"));
    assert_eq!(drafts(&home), Vec::<String>::new());
}

#[test]
fn editors_are_chosen_in_order() {
    let home = with_editor("echo from-editor >> \"$1\"");
    home.ok(&["config", "set", "ui.editor", "echo from-setting >>"]);
    home.ok(&["memory", "edit", "20261115-use-sqlite"]);
    let edited = home.run(&["memory", "edit", "20261115-use-sqlite"]);
    assert_eq!(edited.lines().count(), 2, "no editor speaks: {edited}");
    let home = TestHome::new();
    home.add("Use SQLite", &[]);
    assert_snapshot!(home.run(&["memory", "edit", "20261115-use-sqlite"]), @"
    Error: No editor is configured
    Hint: Set $EDITOR, or run `nacre config set ui.editor vim`
    [exit 1]
    ");
}

#[test]
fn names_and_dates_are_not_redacted_away() {
    let home = with_editor("echo 'more about sqlite' >> \"$1\"");
    home.ok(&["config", "set", "redact.extra", "sqlite"]);
    home.ok(&["memory", "edit", "20261115-use-sqlite"]);
    let text = home.read(FILE);
    assert!(
        text.starts_with("---\nid: 20261115-use-sqlite\n")
            && text.ends_with("more about [redacted:extra]\n"),
        "{text}"
    );
}

#[test]
fn a_failing_editor_changes_nothing() {
    let home = with_editor("exit 3");
    let before = home.read(FILE);
    assert_snapshot!(home.run(&["memory", "edit", "20261115-use-sqlite"]).replace(&home.root().display().to_string(), "$HOME"), @r"
    Error: The editor `$HOME/editor.sh` exited with exit status: 3
    Hint: The memory is unchanged; your draft is saved
    [exit 1]
    ");
    assert_eq!(home.read(FILE), before);
}
