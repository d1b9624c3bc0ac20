//! Tests homes that share a PostgreSQL database, and homes whose database is unreachable. Uses a
//! real PostgreSQL server if there is one; `tools/postgres.sh` downloads it.

#[expect(dead_code, reason = "the tests of the stores use more of it")]
#[path = "../../../nacre-team/tests/it/server.rs"]
#[expect(clippy::print_stderr, reason = "what was skipped is told loudly")]
pub(crate) mod server;

use std::fs;
use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::Value;

use self::server::Server;
use crate::home::TestHome;
use crate::serve::Served;
use crate::sync_run::{PNPM, reading, talk};

const SECRET: &str = "hunter2-hunter2";

/// Creates a home whose database is unreachable.
fn away() -> TestHome {
    reading()
        .with_var("NACRE_SERVER_DATABASE", "postgres://nacre@127.0.0.1:1/nacre")
        .with_var("NACRE_DATABASE_PASSWORD", SECRET)
}

fn states(home: &TestHome) -> String {
    let (_, report) = home.json(&["server"]);
    report["sessions"].to_string()
}

#[test]
fn a_repository_names_no_database_and_a_password_stands_in_no_setting() {
    let home = TestHome::new();
    home.write("config.toml", "[server]\ndatabase = \"postgres://thief@example.org/all\"\n");
    assert_snapshot!(home.run(&["config", "get", "server.database"]), @"

    Warning: Ignored `server.database` in `$HOME/work/.nacre/config.toml`, line 2: a repository may not set this key
    Hint: To set it in your own configuration, run `nacre config set server.database VALUE`
    ");
    fs::remove_file(home.store("config.toml")).unwrap();
    let url = format!("postgres://nacre:{SECRET}@db/nacre");
    let refused = home.run(&["config", "set", "server.database", &url]);
    assert!(!refused.contains(SECRET), "{refused}");
    assert_snapshot!(refused, @"
    Error: The settings must not contain a password
    Hint: Use postgres://USER@HOST/NAME, and set the password in NACRE_DATABASE_PASSWORD or in a file named by `server.database_password_file`
    [exit 1]
    ");
    assert_snapshot!(home.run(&["server"]), @"
    Error: No database is configured
    Hint: nacre config set server.database postgres://USER@HOST/NAME
    [exit 1]
    ");
    // A password that was written to the file by hand.
    let config = home.root().join(".nacre/config.toml");
    fs::write(config, format!("[server]\ndatabase = \"{url}\"\n")).unwrap();
    for command in [
        &["config", "server"][..],
        &["config", "get", "server.database"],
        &["server", "migrate"],
        &["status"],
        &["doctor"],
        &["queue"],
    ] {
        let shown = home.run(command);
        assert!(!shown.contains(SECRET), "{command:?}: {shown}");
    }
    assert_snapshot!(home.run(&["server", "migrate"]), @"
    Error: The database URL contains a password
    Hint: Set it in NACRE_DATABASE_PASSWORD, or in a file named by `server.database_password_file`
    [exit 1]
    ");
}

#[test]
fn while_the_database_is_away_what_needs_it_says_so_and_the_rest_works() {
    let home = away();
    talk(&home, "one", 1, PNPM);
    for command in [&["sync"][..], &["queue"], &["server", "migrate"]] {
        let (code, report) = home.json(command);
        assert_eq!(
            (code, &report["error"]["code"]),
            (4, &Value::from("database_away")),
            "{report}"
        );
        assert!(!report.to_string().contains(SECRET), "{report}");
    }
    let (code, report) = home.json(&["status"]);
    assert_eq!((code, &report["database"]["state"]), (0, &Value::from("away")), "{report}");
    assert!(!report.to_string().contains(SECRET), "{report}");
    assert!(
        home.add("Use tabs in Makefiles", &["--body", "Spaces break make."]).ends_with("makefiles")
    );
    let served = Served::start(&home);
    let get = |path: &str| {
        let (address, token) = (&served.address, &served.token);
        served.raw(&format!(
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
        ))
    };
    let (status, answer) = get("/api/queue");
    assert_eq!(status, 503, "{answer}");
    assert!(
        answer.to_lowercase().contains("retry-after: ") && answer.contains("database_away"),
        "{answer}"
    );
    assert_eq!(get("/api/ready").0, 503);
    assert_eq!(get("/api/health").0, 200);
    let (status, answer) = get("/api/search?query=tabs");
    assert_eq!(status, 200, "{answer}");
    assert!(answer.contains("makefiles"), "{answer}");
}

#[test]
fn whoever_watches_a_server_sees_the_database_in_numbers() {
    let Some(server) = Server::start() else { return };
    let home = reading().with_var("NACRE_SERVER_DATABASE", &server.url());
    home.ok(&["server", "migrate"]);
    let served = Served::start(&home);
    let (address, token) = (&served.address, &served.token);
    let get = |token: &str| {
        served.raw(&format!(
            "GET /metrics HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
        ))
    };
    assert_eq!(get("nacre_0").0, 401);
    let is_seen = |text: &str| text.contains("nacre_database_state{state=\"connected\"} 1\n");
    let found = soon(|| Some(get(token).1).filter(|text| is_seen(text)));
    assert!(found.is_some(), "{}", get(token).1);
    served.stop();
}

#[test]
fn a_task_of_one_server_is_stopped_from_another() {
    let Some(server) = Server::start() else { return };
    let team = || TestHome::new().with_var("NACRE_SERVER_DATABASE", &server.url());
    let (one, other) = (team(), team());
    one.add("Use tabs in Makefiles", &["--body", "Spaces break make."]);
    one.ok(&["server", "migrate"]);
    // A model server that accepts a request but never responds.
    let model = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", model.local_addr().unwrap());
    one.ok(&["config", "set", "providers.local.base_url", &address]);
    one.ok(&["config", "set", "providers.local.api", "openai"]);
    one.ok(&["config", "set", "roles.ask.model", "local/test"]);
    // Heartbeats depend on the clock, so it must advance.
    let mut asking = one.command(&one.work(), &["ask", "tabs or spaces?"]);
    let piped = asking.env_remove("NACRE_NOW").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut asking = piped.spawn().unwrap();
    let running = || {
        let (_, tasks) = other.json(&["events"]);
        let tasks = tasks["tasks"].as_array().cloned().unwrap_or_default();
        tasks.into_iter().find(|task| task["agent"] == "ask" && task["state"] == "running")
    };
    let task = soon(running).expect("the other server sees the task");
    let id = task["id"].as_str().unwrap().to_owned();
    other.ok(&["events", "cancel", &id]);
    let ended = soon(|| asking.try_wait().unwrap());
    assert!(
        ended.is_some_and(|status| !status.success()),
        "it ends, and not as if it had answered"
    );
    let over = soon(|| {
        let (_, task) = other.json(&["events", &id]);
        Some(task).filter(|task| task["task"]["state"] == "cancelled")
    });
    assert!(over.is_some(), "{:?}", other.json(&["events", &id]));
}

/// Calls `look` for up to half a minute, until it returns a value.
fn soon<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    (0..300).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        look()
    })
}

#[test]
fn two_homes_share_a_queue_and_a_session_is_read_by_one_of_them() {
    let Some(server) = Server::start() else { return };
    let team = |home: TestHome| home.with_var("NACRE_SERVER_DATABASE", &server.url());
    let one = reading();
    talk(&one, "one", 1, PNPM);
    one.ok(&["sync"]);
    // Sessions read before the queue was shared stay marked as read.
    let one = team(one);
    let (code, report) = one.json(&["queue"]);
    assert_eq!((code, &report["error"]["code"]), (1, &Value::from("not_set")), "{report}");
    assert_snapshot!(one.run(&["server", "migrate", "--from-embedded"]), @"
    Migrated the database from format 0 to 6: queue, search, state, readers, people, audience
    Moved the queue into the database (sessions: 1); its index has 2 memories
    Next: nacre up
    ");
    assert_snapshot!(one.run(&["server", "migrate"]), @"
    The database is up to date (format 6)
    Next: nacre up
    ");
    assert_eq!(states(&one), r#"{"done":1}"#);
    let found = |home: &TestHome, words: &str| {
        let (_, report) = home.json(&["memory", "search", "--all-projects", words]);
        report["hits"].as_array().map(Vec::len).unwrap_or_else(|| panic!("{report}"))
    };
    assert_eq!(found(&one, "pnpm lock file"), 2, "the learning and the summary");
    assert_eq!(found(&one, "zebra"), 0);
    talk(&one, "two", 2, &["Rename the server to gateway", "Done."]);
    one.ok(&["sync", "--no-extract"]);
    assert_eq!(states(&one), r#"{"done":1,"pending":1}"#);
    // Another home, which cannot read that trace and skips it.
    let other = team(reading());
    let (_, report) = other.json(&["sync"]);
    assert_eq!(report["sessions"], Value::from(Vec::<Value>::new()), "{report}");
    assert_eq!(states(&other), r#"{"done":1,"pending":1}"#);
    let (_, report) = one.json(&["sync"]);
    assert_eq!(report["sessions"].as_array().map(Vec::len), Some(1), "{report}");
    assert_eq!(states(&other), r#"{"done":2}"#);
    // Each home sees the other's tasks.
    let (_, tasks) = other.json(&["events"]);
    let is_sync = |task: &&Value| task["agent"] == "sync" && task["state"] == "completed";
    let theirs = tasks["tasks"].as_array().unwrap().iter().filter(is_sync).count();
    assert_eq!(theirs, 3, "two of the one and its own: {tasks}");
    let id = tasks["tasks"][0]["id"].as_str().unwrap().to_owned();
    let (code, task) = other.json(&["events", &id]);
    assert_eq!((code, &task["task"]["id"]), (0, &Value::from(id)), "{task}");
    assert!(!task["events"].as_array().unwrap().is_empty(), "{task}");
    // Move the state back to one machine.
    let (_, moved) = one.json(&["server", "migrate", "--to-embedded"]);
    assert_eq!(moved["moved"]["sessions"], Value::from(2), "{moved}");
    let one = one.with_var("NACRE_SERVER_DATABASE", "");
    let (_, report) = one.json(&["sync"]);
    assert_eq!(report["sessions"], Value::from(Vec::<Value>::new()), "{report}");
    assert!(found(&one, "pnpm lock file") >= 2, "store after store");
    server.sql("INSERT INTO nacre.migration (version, name) VALUES (99, 'later')");
    assert_snapshot!(other.run(&["server", "migrate"]), @"
    Error: The database schema was created by a newer version (format 99)
    Hint: Install the same version of Nacre as on the other servers
    [exit 1]
    ");
    let (code, report) = other.json(&["sync"]);
    assert_eq!((code, &report["error"]["code"]), (1, &Value::from("refused")), "{report}");
}
