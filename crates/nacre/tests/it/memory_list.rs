//! `nacre memory list`

use insta::assert_snapshot;

use crate::home::TestHome;

fn set_up_memories() -> TestHome {
    let home = TestHome::new();
    home.add("Use SQLite", &["--tag", "storage"]);
    home.add("Write small commits", &["--type", "learning", "--kind", "preference"]);
    home.ok(&["memory", "archive", &home.add("Use Redis", &[])]);
    home
}

#[test]
fn lists_show_what_is_in_use() {
    let home = set_up_memories();
    assert_snapshot!(home.run(&["memory", "list"]), @"
    20261115-write-small-commits  preference  2026-11-15  Write small commits
    20261115-use-sqlite           decision    2026-11-15  Use SQLite
    ");
    assert_snapshot!(home.run(&["memory", "list", "--archived"]), @"20261115-use-redis  decision  2026-11-15  Use Redis  (archived)");
    assert_snapshot!(home.run(&["memory", "list", "--type", "decision"]), @"20261115-use-sqlite  decision  2026-11-15  Use SQLite");
    assert_snapshot!(home.run(&["memory", "list", "--tag", "storage"]), @"20261115-use-sqlite  decision  2026-11-15  Use SQLite");
    assert_snapshot!(home.run(&["memory", "list", "--tag", "none"]), @"No memory matches.");
    assert_snapshot!(home.run(&["memory", "list", "--limit", "1"]), @"
    20261115-write-small-commits  preference  2026-11-15  Write small commits
    … 1 memory more; `--limit 0` shows all
    ");
    assert_snapshot!(home.run(&["memory", "list", "--limit", "1", "--quiet"]), @"20261115-write-small-commits  preference  2026-11-15  Write small commits");
}

#[test]
fn the_newest_stands_first() {
    let home = TestHome::new().with_var("NACRE_NOW", "2026-11-16T00:00:00Z");
    home.add("Older", &[]);
    let home = home.with_var("NACRE_NOW", "2026-11-17T00:00:00Z");
    home.add("Newer", &[]);
    assert_snapshot!(home.run(&["memory", "list"]), @"
    20261117-newer  decision  2026-11-17  Newer
    20261116-older  decision  2026-11-16  Older
    ");
}

#[test]
fn a_broken_file_does_not_hide_the_others() {
    let home = set_up_memories();
    home.write(
        "memory/decisions/20261114-broken.md",
        "---\nid: 20261114-broken\ntitle: [unclosed\n---\n",
    );
    assert_snapshot!(home.run(&["memory", "list"]), @"
    20261115-write-small-commits  preference  2026-11-15  Write small commits
    20261115-use-sqlite           decision    2026-11-15  Use SQLite
    Warning: Skipped $HOME/work/.nacre/memory/decisions/20261114-broken.md:3: the frontmatter is not valid YAML: unclosed bracket '['
    Hint: `nacre doctor` shows every malformed file
    [exit 3]
    ");
    let (code, value) = home.json(&["memory", "list"]);
    assert_eq!(
        (code, value["total"].as_u64(), value["broken"][0]["line"].as_u64()),
        (3, Some(2), Some(3))
    );
}

#[test]
fn json_has_every_key() {
    let home = TestHome::new();
    home.add("Use SQLite", &["--tag", "storage"]);
    let (_, value) = home.json(&["memory", "list"]);
    assert_snapshot!(serde_json::to_string_pretty(&value).unwrap(), @r#"
    {
      "broken": [],
      "memories": [
        {
          "archived": false,
          "confidence": 0.9,
          "created": "2026-11-15T08:30:00Z",
          "id": "20261115-use-sqlite",
          "kind": null,
          "path": "$HOME/work/.nacre/memory/decisions/20261115-use-sqlite.md",
          "related": [],
          "scope": "project",
          "status": "active",
          "tags": [
            "storage"
          ],
          "title": "Use SQLite",
          "type": "decision",
          "updated": "2026-11-15T08:30:00Z"
        }
      ],
      "total": 1
    }
    "#);
}

#[test]
fn escape_sequences_of_strangers_do_not_reach_the_terminal() {
    let home = TestHome::new();
    let evil = "---\nid: 20261115-evil\ntitle: \"a\\u001b]0;owned\\u0007b\\u202ec\"\n---\n\n\u{1b}[2J gone\u{9b}31m\n";
    home.write("memory/decisions/20261115-evil.md", evil);
    for args in [
        &["memory", "list"][..],
        &["memory", "show", "20261115-evil"],
        &["memory", "search", "gone"],
    ] {
        let shown = home.run(args);
        let is_safe =
            |c: char| c == '\n' || !(c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c));
        assert!(shown.contains('b') && shown.chars().all(is_safe), "{args:?}: {shown:?}");
    }
}
