//! `nacre doctor`

use std::fs;
use std::os::unix::fs::symlink;

use insta::assert_snapshot;

use crate::home::TestHome;

#[test]
fn a_sound_store_is_ok() {
    let home = TestHome::new();
    home.add("Use SQLite", &[]);
    assert_snapshot!(home.run(&["doctor"]), @"Checked 1 memory: ok, 0 errors, 0 warnings.");
}

#[test]
fn everything_wrong_is_found_with_its_line() {
    let home = TestHome::new();
    let id = home.add("Use SQLite", &[]);
    let sound = home.read(&format!("memory/decisions/{id}.md"));
    home.write(&format!("memory/archived/decisions/{id}.md"), &sound);
    home.write(
        "memory/decisions/20261101-broken.md",
        "---\nid: 20261101-broken\ntitle: \"open\n---\n",
    );
    home.write(
        "memory/decisions/20261102-conflict.md",
        "---\nid: 20261102-conflict\n<<<<<<< HEAD\ntitle: a\n=======\ntitle: b\n>>>>>>> x\n---\n",
    );
    home.write(
        "memory/decisions/20261103-dangling.md",
        "---\nid: 20261103-dangling\ntitle: Dangling\nrelated: [20260101-gone]\n---\n",
    );
    home.write(
        "memory/decisions/20261104-renamed.md",
        "---\nid: 20261104-other\ntitle: Renamed\n---\n",
    );
    home.write(
        "memory/decisions/20261105-unknown.md",
        "---\nid: 20261105-unknown\ntitle: Unknown\nmine: [a\n---\n",
    );
    home.write(
        "memory/learnings/20261106-latin.md",
        b"---\nid: 20261106-latin\ntitle: caf\xe9\n---\n",
    );
    home.write(
        "memory/learnings/20261107-status.md",
        "---\nid: 20261107-status\ntitle: S\nstatus: maybe\n---\n",
    );
    home.write("memory/learnings/notes.txt", "mine");
    home.write("memory/learnings/20261108-x.md.conflict-1", "kept");
    home.write("meta/evidence/20260101-gone.json", "{}");
    home.write(&format!("meta/evidence/{id}.json"), "{ not json");
    symlink("/etc/hostname", home.store("memory/learnings/20261109-link.md")).unwrap();
    assert_snapshot!(home.run(&["doctor"]), @"
    $HOME/work/.nacre/memory/archived/decisions/20261115-use-sqlite.md: error: Two files have the ID `20261115-use-sqlite`; Nacre uses `memory/decisions/20261115-use-sqlite.md`
      Rename one of the files and change its `id`, or remove it
    $HOME/work/.nacre/memory/decisions/20261101-broken.md:4: error: the frontmatter is not valid YAML: invalid indentation in multiline quoted scalar
    $HOME/work/.nacre/memory/decisions/20261102-conflict.md:3: error: unresolved git merge conflict
    $HOME/work/.nacre/memory/decisions/20261103-dangling.md: warning: The memory has no evidence
      It is left out of briefs until you trust it: nacre trust 20261103-dangling
    $HOME/work/.nacre/memory/decisions/20261103-dangling.md:4: warning: `related` links to `20260101-gone`, which does not exist
      nacre memory edit 20261103-dangling
    $HOME/work/.nacre/memory/decisions/20261104-renamed.md:2: error: `id` is `20261104-other`, but the file name requires `20261104-renamed`
    $HOME/work/.nacre/memory/decisions/20261105-unknown.md:4: error: the frontmatter is not valid YAML: unclosed bracket '['
    $HOME/work/.nacre/memory/learnings/20261106-latin.md:3: error: the text is not valid UTF-8
    $HOME/work/.nacre/memory/learnings/20261107-status.md:4: error: `status` is `maybe`; expected one of active, candidate, superseded, stale, archived
    $HOME/work/.nacre/memory/learnings/20261108-x.md.conflict-1: warning: Conflict copy: the file was edited while Nacre was replacing it
      Copy what you need into the memory, then remove this file
    $HOME/work/.nacre/memory/learnings/20261109-link.md: warning: Not a plain file or one of Nacre's directories; skipped
      Replace it with the file itself
    $HOME/work/.nacre/memory/learnings/notes.txt: warning: The file name is not a memory ID
      Rename it to something like `20261115-use-sqlite.md`, or move it elsewhere
    $HOME/work/.nacre/meta/evidence/20260101-gone.json: warning: Evidence for `20260101-gone`, which does not exist
      Remove the file, or restore the memory from git
    $HOME/work/.nacre/meta/evidence/20260101-gone.json:1: error: Not an evidence file: missing field `version` at line 1 column 2
    $HOME/work/.nacre/meta/evidence/20261115-use-sqlite.json:1: error: Not an evidence file: key must be a string at line 1 column 3
    Untrusted, not used in briefs: 2; see nacre trust
    Checked 9 memories: broken, 9 errors, 6 warnings.
    [exit 1]
    ");
}

#[test]
fn warnings_fail_only_when_strict() {
    let home = TestHome::new();
    home.write("memory/learnings/notes.txt", "mine");
    let (code, value) = home.json(&["doctor"]);
    assert_eq!(
        (code, value["health"].as_str(), value["warnings"].as_u64()),
        (0, Some("ok"), Some(1))
    );
    let (code, value) = home.json(&["doctor", "--strict"]);
    assert_eq!((code, value["health"].as_str()), (1, Some("broken")));
}

#[test]
fn an_interrupted_change_is_dealt_with() {
    let home = TestHome::new();
    home.add("Use SQLite", &[]);
    fs::create_dir(home.store("journal/txn")).unwrap();
    fs::write(home.store("journal/txn/0"), "half").unwrap();
    home.ok(&["doctor"]);
    assert_eq!(home.tree("journal"), "journal/lock");
    fs::create_dir(home.store("journal/done")).unwrap();
    fs::write(home.store("journal/done/0"), "rest").unwrap();
    home.ok(&["doctor"]);
    assert_eq!(home.tree("journal"), "journal/lock");
}

#[test]
fn what_is_safe_to_mend_is_mended_and_can_be_undone() {
    let home = TestHome::new();
    let gone = home.add("Use Redis", &[]);
    let id = home.add("Use SQLite", &["--related", &gone]);
    std::fs::remove_file(home.store(&format!("memory/decisions/{gone}.md"))).unwrap();
    let before = home.read(&format!("memory/decisions/{id}.md"));
    assert_eq!(home.json(&["doctor"]).1["warnings"], 2);
    let (code, report) = home.json(&["doctor", "--fix"]);
    assert_eq!((code, &report["warnings"]), (0, &0.into()), "{report}");
    assert!(home.read(&format!("memory/decisions/{id}.md")).contains("related: []"));
    home.ok(&["undo", report["change"].as_str().unwrap()]);
    assert_eq!(home.read(&format!("memory/decisions/{id}.md")), before);
    assert_eq!(home.json(&["doctor"]).1["warnings"], 2);
}
