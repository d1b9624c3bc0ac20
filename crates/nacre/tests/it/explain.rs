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
    assert_snapshot!(told, @"");
    let (_, value) = home.json(&["explain", "run.log"]);
    assert_eq!(
        (&value["is_mapped"], &value["why"]),
        (&serde_json::json!(false), &serde_json::json!("ignored"))
    );
}
