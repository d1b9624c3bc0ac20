//! Starts, queries and stops this home's server from another process. Requests go to the socket, or
//! to the local port with the token, but never to another machine.

use std::process::Child;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nacre_ops::service::{FoundService, Manager, ServiceDefinition};
use nacre_ops::{Host, OpError, Result, service};
use nacre_types::{
    DownReport, ErrorCode, ErrorReport, HealthReport, HookReport, HookRequest, LoopName,
    ServiceManager, ServiceReport, UpReport, UpRequest, UpState, WakeRequest,
};
use serde_json::{Deserializer, Value};

use crate::client::{Client, ClientError};

const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// Short, because an agent may be waiting for a hook.
const WAKE_TIMEOUT: Duration = Duration::from_millis(50);

/// Returns the server's health, or `None` if the server does not respond.
pub fn health(host: &Host) -> Result<Option<HealthReport>> {
    let found = service::find(host)?;
    // A killed server leaves its address file behind.
    Ok(found.and_then(|found| client(&found).get("/api/health", &()).ok()))
}

/// Wakes the given loops. Returns `false` if the server does not respond.
pub fn wake(found: &FoundService, loops: &[LoopName]) -> bool {
    let client = Client::new(found.clone()).with_timeout(WAKE_TIMEOUT);
    let request = WakeRequest { loops: loops.to_vec() };
    client.post::<ServiceReport>("/api/service/wake", &request).is_ok()
}

pub fn ask_hook(
    found: &FoundService,
    request: &HookRequest,
    timeout: Duration,
) -> Result<HookReport> {
    let client = Client::new(found.clone()).with_timeout(timeout);
    client.post("/api/hook", request).map_err(failure)
}

fn service_report(found: &FoundService) -> Result<ServiceReport> {
    client(found).get("/api/service", &()).map_err(failure)
}

fn client(found: &FoundService) -> Client {
    Client::new(found.clone()).with_timeout(ANSWER_TIMEOUT)
}

fn failure(error: ClientError) -> OpError {
    error.or_hint("`nacre logs` shows its log; `nacre up` starts a server")
}

const START_TIMEOUT: Duration = Duration::from_secs(20);
const STOP_TIMEOUT: Duration = Duration::from_secs(25);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

const NEXT: &str = "nacre dashboard";

/// Starts the server, and waits until it responds.
pub fn up(host: &Host, request: &UpRequest) -> Result<UpReport> {
    let definition = service::definition(host, request.port)?;
    if request.docker {
        return write_compose(host, &definition);
    }
    let manager = service::manager(host).filter(|_| !request.no_unit);
    let running = if health(host)?.is_some() { service::find(host)? } else { None };
    let Some(found) = running else {
        return start(host, request, manager.as_ref(), &definition);
    };
    let managing = manager.filter(|manager| service::is_enabled(host, manager));
    if let Some(manager) = &managing {
        // A running server keeps its port. Any other change to the service definition needs a
        // restart.
        let port = found.address.rsplit(':').next().and_then(|port| port.parse().ok());
        let definition = ServiceDefinition { port: port.unwrap_or(request.port), ..definition };
        if !service::is_current(host, manager, &definition) {
            let report = start(host, request, Some(manager), &definition)?;
            return Ok(UpReport { state: UpState::Restarted, ..report });
        }
    }
    let report = match request.pause {
        Some(is_paused) => {
            let path = if is_paused { "/api/service/pause" } else { "/api/service/resume" };
            client(&found).post(path, &()).map_err(failure)?
        }
        None => service_report(&found)?,
    };
    Ok(UpReport {
        state: UpState::Running,
        manager: managing.map(|manager| manager.kind),
        address: Some(found.address),
        paused: report.paused,
        file: None,
        next: NEXT.to_owned(),
    })
}

fn start(
    host: &Host,
    request: &UpRequest,
    manager: Option<&Manager>,
    definition: &ServiceDefinition,
) -> Result<UpReport> {
    // The server reads this setting at startup.
    if let Some(is_paused) = request.pause {
        service::set_paused(host, is_paused)?;
    }
    let file = match manager {
        Some(manager) => Some(service::enable(host, manager, definition)?),
        None => {
            wait_until_started(service::start_process(host, definition)?)?;
            None
        }
    };
    let found = wait_for_answer(host)?;
    Ok(UpReport {
        state: UpState::Started,
        manager: Some(manager.map_or(ServiceManager::Process, |manager| manager.kind)),
        paused: service_report(&found)?.paused,
        address: Some(found.address),
        file: file.map(|file| file.display().to_string()),
        next: NEXT.to_owned(),
    })
}

