//! `nacre explain`

use std::fs;
use std::os::unix::fs::symlink;

use insta::assert_snapshot;

use crate::delta::{git, put, repository};

#[test]
fn each_reason_is_told() {
    let home = repository();
    put(&home, ".gitignore", "*.log\n");
    put(&home, "src/.gitignore", "gen/\n");
    put(&home, "run.log", "x");
    put(&home, "src/gen/x.rs", "x");
    put(&home, "node_modules/x/index.js", "x");
    put(&home, "other/a.rs", "x");
    fs::create_dir_all(home.work().join("other/.git")).unwrap();
    put(&home, ".env.production", "x");
    put(&home, "kept.log", "x");
    git(&home, &["add", "-f", "kept.log"]);
    symlink("src", home.work().join("link")).unwrap();
    put(&home, "fresh.rs", "x");
    let mut told = String::new();
    for path in [
        "src/lib.rs",
        "./src/../fresh.rs",
        "run.log",
        "kept.log",
        "src/gen/x.rs",
        "node_modules/x/index.js",
        "other/a.rs",
        ".env.production",
        "link",
        "link/lib.rs",
        "src",
        "nothing.rs",
    ] {
        told += &home.run(&["explain", path]);
    }
    assert_snapshot!(told, @r"
    src/lib.rs: mapped; git tracks it
    fresh.rs: mapped; git does not track it
    run.log: not mapped: the rule `*.log` of the root excludes it
    kept.log: mapped; git tracks it
    src/gen/x.rs: not mapped: the rule `gen/` of `src` excludes it
    node_modules/x/index.js: not mapped: `node_modules` holds generated files, and git tracks nothing in it
    other/a.rs: not mapped: `other` is another repository
    .env.production: not mapped: `.env.*` excludes files with secrets
    link: not mapped: `link` is a link, and links are not followed
    link/lib.rs: not mapped: `link` is a link, and links are not followed
    src: a folder; the map contains files
    nothing.rs: not mapped: the file does not exist
    ");
    let (_, value) = home.json(&["explain", "run.log"]);
    assert_eq!(
        (&value["is_mapped"], &value["why"]),
        (&serde_json::json!(false), &serde_json::json!("ignored"))
    );
}

#[test]
fn rules_that_are_not_in_the_repository_are_named() {
    let home = repository();
    put(&home, "a.swp", "x");
    put(&home, "b.tmp", "x");
    put(&home, ".git/info/exclude", "*.tmp\n");
    fs::create_dir_all(home.root().join("settings/git")).unwrap();
    fs::write(home.root().join("settings/git/ignore"), "*.swp\n").unwrap();
    let settings = home.root().join("settings").to_string_lossy().into_owned();
    let home = home.with_var("XDG_CONFIG_HOME", &settings);
    let told = home.run(&["explain", "a.swp"]) + &home.run(&["explain", "b.tmp"]);
    assert_snapshot!(told, @r"
    a.swp: not mapped: the rule `*.swp` of `$HOME/settings/git/ignore` excludes it
    b.tmp: not mapped: the rule `*.tmp` of `.git/info/exclude` excludes it
    ");
    let home =
        home.with_var("GIT_CONFIG_GLOBAL", "/dev/null").with_var("XDG_CONFIG_HOME", "/nowhere");
    assert_snapshot!(home.run(&["explain", "a.swp"]), @"a.swp: mapped; git does not track it");
}
