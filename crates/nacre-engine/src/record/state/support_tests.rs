//! A home directory with a state file, for tests.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use nacre_base::fs::{Access, Owner, WriteScope};

use crate::record::state::TaskStore as _;
use crate::record::state::db::{State, StateError, rows};
use crate::record::state::events::{LOG_FOLDER, LogFile};
use crate::record::{Clock, Events, Listener, NewTask, Runner, SessionId, TaskClass, TaskId};

pub(super) struct Home(tempfile::TempDir);

impl Home {
    pub(super) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(super) fn path(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    pub(super) fn try_open(&self) -> Result<State, StateError> {
        let scope = WriteScope::open(&self.path(), Access::Private)?;
        State::open(&scope, &owner(), Duration::from_secs(1))
    }

    pub(super) fn open(&self) -> State {
        self.try_open().unwrap()
    }

    pub(super) fn log(&self) -> LogFile {
        LogFile::new(
            WriteScope::create_inside(&self.path(), LOG_FOLDER, Access::Private).unwrap(),
            owner(),
        )
        .unwrap()
    }

    pub(super) fn accept(&self, state: &mut State, number: u64, now: Timestamp) -> TaskId {
        let task = task(number);
        state.accept(&task, &me(), now).unwrap();
        task.id
    }
}

impl State {
    /// Returns the titles of all sessions, including those that are not conversations.
    pub(super) fn session_titles(&self) -> Vec<String> {
        let titles = |row: &rusqlite::Row<'_>| row.get(0);
        self.read(|connection| rows(connection, "SELECT title FROM session", [], titles)).unwrap()
    }
}

fn owner() -> Owner {
    Owner { pid: 1, command: "test".to_owned(), since: String::new() }
}

pub(super) fn me() -> Runner {
    Runner { host: "here".to_owned(), pid: 1, birth: "1".to_owned() }
}

pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

pub(super) fn id(number: u64) -> TaskId {
    TaskId::from_random(number)
}

pub(super) fn task(number: u64) -> NewTask {
    NewTask {
        id: id(number),
        session: SessionId::from_random(1),
        parent: None,
        project: Some("/work".to_owned()),
        agent: "explorer".to_owned(),
        class: TaskClass::Interactive,
        title: format!("Question {number}"),
    }
}

pub(super) fn voice(number: u64, listener: Arc<dyn Listener>) -> Events {
    let clock: Clock = Arc::new(|| at(5));
    Events::new(id(number), clock, vec![listener])
}

pub(super) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