fn wait_until_started(mut child: Child) -> Result<()> {
    let (tell, told) = mpsc::channel();
    if let Some(stdout) = child.stdout.take() {
        thread::spawn(move || {
            let words = Deserializer::from_reader(stdout).into_iter::<Value>().next();
            // Sending fails only if the receiver was dropped after the timeout.
            let _ = tell.send(words);
        });
    }
    let words = match told.recv_timeout(START_TIMEOUT) {
        Ok(Some(Ok(words))) => words,
        Ok(_) | Err(_) => Value::Null,
    };
    if words.get("address").is_some() {
        return Ok(());
    }
    if let Ok(ErrorReport { error }) = serde_json::from_value(words) {
        return Err(error.into());
    }
    let _ = child.kill();
    Err(no_answer())
}

fn wait_for_answer(host: &Host) -> Result<FoundService> {
    let took = host.stopwatch();
    while took() < START_TIMEOUT {
        if health(host)?.is_some()
            && let Some(found) = service::find(host)?
        {
            return Ok(found);
        }
        thread::sleep(POLL_INTERVAL);
    }
    Err(no_answer())
}

fn no_answer() -> OpError {
    let message = format!("The server did not respond within {} seconds", START_TIMEOUT.as_secs());
    OpError::new(ErrorCode::Unavailable, message)
        .hint("To see the cause, run it in the foreground: nacre serve")
}

fn write_compose(host: &Host, definition: &ServiceDefinition) -> Result<UpReport> {
    let image = concat!("nacre:", env!("CARGO_PKG_VERSION"));
    let file = service::write_compose(host, definition, image)?.display().to_string();
    Ok(UpReport {
        state: UpState::Written,
        manager: Some(ServiceManager::Docker),
        address: None,
        paused: service::is_paused(host)?,
        next: format!("docker compose -f {file} up -d"),
        file: Some(file),
    })
}

pub fn down(host: &Host) -> Result<DownReport> {
    let manager = service::manager(host).filter(|manager| service::is_enabled(host, manager));
    let found = service::find(host)?;
    let is_running = health(host)?.is_some();
    let report = found.as_ref().map(service_report).and_then(Result::ok);
    let disabled = match &manager {
        Some(manager) => {
            let user = service::definition(host, 0)?.user;
            service::disable(host, manager, user)?;
            Some(manager.kind)
        }
        None => None,
    };
    let address = found.as_ref().map(|found| found.address.clone()).filter(|_| is_running);
    if let Some(found) = found.filter(|_| is_running) {
        // The server may already be stopped by the service manager, or may exit before it responds.
        let asked = client(&found).post("/api/service/stop", &()).map_err(failure);
        wait_until_gone(host, &found, &asked, report.map(|report| report.pid))?;
    }
    Ok(DownReport { stopped: is_running, address, disabled })
}

/// Waits until the server has removed its address file, which is the last step of its shutdown.
fn wait_until_gone(
    host: &Host,
    found: &FoundService,
    asked: &Result<()>,
    pid: Option<u32>,
) -> Result<()> {
    let took = host.stopwatch();
    while took() < STOP_TIMEOUT {
        let is_same = service::find(host)?.is_some_and(|now| now.address == found.address);
        if !is_same {
            return Ok(());
        }
        // A crashed process leaves its address file behind.
        if asked.is_err() && health(host)?.is_none() {
            return Ok(());
        }
        thread::sleep(POLL_INTERVAL);
    }
    let message = format!("The server has not stopped after {} seconds", STOP_TIMEOUT.as_secs());
    let hint = match pid {
        Some(pid) => format!("To end it without losing data: kill -9 {pid}"),
        None => "`nacre logs` shows what it is doing".to_owned(),
    };
    Err(OpError::new(ErrorCode::Busy, message).hint(hint))
}
