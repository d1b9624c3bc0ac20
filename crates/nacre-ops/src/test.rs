//! Test fixtures for operations: a host, a home directory with one project, and scripted models.

#![expect(clippy::disallowed_methods, reason = "the tests act as the agents and the user")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::Timestamp;
use nacre_base::fs::{Access, Owner, WriteScope};
use nacre_engine::model::{
    Amount, AsyncRuntime, Cancel, Control, Cost, Limits, ModelRef, ModelSettings, Models,
    RetryPolicy, RoleSettings, Scripted,
};
use nacre_engine::record::state::{SpentOn, State, StateError};
use nacre_types::{ConnectRequest, WiringOptions};
use tempfile::TempDir;

use crate::connect::connect;
use crate::host::{
    AskRules, Environment, FlowModels, Host, ModelClient, OpenOptions, ProjectModels,
    SpendingLimits,
};

/// Returns a host with a fixed time, a home directory, and no project.
pub(crate) fn host(place: &TempDir) -> Host {
    let now = "2026-11-15T08:30:00Z".parse().unwrap();
    let environment = Environment {
        vars: Vec::new(),
        garbled_vars: Vec::new(),
        folder: place.path().to_owned(),
        is_folder_gone: false,
        home: Some(place.path().to_owned()),
        host: None,
        pid: 1,
        program: None,
        clock: Arc::new(move || now),
        uptime: Arc::new(|| Duration::ZERO),
        random: |_| Ok(()),
    };
    Host::open(environment, &OpenOptions::default()).host.unwrap()
}

pub(crate) struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    /// Creates a home directory with one registered project and one connected trace directory.
    pub(crate) fn new() -> Self {
        let place = Self { dir: tempfile::tempdir().unwrap() };
        for folder in [".nacre", "work/.git", "work/.nacre", "traces"] {
            fs::create_dir_all(place.root().join(folder)).unwrap();
        }
        let project =
            format!("[projects.work]\npath = \"{}\"\n", place.root().join("work").display());
        fs::write(place.root().join(".nacre/projects.toml"), project).unwrap();
        let paths = vec![place.root().join("traces").display().to_string()];
        let request = ConnectRequest::Add {
            agents: vec!["generic".to_owned()],
            paths,
            wiring: WiringOptions::default(),
        };
        connect(&place.host(), &request).unwrap();
        place
    }

    pub(crate) fn root(&self) -> PathBuf {
        fs::canonicalize(self.dir.path()).unwrap()
    }

    /// Returns a host whose clock is late enough for the traces to count as finished.
    pub(crate) fn host(&self) -> Host {
        self.host_at("2099-01-01T00:00:00Z")
    }

    pub(crate) fn host_at(&self, now: &str) -> Host {
        let now = now.parse().unwrap();
        let var = |name: &str, value: &Path| (name.to_owned(), value.display().to_string());
        let environment = Environment {
            vars: vec![var("HOME", &self.root())],
            garbled_vars: Vec::new(),
            folder: self.root().join("work"),
            is_folder_gone: false,
            home: Some(self.root()),
            host: None,
            pid: 7,
            program: None,
            clock: Arc::new(move || now),
            uptime: Arc::new(|| Duration::ZERO),
            random: |bytes| {
                bytes.fill(7);
                Ok(())
            },
        };
        Host::open(environment, &OpenOptions::default()).host.unwrap()
    }

    /// Writes a session with one user message, and returns the path of its trace.
    pub(crate) fn talk(&self, id: &str, said: &str) -> String {
        let cwd = self.root().join("work").display().to_string();
        let text = format!(
            "{{\"type\":\"session\",\"version\":1,\"id\":\"{id}\",\"cwd\":\"{cwd}\"}}\n\
             {{\"type\":\"user\",\"text\":\"{said}\",\"time\":\"2026-11-01T10:00:00Z\"}}\n\
             {{\"type\":\"assistant\",\"text\":\"Done.\",\"time\":\"2026-11-01T10:01:00Z\"}}\n"
        );
        let path = self.root().join(format!("traces/{id}.jsonl"));
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

pub(crate) fn plenty() -> Amount {
    Amount { tokens: 1_000_000, cost: Cost::from_nano_dollars(1_000_000_000) }
}

pub(crate) fn no_limits() -> SpendingLimits {
    SpendingLimits { session: plenty(), day: plenty(), project: plenty() }
}

pub(crate) fn state(home: &tempfile::TempDir) -> State {
    let scope = WriteScope::open(&home.path().canonicalize().unwrap(), Access::Private).unwrap();
    let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
    State::open(&scope, &owner, Duration::from_secs(1)).unwrap()
}

pub(crate) struct TestFlow {
    models: FlowModels,
    rules: AskRules,
}

impl TestFlow {
    pub(crate) fn project(&self) -> ProjectModels<'_> {
        ProjectModels { flow: &self.models, rules: &self.rules }
    }

    pub(crate) fn asker(&self, on: SpentOn, now: Timestamp) -> Result<ModelClient<'_>, StateError> {
        self.project().asker(on, now)
    }
}

pub(crate) fn flow(home: &tempfile::TempDir, script: &str, spending: SpendingLimits) -> TestFlow {
    flow_with(home, script, spending, RoleSettings::of_model(ModelRef::for_script()))
}

pub(crate) fn flow_with(
    home: &tempfile::TempDir,
    script: &str,
    spending: SpendingLimits,
    role: RoleSettings,
) -> TestFlow {
    let models = Models::new(ModelSettings {
        default: Some(role),
        script: Some(Arc::new(Scripted::parse(script).unwrap())),
        ..ModelSettings::default()
    });
    let (policy, limits) = (RetryPolicy::default(), Limits::default());
    let runtime = AsyncRuntime::new().unwrap();
    let control = Control { policy, limits, seed: 1, cancel: Cancel::new() };
    let state = Arc::new(Mutex::new(state(home)));
    let models = FlowModels { models, runtime, control, state };
    TestFlow { models, rules: AskRules { spending, agent_sessions: 20, words: Arc::default() } }
}
