//! Every version must read what earlier versions stored. `tools/compat-fixture.sh` writes a fixture
//! for each release, which never changes afterwards.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;

use crate::home::{TestHome, repository};

#[cfg(unix)]
#[test]
fn what_version_0_1_0_stored_is_read() {
    let home = unpack("0.1.0");
    assert_snapshot!(home.run(&["memory", "list", "--all"]), @"");
    assert_snapshot!(home.run(&["memory", "show", "20260306-keep-reports-for-seven-years"]), @"");
    assert_snapshot!(home.run(&["brief"]), @"");
    assert_snapshot!(home.run(&["trace", "search", "second lock file"]), @"");
    assert_snapshot!(home.run(&["status"]), @"");
    assert_snapshot!(home.run(&["config"]), @"");
    assert_snapshot!(home.run(&["doctor"]), @"");
    // The ledger still knows what was written here, and a change can still be undone.
    assert_snapshot!(home.run(&["trust"]), @"");
    assert_snapshot!(home.run(&["undo", "--last"]), @"");
    assert_snapshot!(home.run(&["sync"]), @"");
}

#[test]
fn a_store_of_a_later_version_is_refused() {
    let home = TestHome::new();
    home.write("config.toml", "[memory]\nformat = 2\n");
    assert_snapshot!(home.run(&["memory", "add", "Store times in UTC"]), @"");
    assert_snapshot!(home.run(&["memory", "list"]), @"");
}

/// Restores a fixture at the path where it was written.
fn unpack(version: &str) -> TestHome {
    let home = TestHome::at(&format!("/tmp/nacre-compat-{version}"));
    let fixture = repository().join("crates/nacre/tests/fixtures/compat").join(version);
    copy(&fixture.join("home"), &home.root().join(".nacre"));
    copy(&fixture.join("project"), &home.work().join(".nacre"));
    // In the fixture, git would apply it.
    fs::rename(home.store("gitignore"), home.store(".gitignore")).unwrap();
    home
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else if path.extension().is_some_and(|extension| extension == "sql") {
            let database = rusqlite::Connection::open(target.with_extension("sqlite3")).unwrap();
            // The tables are in alphabetical order.
            database.pragma_update(None, "foreign_keys", false).unwrap();
            database.execute_batch(&fs::read_to_string(&path).unwrap()).unwrap();
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}
