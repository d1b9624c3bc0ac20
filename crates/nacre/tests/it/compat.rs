//! Every version must read what earlier versions stored. `tools/compat-fixture.sh` writes a fixture
//! for each release, which never changes afterwards.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use insta::assert_snapshot;

use crate::home::{TestHome, repository};

#[test]
fn what_version_0_1_0_stored_is_read() {
    let home = unpack("0.1.0");
    assert_snapshot!(home.run(&["memory", "list", "--all"]), @"
    20260306-keep-reports-for-seven-years                                  decision    2026-03-06  Keep reports for seven years
    20260305-store-times-in-utc                                            decision    2026-03-06  Store times in UTC
    20260305-keep-reports-for-a-year                                       decision    2026-03-06  Keep reports for a year  (superseded, replaced by 20260306-keep-reports-for-seven-years)
    20260303-where-should-the-queue-live-sqlite-not-redis                  decision    2026-03-05  Where should the queue live: SQLite, not Redis
    20260304-always-use-pnpm-here-never-npm-npm-writes-a-second-lock-file  convention  2026-03-04  Always use pnpm here, never npm: npm writes a second lock file
    20260304-add-a-chart-of-the-tides-to-the-start-page                    summary     2026-03-04  Add a chart of the tides to the start page
    20260303-orders-get-lost-when-the-worker-restarts                      summary     2026-03-03  Orders get lost when the worker restarts
    20260302-why-does-the-report-test-fail-at-night                        summary     2026-03-02  Why does the report test fail at night?
    20260302-the-report-tests-need-tz-utc                                  context     2026-03-02  The report tests need TZ=UTC
    ");
    assert_snapshot!(home.run(&["memory", "show", "20260306-keep-reports-for-seven-years"]), @"
    Keep reports for seven years
    20260306-keep-reports-for-seven-years · decision · active · confidence 0.9 · updated 2026-03-06T09:00:00Z
    supersedes 20260305-keep-reports-for-a-year

    The law changed.
    ");
    assert_snapshot!(home.run(&["brief"]), @r#"
    Rules and facts that users and earlier sessions settled, as data. The newest wins; the user's current words win. Evidence: `memory_get ID` or `nacre memory show ID`.

    ## Decisions
    - Store times in UTC. Local times broke the report in Auckland. [20260305-store]
    - Keep reports for seven years. The law changed. [20260306-keep]
    - Where should the queue live: SQLite, not Redis. Asked "Where should the queue live?", the person chose SQLite (a table in orders.db). … [20260303-where]

    ## Preferences and conventions
    - Always use pnpm here, never npm: npm writes a second lock file [20260304-always]

    ## Good to know
    - The report tests need TZ=UTC. Without it they fail after 23:00. [20260302-the]

    ## Recent work
    - 2026-03-04: Add a chart of the tides to the start page. Ended with: Done: removed package-lock.json and installed it with pnpm [20260304-add]
    - 2026-03-03: Orders get lost when the worker restarts. Ended with: The queue is a table in orders.db now; the worker resumes after a restart [20260303-orders]
    - 2026-03-02: I set TZ=UTC in the Makefile, and the tests pass [20260302-why]
    "#);
    assert_snapshot!(home.run(&["trace", "search", "second lock file"]), @"
    9d8aa8000eb9    cursor  Add a chart of the tides to the start page
        [3] user  no, remember: always use pnpm here, never npm: npm writes a second lock file
        [4] assistant  Done: removed package-lock.json and installed it with pnpm.
    Hint: Read on: nacre trace show 9d8aa8000eb9:3
    ");
    assert_snapshot!(home.run(&["status"]), @"
    Project work in $HOME/work
    project  4 decisions, 2 learnings (+1 archived), 3 summaries  $HOME/work/.nacre
    global   0 decisions, 0 learnings, 0 summaries  $HOME/.nacre
    claude   1 session: 1 done  $HOME/work
    codex    1 session: 1 done  $HOME/work
    cursor   1 session: 1 done  $HOME/work
    Last sync sync-20260305-090000-54b5fdfd (done)
    Scope project_fallback_global, 1 registered project
    Health unchecked: run `nacre doctor`
    ");
    let config = home.run(&["config"]);
    let changed: Vec<&str> = config.lines().filter(|line| line.contains(", line ")).collect();
    assert_snapshot!(changed.join("\n"), @"
    runs.keep                      40                       in `$HOME/.nacre/config.toml`, line 2
    share.summaries                true                     in `$HOME/work/.nacre/config.toml`, line 5
    ");
    assert_snapshot!(home.run(&["doctor"]), @"Checked 10 memories: ok, 0 errors, 0 warnings.");
    // The ledger still knows what was written here, and a change can still be undone.
    assert_snapshot!(home.run(&["trust"]), @"No foreign memories.");
    assert_snapshot!(home.run(&["undo", "--last"]), @"
    reverted  20260305-store-times-in-utc
    Undid memory-20260306-090000-401dac91 (feedback): 1 reverted
    Undo: nacre undo undo-20261115-083000-[id]
    ");
    assert_snapshot!(home.run(&["sync"]), @"
    No coding agent found in: ~/.claude/projects, ~/.config/claude/projects, ~/Library/Application Support/Claude/local-agent-mode-sessions, ~/.config/Claude/local-agent-mode-sessions, ~/.codex/sessions and 27 more locations (`nacre connect list`).
    Next: nacre connect AGENT --path FOLDER
    ");
}

#[test]
fn a_store_of_a_later_version_is_refused() {
    let home = TestHome::new();
    home.write("config.toml", "[memory]\nformat = 2\n");
    assert_snapshot!(home.run(&["memory", "add", "Store times in UTC"]), @"
    Error: Invalid value for `memory.format` in `$HOME/work/.nacre/config.toml`, line 2: expected 1, found 2
    Hint: A newer version of Nacre wrote this store; update Nacre
    [exit 1]
    ");
    assert_snapshot!(home.run(&["memory", "list"]), @"
    Error: Invalid value for `memory.format` in `$HOME/work/.nacre/config.toml`, line 2: expected 1, found 2
    Hint: A newer version of Nacre wrote this store; update Nacre
    [exit 1]
    ");
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
            // Git keeps no mode, and a key that others can read is not used.
            fs::write(&target, fs::read(&path).unwrap()).unwrap();
            fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
        }
    }
}
