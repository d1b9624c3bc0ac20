//! The binary that tests use to start programs. Like Nacre's own binary, it first calls the helper.
//!
//! It can also act as a process that keeps writing to the state until it is killed.

#![expect(clippy::disallowed_methods, reason = "this is a `main`, which has arguments")]

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use jiff::Timestamp;
use nacre_base::fs::{Access, Owner, WriteScope};
use nacre_engine::record::state::TaskStore as _;
use nacre_engine::record::state::{NewItem, NewSession, State, StateError};
use nacre_engine::record::{NewTask, Runner, SessionId, TaskClass, TaskId};
use serde_json::json;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    if let [_, verb, folder] = arguments.as_slice()
        && verb == "talk-until-killed"
    {
        return match talk(Path::new(folder)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    #[cfg(target_os = "linux")]
    return nacre_engine::confine::helper(&arguments).unwrap_or(ExitCode::FAILURE);
    #[cfg(not(target_os = "linux"))]
    ExitCode::FAILURE
}

/// Runs a conversation task forever. Each step writes three items and two messages, each in its own
/// transaction.
fn talk(folder: &Path) -> Result<(), StateError> {
    let home = WriteScope::open(folder, Access::Private)?;
    let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
    let mut state = State::open(&home, &owner, Duration::from_secs(5))?;
    let runner = Runner::here(std::process::id());
    let (session, now) = (SessionId::from_random(1), Timestamp::UNIX_EPOCH);
    let id = TaskId::from_random(u64::from(std::process::id()));
    let task = NewTask {
        id: id.clone(),
        session: session.clone(),
        parent: None,
        project: None,
        agent: "chat".to_owned(),
        class: TaskClass::Interactive,
        title: "Talk".to_owned(),
    };
    let new = NewSession {
        id: session.clone(),
        title: String::new(),
        workspace: None,
        project: None,
        model: None,
        approval: None,
    };
    match state.create_session(&new, now) {
        Ok(_) | Err(StateError::SessionExists { .. }) => {}
        Err(error) => return Err(error),
    }
    state.accept(&task, &runner, now)?;
    state.start(&id, &runner, now)?;
    for step in 0_u64.. {
        let part = |n: u64| NewItem {
            kind: "said".to_owned(),
            json: json!({ "step": step, "part": n, "text": "x".repeat(2000) }),
        };
        state.append_items(&session, &id, &runner, &[part(0), part(1), part(2)], now)?;
        let texts = [0, 1].map(|n| json!({ "sequence": 2 * step + n + 1 }).to_string());
        state.append_messages(&id, 2 * step + 1, &texts, false)?;
    }
    Ok(())
}
