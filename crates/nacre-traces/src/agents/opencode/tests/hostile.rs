//! Tests databases and files that OpenCode itself would never write.

use std::sync::OnceLock;

use proptest::prelude::*;

use super::*;

fn names(directory: &Path) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    names
}

#[test]
fn a_running_program_is_not_disturbed() {
    let data = Data::new();
    let connection = new_database(&data, "opencode.db");
    write_database(&connection, &full_session());
    connection.execute_batch("BEGIN IMMEDIATE; DELETE FROM message").unwrap();
    let before = names(&data.path(""));
    assert_eq!(data.reads().remove(0).lines()[..21], FULL_LINES);
    assert_eq!(names(&data.path("")), before);
    assert_eq!(before.len(), 3);
}

#[test]
fn another_database_has_no_sessions() {
    let data = Data::new();
    fs::create_dir_all(data.path("")).unwrap();
    let connection = Connection::open(data.path("opencode.db")).unwrap();
    connection.execute_batch("CREATE TABLE something (x)").unwrap();
    assert!(data.traces().is_empty());
}

/// Returns a tree with one session, whose only message has this ID.
fn tree_with_message(id: &str) -> Data {
    let data = Data::new();
    data.file("storage/session/p/ses_1.json", &json!({"id": "ses_1", "directory": "/p"}));
    data.file(
        "storage/message/ses_1/msg_1.json",
        &json!({"id": id, "role": "user", "time": {"created": 1_770_000_001_000_i64}}),
    );
    data.file("storage/part/msg_1/prt_1.json", &json!({"type": "text", "text": "own"}));
    data.file("outside/prt_1.json", &json!({"type": "text", "text": "private"}));
    data.file("outside/note.json", &json!({"api": "internal"}));
    data
}

#[test]
fn an_id_inside_a_file_leads_nowhere_outside_of_the_tree() {
    let probe = tree_with_message("msg_1");
    assert_eq!(probe.reads().remove(0).lines(), ["user: own"]);
    let ids = ["../../outside", "..", ".", "../part/msg_1", "x/../../../outside", "..\\outside"];
    for id in ids {
        // A message's parts are always taken from the directory named after its file, regardless of
        // the ID inside.
        assert_eq!(tree_with_message(id).reads().remove(0).lines(), ["user: own"], "{id}");
    }
    let data = tree_with_message("msg_1");
    let absolute = data.path("outside");
    data.file(
        "storage/message/ses_1/msg_1.json",
        &json!({"id": absolute.to_str().unwrap(), "role": "user"}),
    );
    assert_eq!(data.reads().remove(0).lines(), ["user: own"]);
}

#[test]
fn a_link_inside_a_tree_is_not_followed() {
    // The links replace a directory of parts, a single part, and the directory of all parts.
    let places = [
        ("storage/part/msg_1", "outside"),
        ("storage/part/msg_1/prt_2.json", "outside/prt_1.json"),
        ("storage/part", "outside"),
    ];
    for (place, target) in places {
        let data = tree_with_message("msg_1");
        let at = data.path(place);
        if at.is_dir() {
            fs::remove_dir_all(&at).unwrap();
        }
        std::os::unix::fs::symlink(data.path(target), &at).unwrap();
        let lines = data.reads().remove(0).lines();
        let expected: &[&str] = if place.ends_with("json") { &["user: own"] } else { &[] };
        assert_eq!(lines, expected, "{place}");
    }
    let data = tree_with_message("msg_1");
    fs::remove_dir_all(data.path("storage/message/ses_1")).unwrap();
    std::os::unix::fs::symlink(data.path("outside"), data.path("storage/message/ses_1")).unwrap();
    assert!(data.traces().is_empty());
}

#[test]
fn a_session_file_with_the_name_of_a_way_out_is_none() {
    let data = tree_with_message("msg_1");
    data.file("storage/session/p/ses_...json", &json!({"id": "x"}));
    data.file("storage/message.json", &json!({"id": "m", "role": "user"}));
    let sessions: Vec<_> = data.traces().into_iter().filter_map(|trace| trace.session).collect();
    assert_eq!(sessions, ["ses_1"]);
}

