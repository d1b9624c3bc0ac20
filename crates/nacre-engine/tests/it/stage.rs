//! An agent with a workspace of three files, a model server, and a database for its task.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use nacre_base::fs::{Access, Owner, WriteScope};
use nacre_engine::lifecycle::{
    AgentSpec, Completion, Conversation, Engine, Job, Outcome, RunControl, run,
};
use nacre_engine::model::{
    ApiChoice, Limits, ModelSettings, Models, ProviderSettings, Role, RoleSettings, Secret,
};
use nacre_engine::record::state::{Recorder, State};
use nacre_engine::record::{
    Clock, Event, Events, Heard, Listener, NewTask, Record, Runner, SessionId, TaskClass, TaskId,
};
use nacre_engine::tools::{Approval, Budgets, Permissions, PipelineParts, Workspace, toolkits};
use tempfile::TempDir;

use crate::harness::{KEY, control};
use crate::loopback::Loopback;
use crate::styles::Style;
use nacre_engine::record::state::TaskStore as _;

/// Returns an agent that reads files and answers in text.
pub(crate) fn agent() -> AgentSpec {
    AgentSpec {
        name: "reader",
        role: Role::Chat,
        prompt: "You read.".to_owned(),
        // Tools for which the agent has no permission are not offered, although they are listed
        // here.
        tools: vec!["file_read", "file_search", "file_create"],
        permissions: Permissions::read_only(),
        budgets: Budgets {
            steps: 8,
            tool_calls: 20,
            wall: Duration::from_secs(300),
            context_tokens: 60_000,
            answer_tokens: 1000,
            total_tokens: None,
        },
        completion: Completion::EndTurn { signals: false },
        sums_up: false,
    }
}

/// Calls a closure with every event.
struct Ear(Box<dyn Fn(&Event) + Send + Sync>);

impl Listener for Ear {
    fn hear(&self, record: &Arc<Record>) {
        (self.0)(&record.event);
    }
}

pub(crate) struct Stage {
    folder: TempDir,
    models: Models,
    pub(crate) limits: Limits,
    task: TaskId,
    heard: Arc<Heard>,
    recorder: Arc<Recorder>,
    listeners: Vec<Arc<dyn Listener>>,
}

impl Stage {
    pub(crate) fn new(style: Style, server: &Loopback) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "spill", "work"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("work/one.txt"), "the first file\n").unwrap();
        fs::write(folder.path().join("work/two.txt"), "the second file\n").unwrap();
        fs::write(
            folder.path().join("work/large.txt"),
            "a line of forty characters, no secrets.\n".repeat(26_000),
        )
        .unwrap();
        let task = TaskId::from_random(1);
        let recorder = Arc::new(Recorder::start(accepted(&folder, &task), None));
        let heard = Arc::new(Heard::default());
        let listeners: Vec<Arc<dyn Listener>> = vec![heard.clone(), recorder.clone()];
        let models = models(style, server);
        Self { folder, models, limits: control().limits, task, heard, recorder, listeners }
    }

    /// Adds a closure that is called with every event.
    pub(crate) fn hearing(mut self, ear: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.listeners.push(Arc::new(Ear(Box::new(ear))));
        self
    }

    pub(crate) async fn run(&self, spec: &AgentSpec, run_control: &RunControl) -> Outcome {
        let clock: Clock = Arc::new(|| Timestamp::UNIX_EPOCH);
        let events = Events::new(self.task.clone(), Arc::clone(&clock), self.listeners.clone());
        let root = self.folder.path().canonicalize().unwrap();
        let workspace = Arc::new(Workspace::open(&root.join("work"), &[]).unwrap());
        let parts = PipelineParts {
            tools: toolkits::file::tools(&workspace),
            workspace,
            spill: root.join("spill"),
            effects: None,
            approval: Approval::not_needed(),
            events: events.clone(),
        };
        let mut tools = spec.pipeline(parts).unwrap();
        let policy = control().policy;
        let (models, limits, clock) = (&self.models, &self.limits, &clock);
        let engine = Engine { models, policy: &policy, limits, clock };
        let history = Conversation::default();
        let job = Job {
            spec,
            history,
            asked: "What is here?",
            events,
            skills: None,
            attachments: Vec::new(),
            checkpoint: None,
            children: Arc::default(),
            seed: 1,
        };
        run(engine, job, &mut tools, run_control).await
    }

    /// Checks that the run ended exactly once and that its end matches the one on disk. Returns the
    /// end.
    pub(crate) fn close(&self, outcome: &Outcome) -> String {
        let records = self.heard.records();
        let ends = records.iter().filter(|record| record.event.is_terminal()).count();
        assert_eq!(ends, 1, "{records:#?}");
        assert!(records.last().unwrap().event.is_terminal());
        let report = self.recorder.close();
        assert!(
            report.error.is_none() && report.n_lost == 0 && report.n_refused == 0,
            "{report:?}"
        );
        let home = WriteScope::open(&self.folder.path().join("home"), Access::Private).unwrap();
        let state = State::open_existing(&home).unwrap().unwrap();
        let kept = state.task(&self.task).unwrap().state;
        assert_eq!(kept, outcome.ending.state(), "what is kept is what happened");
        kept.to_string()
    }
}

/// Returns a state in which the task is running.
fn accepted(folder: &TempDir, task: &TaskId) -> State {
    let home = WriteScope::open(&folder.path().join("home"), Access::Private).unwrap();
    let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
    let mut state = State::open(&home, &owner, Duration::ZERO).unwrap();
    let runner = Runner::here(std::process::id());
    let now = Timestamp::UNIX_EPOCH;
    let new = NewTask {
        id: task.clone(),
        session: SessionId::from_random(1),
        parent: None,
        project: None,
        agent: "reader".to_owned(),
        class: TaskClass::Interactive,
        title: "What is here?".to_owned(),
    };
    state.accept(&new, &runner, now).unwrap();
    state.start(task, &runner, now).unwrap();
    state
}

fn models(style: Style, server: &Loopback) -> Models {
    let (kind, path) = match style {
        Style::Anthropic => (ApiChoice::Anthropic, ""),
        Style::OpenAi => (ApiChoice::OpenAi, "/v1"),
    };
    let provider = ProviderSettings {
        kind: Some(kind),
        base_url: Some(format!("{}{path}", server.address)),
        key: Secret::new(KEY),
        ..ProviderSettings::default()
    };
    let model = format!("{}/m", style.provider()).parse().unwrap();
    Models::new(ModelSettings {
        providers: BTreeMap::from([(style.provider().to_owned(), provider)]),
        default: Some(RoleSettings::of_model(model)),
        ..ModelSettings::default()
    })
}
