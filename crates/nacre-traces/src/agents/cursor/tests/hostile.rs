//! Tests databases and rows that Cursor itself would never write.

use crate::transcript::toolkit::*;
use std::path::PathBuf;
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
fn a_running_editor_is_not_disturbed() {
    let home = Home::new();
    let global = home.global();
    put_composer(&global, "c1", json!({}), &[user("u", "committed")]);
    global.execute_batch("BEGIN IMMEDIATE").unwrap();
    put(&global, "bubbleId:c1:u", &user("u", "not yet"));
    let directory = home.user().join("globalStorage");
    let before = names(&directory);
    assert_eq!(home.only().lines(), ["user: committed"]);
    assert_eq!(names(&directory), before);
    assert_eq!(before.len(), 3);
    global.execute_batch("COMMIT").unwrap();
    drop(global);
    let before = names(&directory);
    assert_eq!(home.only().lines(), ["user: not yet"]);
    assert_eq!(names(&directory), before);
    assert_eq!(before.len(), 1);
}

#[test]
fn damage_is_an_error_or_counted() {
    let home = Home::new();
    let global = home.global();
    put_composer(&global, "c1", json!({}), &[user("u", "good"), agent("a", "bad")]);
    let sql = "UPDATE cursorDiskKV SET value = '{\"type\":2,\"text\":' WHERE key LIKE '%:a'";
    global.execute(sql, []).unwrap();
    let sql = "UPDATE cursorDiskKV SET value = CAST(x'7b2274797065223a312c2274657874223a22ff227d' AS TEXT) \
        WHERE key LIKE '%:u'";
    global.execute(sql, []).unwrap();
    let read = home.only();
    assert_eq!(read.lines(), ["user: \u{fffd}"]);
    assert_eq!(read.outcome.report.bad_lines, 1);
    assert_eq!(read.outcome.report.invalid_utf8, 1);
    let path = home.user().join("workspaceStorage/x/state.vscdb");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, b"not a database at all, but long enough to look like one".repeat(40))
        .unwrap();
    let broken = home.sources().into_iter().find(|source| source.path == path).unwrap();
    let error = Cursor.sessions(&broken).unwrap_err();
    assert!(matches!(error, Error::Store { .. }), "{error:?}");
}

#[test]
fn a_row_that_is_too_long_costs_only_itself() {
    let home = Home::new();
    let global = home.global();
    put_composer(
        &global,
        "c1",
        json!({}),
        &[user("u", "first"), agent("a", "x"), agent("z", "last")],
    );
    let sql = "UPDATE cursorDiskKV SET value = zeroblob(34000000) WHERE key LIKE '%:a'";
    global.execute(sql, []).unwrap();
    let read = home.only();
    let long = "meta Host!: A row that is too long to be read";
    assert_eq!(read.lines(), ["user: first", long, "assistant: last"]);
    assert_eq!(read.outcome.report.long_lines, 1);
}

#[test]
fn a_session_that_is_not_there() {
    let home = Home::new();
    let global = home.global();
    put_composer(&global, "c1", json!({}), &[user("u", "x")]);
    let mut trace = home.traces().remove(0);
    trace.session = Some("gone".to_owned());
    let error = Cursor.read(&trace, None, Sink::everything(&mut |_| {})).unwrap_err();
    assert!(matches!(error, Error::NoSession { .. }), "{error:?}");
}

#[test]
fn a_session_with_an_id_that_no_agent_makes_is_not_listed() {
    let home = Home::new();
    let global = home.global();
    let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4));
    for id in ["c1", &token, &"L".repeat(300)] {
        put_composer(&global, id, json!({}), &[user("u", "x")]);
    }
    put(&global, &format!("bubbleId:{token}x:u"), &user("u", "loose"));
    // The session's revision stores the workspace from the list of headers, so it must not contain
    // a secret.
    let header = json!({"composerId": "c1", "workspaceIdentifier": {"id": token}});
    put_item(&global, "composer.composerHeaders", &json!({"allComposers": [header]}));
    let traces = home.traces();
    assert_eq!(traces.len(), 1, "{traces:?}");
    assert_eq!(traces[0].session.as_deref(), Some("c1"));
    assert!(!traces[0].revision.as_deref().unwrap().contains(&token));
}

/// Returns a database with every kind of row, and its write-ahead log.
fn fixture() -> &'static (Vec<u8>, Vec<u8>) {
    static FIXTURE: OnceLock<(Vec<u8>, Vec<u8>)> = OnceLock::new();
    FIXTURE.get_or_init(|| {
        let home = Home::new();
        let global = home.global();
        let long = "many words ".repeat(2000);
        for id in ["c1", "c2", "c3"] {
            let tool = json!({"type": 2, "bubbleId": "t", "text": long, "toolFormerData":
                {"name": "read_file", "rawArgs": "{\"path\":\"/a/b\"}", "result": "{}"}});
            put_composer(&global, id, json!({}), &[user("u", "hello"), agent("a", "ok"), tool]);
        }
        global.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        put_composer(&global, "c4", json!({}), &[user("u", "in the log")]);
        put_item(
            &global,
            "composer.composerData",
            &json!({"allComposers": [
            {"composerId": "c5", "conversation": [user("u", "listed")]}]}),
        );
        let path = home.user().join("globalStorage/state.vscdb");
        (fs::read(&path).unwrap(), fs::read(path.with_extension("vscdb-wal")).unwrap())
    })
}

fn exhaust(home: &Home) {
    for source in home.sources() {
        for trace in Cursor.sessions(&source).unwrap_or_default() {
            drop(Cursor.read(&trace, None, Sink::everything(&mut |_| {})));
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
        let home = Home::new();
        let directory = home.user().join("globalStorage");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("state.vscdb"), main).unwrap();
        fs::write(directory.join("state.vscdb-wal"), log).unwrap();
        exhaust(&home);
        prop_assert_eq!(names(&directory).len(), 2);
    }

    #[test]
    fn any_values_are_survived(
        composer in "\\PC{0,80}",
        bubble in prop::collection::vec(any::<u8>(), 0..200),
        key in "\\PC{0,20}",
    ) {
        let home = Home::new();
        let global = home.global();
        let headers = json!({"fullConversationHeadersOnly": [{"bubbleId": key}], "name": composer,
            "workspaceIdentifier": {"id": "../.."}, "conversationState": composer});
        put(&global, "composerData:x", &headers);
        let sql = "INSERT INTO cursorDiskKV VALUES (?1, ?2)";
        global.execute(sql, (format!("bubbleId:x:{key}"), bubble)).unwrap();
        global.execute(sql, (format!("composerData:{key}"), &composer)).unwrap();
        put_item(&global, "aiService.prompts", &json!([composer]));
        exhaust(&home);
    }

    #[test]
    fn json_with_odd_members_is_survived(member in "[a-zA-Z]{1,12}", value in json_value()) {
        let members = ["thinking", "toolFormerData", "context", "codeBlocks", "text", "type",
            "createdAt", "timingInfo", "workspaceUris", &member];
        let home = Home::new();
        let global = home.global();
        for (idx, name) in members.iter().enumerate() {
            let mut bubble = agent("b", "x");
            bubble[*name] = value.clone();
            put_composer(&global, &format!("c{idx}"), json!({*name: value.clone()}), &[bubble]);
        }
        exhaust(&home);
    }
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map("[a-zA-Z]{0,10}", inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}
