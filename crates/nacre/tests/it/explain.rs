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
    src/lib.rs: mapped; tracked by Git
    fresh.rs: mapped; not tracked by Git
    run.log: not mapped: excluded by the rule `*.log` of the root
    kept.log: mapped; tracked by Git
    src/gen/x.rs: not mapped: excluded by the rule `gen/` of `src`
    node_modules/x/index.js: not mapped: `node_modules` contains generated files, and Git tracks none of them
    other/a.rs: not mapped: `other` is another repository
    .env.production: not mapped: `.env.*` excludes files with secrets
    link: not mapped: `link` is a symlink, and symlinks are not followed
    link/lib.rs: not mapped: `link` is a symlink, and symlinks are not followed
    src: a directory; the map contains only files
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
    a.swp: not mapped: excluded by the rule `*.swp` of `$HOME/settings/git/ignore`
    b.tmp: not mapped: excluded by the rule `*.tmp` of `.git/info/exclude`
    ");
    let home =
        home.with_var("GIT_CONFIG_GLOBAL", "/dev/null").with_var("XDG_CONFIG_HOME", "/nowhere");
    assert_snapshot!(home.run(&["explain", "a.swp"]), @"a.swp: mapped; not tracked by Git");
}
