//! Tests that if a process is killed during a turn, its committed data is complete and its task
//! ends exactly once.

use std::process::{Command, Stdio};
use std::time::Duration;

use jiff::Timestamp;
use nacre_base::fs::{Access, Owner, WriteScope};
use nacre_engine::record::state::TaskStore as _;
use nacre_engine::record::state::{ItemRecord, MessageRecord, State, TaskRecord};
use nacre_engine::record::{Failure, Runner, SessionId, TaskId, TaskState};
use serde_json::json;

const HELPER: &str = env!("CARGO_BIN_EXE_nacre-test-helper");
const N_KILLS: u64 = 12;

fn open(folder: &std::path::Path) -> State {
    let home = WriteScope::open(folder, Access::Private).unwrap();
    let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
    State::open(&home, &owner, Duration::from_secs(5)).unwrap()
}

fn terminal(task: &TaskRecord, sequence: u64) -> String {
    json!({ "sequence": sequence, "state": task.state.to_string() }).to_string()
}

/// Starts a process that writes a conversation, and kills it once it has committed the given number
/// of items.
fn talk_and_kill(folder: &std::path::Path, state: &State, n_items: u64) -> TaskId {
    let session = SessionId::from_random(1);
    let before = state.session(&session).map_or(0, |session| session.last_item);
    let mut child = Command::new(HELPER)
        .arg("talk-until-killed")
        .arg(folder)
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    while state.session(&session).map_or(0, |session| session.last_item) < before + n_items {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    TaskId::from_random(u64::from(child.id()))
}

fn check_items(items: &[ItemRecord]) {
    let sequences: Vec<u64> = items.iter().map(|item| item.sequence).collect();
    assert_eq!(sequences, (1..=items.len() as u64).collect::<Vec<_>>());
    assert_eq!(items.len() % 3, 0, "no step is there in part");
    for step in items.chunks(3) {
        let parts: Vec<u64> = step.iter().map(|item| item.json["part"].as_u64().unwrap()).collect();
        assert_eq!(parts, [0, 1, 2]);
        assert!(step.iter().all(|item| item.task == step[0].task));
    }
}

fn check_messages(messages: &[MessageRecord]) {
    for (idx, message) in messages.iter().enumerate() {
        let number = idx as u64 + 1;
        let json: serde_json::Value = serde_json::from_str(&message.text).unwrap();
        assert_eq!((message.sequence, json["sequence"].as_u64()), (number, Some(number)));
        let is_last = idx + 1 == messages.len();
        assert_eq!(message.is_last, is_last);
    }
}

#[test]
fn what_a_killed_process_committed_is_whole_and_its_task_ends_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut state = open(folder.path());
    let here = Runner::here(std::process::id());
    let now = Timestamp::UNIX_EPOCH;
    for round in 0..N_KILLS {
        let task = talk_and_kill(folder.path(), &state, 1 + 7 * round);
        assert_eq!(state.recover(&here, now, terminal).unwrap(), std::slice::from_ref(&task));
        assert_eq!(state.recover(&here, now, terminal).unwrap(), []);
        let ended = TaskState::Failed { why: Failure::Restarted };
        assert_eq!(state.task(&task).unwrap().state, ended);
        check_messages(&state.messages_after(&task, 0, usize::MAX).unwrap());
        check_items(&state.items(&SessionId::from_random(1), 0, usize::MAX).unwrap());
    }
}
