//! Tests `nacre skill`, which lists and shows skills.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;

use crate::home::TestHome;

fn write(root: &Path, name: &str, text: &str) {
    let folder = root.join(name);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("SKILL.md"), text).unwrap();
}

fn with_skills() -> TestHome {
    let home = TestHome::new();
    let project = home.work().join(".agents/skills");
    write(
        &project,
        "release",
        "---\nname: release\ndescription: \"Cut a \\x1b[31mrelease.\"\nallowed-tools: git_log Bash(git tag:*)\n---\nRelease $ARGUMENTS.\n",
    );
    write(
        &home.root().join(".nacre/skills"),
        "review",
        "---\nname: review\ndescription: My own way.\n---\nLook twice.\n",
    );
    home
}

#[test]
fn skills_are_listed_with_whose_they_are() {
    let home = with_skills();
    assert_snapshot!(home.run(&["skill"]), @r"
    commit   bundled  Commit the changes in the working tree as one or more focused git commits. Use when asked to commit.
    release  project  Cut a \u{1b}[31mrelease.
    review   user     My own way.
    ");
}

#[test]
fn a_skill_is_shown_as_an_agent_reads_it() {
    let home = with_skills();
    assert_snapshot!(home.run(&["skill", "release", "--arguments", "1.2"]), @r"
    Cut a \u{1b}[31mrelease.
    release · project · $HOME/work/.agents/skills/release/SKILL.md · only Bash(git tag:*) git_log

    Release 1.2.
    ");
    assert_snapshot!(home.run(&["skill", "nothing"]), @"
    Error: Skill `nothing` not found
    Hint: `nacre skill` lists all skills
    [exit 1]
    ");
    let (_, value) = home.json(&["skill", "review"]);
    assert_eq!((&value["origin"], &value["instructions"]), (&"user".into(), &"Look twice.".into()));
}

#[test]
fn what_is_no_skill_is_told_and_hides_no_other() {
    let home = with_skills();
    write(&home.work().join(".claude/skills"), "broken", "no keys");
    let shown = home.run(&["skill"]);
    assert!(shown.contains("release  project"), "{shown}");
    assert!(shown.ends_with(
        "Warning: `$HOME/work/.claude/skills/broken/SKILL.md` is not a valid skill: it does not begin with a header between two `---` lines\n[exit 3]\n"
    ), "{shown}");
    let (code, value) = home.json(&["skill"]);
    assert_eq!(
        (
            code,
            value["problems"].as_array().unwrap().len(),
            value["skills"].as_array().unwrap().len()
        ),
        (3, 1, 3)
    );
}
