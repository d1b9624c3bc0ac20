//! Tests that the local task store and the PostgreSQL task store return the same results for random
//! operations.

use std::collections::BTreeMap;
use std::fmt::{Debug, Display};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use nacre_base::fs::{Access, Owner, WriteScope};
use nacre_engine::record::state::{State, TaskStore};
use nacre_engine::record::{
    BoundedText, CancelledBy, Event, NewTask, Record, Runner, SessionId, TaskClass, TaskId,
    TaskState,
};
use nacre_team::postgres::state::SharedState;

use crate::chance::Chance;
use crate::server::Server;

/// Both stores, and the tasks added to them.
struct World {
    _folder: tempfile::TempDir,
    local: State,
    shared: SharedState,
    now: Timestamp,
    tasks: Vec<TaskId>,
    /// The number of each task's last event.
    told: BTreeMap<TaskId, u64>,
}

impl World {
    fn new(server: &Server) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let scope = WriteScope::open(folder.path(), Access::Private).unwrap();
        let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
        Self {
            local: State::open(&scope, &owner, Duration::from_secs(1)).unwrap(),
            shared: SharedState::open(&server.database()).unwrap(),
            now: at(0),
            tasks: Vec::new(),
            told: BTreeMap::new(),
            _folder: folder,
        }
    }

    /// Runs an operation on both stores, compares the results, and returns them.
    fn both<T: Debug, E: Display>(
        &mut self,
        what: &str,
        mut ask: impl FnMut(&mut dyn TaskStore) -> Result<T, E>,
    ) -> Option<T> {
        let local = ask(&mut self.local).map_err(|error| error.to_string());
        let shared = ask(&mut self.shared).map_err(|error| error.to_string());
        assert_eq!(format!("{local:?}"), format!("{shared:?}"), "{what}");
        local.ok()
    }

    fn compare(&mut self, what: &str) {
        self.both(what, |store| store.tasks(1000));
        for session in 0..3 {
            self.both(what, |store| store.find_unfinished(&SessionId::from_random(session)));
        }
    }

    fn compare_events(&mut self, what: &str) {
        for task in self.tasks.clone() {
            self.both(what, |store| store.events(&task, 0, 1000));
        }
    }

    fn record(&mut self, task: &TaskId, event: Event) -> Arc<Record> {
        let sequence = self.told.entry(task.clone()).or_default();
        *sequence += 1;
        Arc::new(Record { task: task.clone(), sequence: *sequence, at: self.now, event })
    }
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

/// Returns a runner on a separate machine, so that only its lease indicates whether it is alive.
fn runner(name: usize) -> Runner {
    Runner { host: format!("host-{name}"), pid: 7, birth: "1".to_owned() }
}

#[test]
fn both_states_answer_alike_whatever_happens() {
    let Some(server) = Server::start() else { return };
    for seed in 1..=4 {
        server.sql("DROP SCHEMA IF EXISTS nacre CASCADE");
        let mut world = World::new(&server);
        let mut chance = Chance::new(seed);
        let mut reached: BTreeMap<&str, usize> = BTreeMap::new();
        for step in 0..150 {
            let name = do_something(&mut world, &mut chance);
            *reached.entry(name).or_default() += 1;
            world.compare(&format!("seed {seed}, step {step}: {name}"));
            if step % 15 == 0 {
                world.compare_events(&format!("seed {seed}, step {step}: {name}"));
            }
        }
        assert!(reached.len() > 7, "{reached:?}");
    }
}

