//! Databases and files that no OpenCode wrote.

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

/// A database with one full session, half of it in the log.
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

/// Reads all there is; what it gives does not matter.
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
