//! Controls the service: pauses, wakes and stops its background loops, and reports its database
//! status and metrics.

use std::net::SocketAddr;

use nacre_ops::host::{OpenOptions, Tolerance};
use nacre_ops::service::{self as ops, LogLevel};
use nacre_types::{
    DatabaseState, DatabaseStatus, HealthReport, LoopName, ServiceReport, WakeRequest,
};

use super::answer::Refusal;
use super::loops::LoopRunner;
use super::tasks::TaskRunner;
use crate::daemon::{Daemon, DatabaseWatch};
use crate::prelude::*;

pub(super) struct Service {
    environment: Environment,
    address: SocketAddr,
    started: String,
    /// `None` if background loops are disabled.
    daemon: Option<Arc<Daemon>>,
    /// `None` if there is no shared database.
    database: Option<Arc<DatabaseWatch>>,
    stop: Cancel,
}

impl Service {
    pub(super) fn new(
        environment: &Environment,
        address: SocketAddr,
        stop: &Cancel,
        has_loops: bool,
    ) -> Result<Self> {
        let host = open(environment)?;
        let is_paused = ops::is_paused(&host)?;
        let database = host.has_database().then(|| DatabaseWatch::new(environment.clone()));
        let daemon = has_loops.then(|| Daemon::new(environment.clone(), is_paused));
        let started = environment.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let stop = stop.clone();
        Ok(Self { environment: environment.clone(), address, started, daemon, database, stop })
    }

    pub(super) fn start(&self, tasks: &TaskRunner) {
        if let Some(database) = &self.database {
            let (calls, daemon) = (Arc::clone(&tasks.calls), self.daemon.clone());
            tokio::spawn(Arc::clone(database).run(calls, daemon, self.stop.clone()));
        }
        if let Some(daemon) = self.daemon.clone() {
            let loops = LoopRunner { daemon, tasks: tasks.clone() };
            tokio::spawn(loops.run(self.stop.clone()));
        }
    }

    /// The health report is available even if the database is not.
    pub(super) fn health(&self) -> HealthReport {
        HealthReport {
            status: "ok".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            database: self.database_status().map(|status| status.state),
        }
    }

    /// Returns the server's health, or an error if the server cannot serve some requests.
    pub(super) fn ready(&self) -> Result<HealthReport, Refusal> {
        let is_ready = match &self.database {
            Some(watch) => watch.status().is_some_and(|status| status.state.is_usable()),
            None => true,
        };
        if is_ready {
            return Ok(self.health());
        }
        let (status, message) = (StatusCode::SERVICE_UNAVAILABLE, "The database does not respond");
        Err(Refusal::new(status, ErrorCode::DatabaseAway, message))
    }

    pub(super) fn metrics(&self, begun: u64, running: usize, listeners: usize) -> Response {
        let version = format!("{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"));
        let is_paused = self.daemon.as_ref().is_some_and(|daemon| daemon.is_paused());
        let mut text = family("info", "gauge", "The version of this server.", &[(&version, 1)]);
        text += &family("calls_total", "counter", "Calls that were started.", &[("", begun)]);
        text +=
            &gauge("calls_running", "Calls and turns that are running or queued.", running as u64);
        text += &gauge("listeners", "Clients that listen for events.", listeners as u64);
        text += &gauge("paused", "Whether the loops are paused.", u64::from(is_paused));
        if let Some(status) = self.database_status() {
            let labels = DatabaseState::ALL.map(|state| format!("{{state=\"{state}\"}}"));
            let is_in = DatabaseState::ALL.map(|state| u64::from(status.state == state));
            let values: Vec<(&str, u64)> = labels.iter().map(String::as_str).zip(is_in).collect();
            text +=
                &family("database_state", "gauge", "The state of the shared database.", &values);
            let is_leader = u64::from(status.is_leader);
            text += &gauge("database_leader", "Whether this server is the leader.", is_leader);
        }
        ([(CONTENT_TYPE, METRICS_TYPE)], text).into_response()
    }

    fn database_status(&self) -> Option<DatabaseStatus> {
        self.database.as_ref().and_then(|watch| watch.status())
    }

    pub(super) fn report(&self, listeners: usize) -> ServiceReport {
        ServiceReport {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started: self.started.clone(),
            address: self.address.to_string(),
            pid: self.environment.pid,
            paused: self.daemon.as_ref().is_some_and(|daemon| daemon.is_paused()),
            listeners,
            database: self.database_status(),
            loops: self.daemon.as_ref().map_or_else(Vec::new, |daemon| daemon.entries()),
        }
    }

    /// Pauses or resumes the loops. The setting persists across restarts.
    pub(super) fn set_paused(&self, is_paused: bool) -> Result<()> {
        let daemon = self.daemon()?;
        ops::set_paused(&open(&self.environment)?, is_paused)?;
        daemon.set_paused(is_paused);
        let event = if is_paused { "paused" } else { "resumed" };
        ops::log(&self.environment, LogLevel::Info, event, &[]);
        Ok(())
    }

    /// Wakes the given loops, or the sync loop if none are given.
    pub(super) fn wake(&self, request: WakeRequest) -> Result<()> {
        let WakeRequest { mut loops } = request;
        if loops.is_empty() {
            loops.push(LoopName::Sync);
        }
        self.daemon()?.wake(&loops);
        Ok(())
    }

    /// Stops the server after the response has been sent.
    pub(super) fn stop(&self) {
        ops::log(&self.environment, LogLevel::Info, "asked to stop", &[]);
        self.stop.cancel();
    }

    pub(super) fn log_failed(&self, method: &str, path: &str, status: StatusCode) {
        let environment = self.environment.clone();
        let (method, path) = (method.to_owned(), path.to_owned());
        tokio::task::spawn_blocking(move || {
            let status = status.as_u16().to_string();
            let fields = [("method", &*method), ("path", &*path), ("status", &*status)];
            ops::log(&environment, LogLevel::Error, "request failed", &fields);
        });
    }

    fn daemon(&self) -> Result<&Daemon> {
        self.daemon.as_deref().ok_or_else(|| {
            let message = "Background loops are disabled: the server was started with `--no-loops`";
            OpError::new(ErrorCode::Conflict, message)
        })
    }
}

fn open(environment: &Environment) -> Result<Host> {
    let options = OpenOptions { tolerance: Tolerance::Mistakes, ..OpenOptions::default() };
    Host::open(environment.clone(), &options).host
}

const METRICS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

fn family(name: &str, kind: &str, help: &str, values: &[(&str, u64)]) -> String {
    let mut text = format!("# HELP nacre_{name} {help}\n# TYPE nacre_{name} {kind}\n");
    for (labels, value) in values {
        text.push_str(&format!("nacre_{name}{labels} {value}\n"));
    }
    text
}

fn gauge(name: &str, help: &str, value: u64) -> String {
    family(name, "gauge", help, &[("", value)])
}