/// Runs one random operation on both stores.
fn do_something(world: &mut World, chance: &mut Chance) -> &'static str {
    let now = world.now;
    let Some(task) = chance.pick(&world.tasks).cloned() else {
        accept(world, chance);
        return "accept";
    };
    match chance.below(12) {
        0..=2 => {
            accept(world, chance);
            "accept"
        }
        3 | 4 => {
            let runner = runner(chance.below(2));
            world.both("start", |store| store.start(&task, &runner, now));
            "start"
        }
        5 => {
            let to = *chance.pick(&TaskState::all()).unwrap();
            world.both("go", |store| store.go(&task, to, now));
            "go"
        }
        6 => {
            let by = *chance.pick(CancelledBy::ALL).unwrap();
            world.both("cancel", |store| store.cancel(&task, by, now));
            "cancel"
        }
        7 => {
            let runner = runner(chance.below(2));
            world.both("beat", |store| store.beat(&runner, now));
            "beat"
        }
        8 => {
            let here = runner(chance.below(2));
            world.both("clear", |store| store.clear_dead(&here, now));
            "clear"
        }
        9 | 10 => {
            tell(world, chance);
            "tell"
        }
        _ => {
            let seconds = [1, 30, 100][chance.below(3)];
            world.now = now + jiff::SignedDuration::from_secs(seconds);
            let start = &task.as_str()[..chance.below(task.as_str().len()) + 1];
            world.both("find", |store| store.find_task(start));
            "time passes"
        }
    }
}

fn accept(world: &mut World, chance: &mut Chance) {
    let id = TaskId::from_random(chance.next());
    let parent = chance.pick(&world.tasks).cloned().filter(|_| chance.below(6) == 0);
    let new = NewTask {
        id: id.clone(),
        session: SessionId::from_random(chance.below(3) as u64),
        parent,
        project: [None, Some("/work".to_owned())][chance.below(2)].clone(),
        agent: "explorer".to_owned(),
        class: TaskClass::ALL[chance.below(2)],
        title: "Why\0 sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa".replace('\0', ""),
    };
    let (runner, now) = (runner(chance.below(2)), world.now);
    if world.both("accept", |store| store.accept(&new, &runner, now)).is_some() {
        world.tasks.push(id);
    }
}

/// Sends a batch of events, some of them duplicates or for unknown tasks.
fn tell(world: &mut World, chance: &mut Chance) {
    let mut batch: Vec<Arc<Record>> = Vec::new();
    for _ in 0..=chance.below(5) {
        let Some(task) = chance.pick(&world.tasks).cloned() else { continue };
        let event = match chance.below(6) {
            0 => Event::TaskState(*chance.pick(&TaskState::all()).unwrap()),
            1 => Event::AgentSpawn {
                child: TaskId::from_random(chance.next()),
                agent: BoundedText::new("explorer"),
            },
            2 => Event::StepStart { step: 3 },
            3 => Event::SkillOn { skill: BoundedText::new("the `skill`'s name") },
            4 => Event::StepStart { step: 1 },
            _ => match chance.pick(&batch).cloned() {
                Some(again) => {
                    batch.push(again);
                    continue;
                }
                None => Event::StepStart { step: 2 },
            },
        };
        let record = world.record(&task, event);
        batch.push(record);
    }
    let stranger = Event::StepStart { step: 9 };
    batch.push(world.record(&TaskId::from_random(99), stranger));
    world.both("tell", |store| store.append(&batch));
}

#[test]
fn one_task_of_a_session_runs_however_many_servers_there_are() {
    let Some(server) = Server::start() else { return };
    let database = server.database();
    let session = SessionId::from_random(1);
    let ids: Vec<TaskId> = (0..12).map(TaskId::from_random).collect();
    std::thread::scope(|scope| {
        for (nth, id) in ids.iter().enumerate() {
            let (database, session) = (&database, &session);
            scope.spawn(move || {
                let mut state = SharedState::open(database).unwrap();
                let new = NewTask {
                    id: id.clone(),
                    session: session.clone(),
                    parent: None,
                    project: None,
                    agent: "chat".to_owned(),
                    class: TaskClass::Interactive,
                    title: format!("Question {nth}"),
                };
                state.accept(&new, &runner(nth), at(0)).unwrap();
                state.start(id, &runner(nth), at(0)).unwrap();
            });
        }
    });
    let state = SharedState::open(&database).unwrap();
    let running = state.tasks(100).unwrap();
    let running = running.iter().filter(|task| task.state == TaskState::Running).count();
    assert_eq!((running, state.find_unfinished(&session).unwrap().1), (1, 11));
}