#[test]
fn parts_of_a_message_that_many_files_name_are_read_once() {
    let data = tree_with_message("msg_1");
    for n in 2..10 {
        let message = json!({"id": "msg_1", "role": "user", "time": {"created": n}});
        data.file(&format!("storage/message/ses_1/msg_{n}.json"), &message);
    }
    let read = data.reads().remove(0);
    assert_eq!(read.lines(), ["user: own"]);
    assert_eq!(read.outcome.report.repeated, 8);
}

#[test]
fn a_session_with_an_id_that_no_agent_makes_is_not_listed() {
    let data = Data::new();
    let connection = new_database(&data, "opencode.db");
    let mut session = full_session();
    write_database(&connection, &session);
    session.messages.clear();
    let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4));
    for id in [&token, &"L".repeat(3000)] {
        session.info["id"] = json!(id);
        write_database(&connection, &session);
    }
    let sessions: Vec<_> = data.traces().into_iter().filter_map(|trace| trace.session).collect();
    assert_eq!(sessions, ["ses_1"]);
    // Requesting such a session by its ID must not reveal the secret in the ID.
    let mut trace = data.traces().remove(0);
    trace.session = Some(token.clone());
    let id = read(&trace).outcome.facts.id;
    assert!(!id.is_empty() && !id.contains(&token), "{id}");
}

/// Returns a database with a full session, part of which is in the write-ahead log.
fn fixture() -> &'static (Vec<u8>, Vec<u8>) {
    static FIXTURE: OnceLock<(Vec<u8>, Vec<u8>)> = OnceLock::new();
    FIXTURE.get_or_init(|| {
        let data = Data::new();
        let connection = new_database(&data, "opencode.db");
        write_database(&connection, &full_session());
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        let long = json!({"type": "text", "text": "words ".repeat(4000)}).to_string();
        connection.execute("UPDATE part SET data = ?1 WHERE id = 'prt_1'", [long]).unwrap();
        let path = data.path("opencode.db");
        (fs::read(&path).unwrap(), fs::read(path.with_extension("db-wal")).unwrap())
    })
}

fn exhaust(data: &Data) {
    for source in data.sources() {
        for trace in OpenCode.sessions(&source).unwrap_or_default() {
            drop(OpenCode.read(&trace, None, Sink::everything(&mut |_| {})));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn flipped_bytes_are_survived(
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..30),
        in_log in any::<bool>(),
    ) {
        let (mut main, mut log) = fixture().clone();
        for (at, value) in flips {
            let target = if in_log { &mut log } else { &mut main };
            let at = at.index(target.len());
            target[at] = value;
        }
        let data = Data::new();
        fs::create_dir_all(data.path("")).unwrap();
        fs::write(data.path("opencode.db"), main).unwrap();
        fs::write(data.path("opencode.db-wal"), log).unwrap();
        exhaust(&data);
        prop_assert_eq!(names(&data.path("")).len(), 2);
    }

    #[test]
    fn any_values_are_survived(
        message in prop::collection::vec(any::<u8>(), 0..100),
        part in "\\PC{0,60}",
        kind in "[a-z-]{0,12}",
    ) {
        let data = Data::new();
        let connection = new_database(&data, "opencode.db");
        write_database(&connection, &full_session());
        let parts = [part.clone(), format!("{{\"type\":\"{kind}\",\"state\":{part:?}}}"),
            format!("{{\"type\":\"tool\",\"state\":{{\"status\":\"{kind}\",\"input\":[{part:?}]}}}}")];
        for (idx, raw) in parts.iter().enumerate() {
            let sql = "INSERT INTO part VALUES (?1, 'msg_1', 'ses_1', 0, 0, ?2)";
            connection.execute(sql, (format!("prt_z{idx}"), raw)).unwrap();
        }
        let sql = "INSERT INTO message VALUES ('msg_z', 'ses_1', ?1, 0, ?2)";
        connection.execute(sql, (part.as_str(), &message)).unwrap();
        let sql = "INSERT INTO session_message VALUES ('z', 'ses_1', ?1, 1, 9999999999999, 0, ?2)";
        connection.execute(sql, (&kind, &message)).unwrap();
        exhaust(&data);
        write_tree(&data, &full_session());
        fs::write(data.path("storage/message/ses_1/msg_z.json"), &message).unwrap();
        fs::write(data.path("storage/part/msg_1/prt_z.json"), &parts[1]).unwrap();
        exhaust(&data);
    }
}
