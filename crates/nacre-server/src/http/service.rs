//! The server about itself: what it does by itself, paused and resumed, woken and stopped.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use http::{Response, StatusCode};
use nacre_api::wire::{
    ChangedThing, DatabaseStatus, ErrorCode, HealthReport, LoopName, ServiceReport, WakeRequest,
};
use nacre_ops::host::{Environment, OpenOptions, Tolerance};
use nacre_ops::service::{self as ops, LogLevel};
use nacre_ops::{Cancel, Host, OpError};
use serde_json::Value;

use super::body::Body;
use super::guard::Refusal;
use super::hub::Source;
use super::metrics::{self, Measured};
use super::route::Done;
use super::tasks::TaskRunner;
use crate::daemon::{Daemon, DatabaseWatch, Driver, LoopWork, Runner};

/// What the server says and changes about itself.
pub(super) struct Service {
    environment: Environment,
    address: SocketAddr,
    started: String,
    /// None where it was told to do nothing by itself.
    daemon: Option<Arc<Daemon>>,
    /// None where no database is shared.
    database: Option<Arc<DatabaseWatch>>,
    stop: Cancel,
}

impl Service {
    /// The service of a server that listens at `address`; with loops, unless none are wanted.
    pub(super) fn new(
        environment: &Environment,
        address: SocketAddr,
        stop: Cancel,
        has_loops: bool,
    ) -> Result<Self, OpError> {
        let host = open(environment)?;
        let is_paused = ops::is_paused(&host)?;
        let database = host.has_database().then(|| DatabaseWatch::new(environment.clone()));
        let daemon = has_loops.then(|| Daemon::new(environment.clone(), is_paused));
        let started = environment.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        Ok(Self { environment: environment.clone(), address, started, daemon, database, stop })
    }

    /// Runs the loops until the server stops.
    pub(super) fn start(&self, tasks: &TaskRunner) {
        if let Some(database) = &self.database {
            let (calls, daemon) = (Arc::clone(&tasks.calls), self.daemon.clone());
            tokio::spawn(Arc::clone(database).run(calls, daemon, self.stop.clone()));
        }
        let Some(daemon) = &self.daemon else { return };
        let hub = Arc::clone(&tasks.hub);
        let driver = Driver {
            daemon: Arc::clone(daemon),
            calls: Arc::clone(&tasks.calls),
            runner: runner(tasks.clone()),
            publish: Arc::new(move |what| hub.publish_change(&Source::default(), what)),
        };
        tokio::spawn(driver.run(self.stop.clone()));
    }

    /// That the server answers, whatever else does not.
    pub(super) fn health(&self) -> HealthReport {
        HealthReport {
            status: "ok".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            database: self.database_status().map(|status| status.state),
        }
    }

    /// The same where every request can be answered.
    pub(super) fn ready(&self) -> Result<HealthReport, Refusal> {
        let is_ready = match &self.database {
            Some(watch) => watch.status().is_some_and(|status| status.state.is_usable()),
            None => true,
        };
        if is_ready {
            return Ok(self.health());
        }
        let (status, message) = (StatusCode::SERVICE_UNAVAILABLE, "The database does not answer");
        Err(Refusal::new(status, ErrorCode::DatabaseAway, message))
    }

    /// The server in numbers: calls that were begun and that run, and who listens.
    pub(super) fn metrics(&self, calls: (u64, usize), listeners: usize) -> Response<Body> {
        metrics::answer(&Measured {
            calls_begun: calls.0,
            calls_running: calls.1,
            listeners,
            is_paused: self.daemon.as_ref().is_some_and(|daemon| daemon.is_paused()),
            database: self.database_status(),
            of_database: self.database.as_ref().and_then(|watch| watch.metrics()),
        })
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

    /// Pauses or resumes the loops, for this server and the next one.
    pub(super) fn set_paused(&self, is_paused: bool) -> Result<ChangedThing, OpError> {
        let daemon = self.daemon()?;
        ops::set_paused(&open(&self.environment)?, is_paused)?;
        daemon.set_paused(is_paused);
        let event = if is_paused { "paused" } else { "resumed" };
        ops::log(&self.environment, LogLevel::Info, event, &[]);
        Ok(ChangedThing::Service)
    }

    /// Has loops run soon: the sync where none is named.
    pub(super) fn wake(&self, body: Value) -> Result<ChangedThing, OpError> {
        let asked: Option<WakeRequest> = serde_json::from_value(body)
            .map_err(|error| OpError::usage(format!("The request makes no sense: {error}")))?;
        let WakeRequest { mut loops } = asked.unwrap_or_default();
        if loops.is_empty() {
            loops.push(LoopName::Sync);
        }
        self.daemon()?.wake(&loops);
        Ok(ChangedThing::Service)
    }

    /// Stops the server in order, once the answer is out.
    pub(super) fn stop(&self) -> Response<Body> {
        ops::log(&self.environment, LogLevel::Info, "asked to stop", &[]);
        self.stop.cancel();
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NO_CONTENT;
        response
    }

    /// Writes down a request that failed by the server's fault.
    pub(super) fn log_failed(&self, method: &str, path: &str, status: StatusCode) {
        let environment = self.environment.clone();
        let (method, path) = (method.to_owned(), path.to_owned());
        tokio::task::spawn_blocking(move || {
            let status = status.as_u16().to_string();
            let fields = [("method", &*method), ("path", &*path), ("status", &*status)];
            ops::log(&environment, LogLevel::Error, "request failed", &fields);
        });
    }

    fn daemon(&self) -> Result<&Daemon, OpError> {
        self.daemon.as_deref().ok_or_else(|| OpError {
            code: ErrorCode::Conflict,
            ..OpError::failed(
                "This server does nothing by itself: it was started with `--no-loops`",
            )
        })
    }
}

/// Runs the work of a loop as a task, and hands on what the task's own report does not say.
fn runner(tasks: TaskRunner) -> Runner {
    Arc::new(move |info, work: LoopWork| {
        let tasks = tasks.clone();
        let result = Arc::new(Mutex::new(None));
        let kept = Arc::clone(&result);
        Box::pin(async move {
            let work = Box::new(move |call: &_| {
                let done = work(call)?;
                let (json, outcome) = (done.json.clone(), done.outcome);
                *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
                Ok(Done { json, outcome, version: None })
            });
            tasks.wait(info, work).await?;
            let result = result.lock().unwrap_or_else(PoisonError::into_inner).take();
            result.ok_or_else(|| OpError::failed("The loop ended without a result"))
        })
    })
}

fn open(environment: &Environment) -> Result<Host, OpError> {
    let options = OpenOptions { tolerance: Tolerance::Mistakes, ..OpenOptions::default() };
    Host::open(environment.clone(), &options).host
}
