//! `nacre up`: has the server run by itself, by a service manager where one answers, else as a process of its own.

use std::process::Child;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nacre_api::wire::{ErrorCode, ErrorReport, ServiceManager, UpReport, UpRequest, UpState};
use nacre_ops::service::{self, FoundService, Manager, ServiceDefinition};
use nacre_ops::{Host, OpError};
use serde::Deserialize;
use serde_json::Deserializer;

use super::ask;

/// How long a server may take until it answers.
const PATIENCE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(50);

const NEXT: &str = "nacre dashboard";

/// Has the server of this home run, and waits until it answers.
pub fn up(host: &Host, request: &UpRequest) -> Result<UpReport, OpError> {
    let definition = service::definition(host, request.port)?;
    if request.docker {
        return write_compose(host, &definition);
    }
    let manager = service::manager(host).filter(|_| !request.no_unit);
    let running = match ask::health(host)? {
        Some(_) => service::find(host)?,
        None => None,
    };
    let Some(found) = running else {
        return start(host, request, manager.as_ref(), &definition);
    };
    let managing = manager.filter(|manager| service::is_enabled(host, manager));
    if let Some(manager) = &managing {
        // It keeps its port; what else is different needs a new start.
        let port = found.address.rsplit(':').next().and_then(|port| port.parse().ok());
        let definition = ServiceDefinition { port: port.unwrap_or(request.port), ..definition };
        if !service::is_current(host, manager, &definition) {
            let report = start(host, request, Some(manager), &definition)?;
            return Ok(UpReport { state: UpState::Restarted, ..report });
        }
    }
    let report = match request.pause {
        Some(is_paused) => ask::set_paused(&found, is_paused)?,
        None => ask::service_report(&found)?,
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
) -> Result<UpReport, OpError> {
    // The server reads it when it starts.
    if let Some(is_paused) = request.pause {
        service::set_paused(host, is_paused)?;
    }
    let file = match manager {
        Some(manager) => Some(service::enable(host, manager, definition)?),
        None => {
            started(service::start_process(host, definition)?)?;
            None
        }
    };
    let found = wait_for_answer(host)?;
    Ok(UpReport {
        state: UpState::Started,
        manager: Some(manager.map_or(ServiceManager::Process, |manager| manager.kind)),
        paused: ask::service_report(&found)?.paused,
        address: Some(found.address),
        file: file.map(|file| file.display().to_string()),
        next: NEXT.to_owned(),
    })
}

/// What a server prints first.
#[derive(Deserialize)]
#[serde(untagged)]
enum FirstWords {
    Serving {
        #[expect(dead_code, reason = "it tells a server from an error")]
        address: String,
    },
    Failed(ErrorReport),
}

/// Waits until the process says where it serves, or why not.
fn started(mut child: Child) -> Result<(), OpError> {
    let (tell, told) = mpsc::channel();
    if let Some(stdout) = child.stdout.take() {
        thread::spawn(move || {
            let words = Deserializer::from_reader(stdout).into_iter::<FirstWords>().next();
            // Nobody waits any more where it took too long.
            let _ = tell.send(words);
        });
    }
    match told.recv_timeout(PATIENCE) {
        Ok(Some(Ok(FirstWords::Serving { .. }))) => Ok(()),
        Ok(Some(Ok(FirstWords::Failed(ErrorReport { error })))) => Err(error.into()),
        Ok(_) | Err(_) => {
            let _ = child.kill();
            Err(silent())
        }
    }
}

fn wait_for_answer(host: &Host) -> Result<FoundService, OpError> {
    let took = host.stopwatch();
    while took() < PATIENCE {
        if ask::health(host)?.is_some()
            && let Some(found) = service::find(host)?
        {
            return Ok(found);
        }
        thread::sleep(PAUSE);
    }
    Err(silent())
}

fn silent() -> OpError {
    let message = format!("The server did not answer within {} seconds", PATIENCE.as_secs());
    OpError { code: ErrorCode::Unavailable, ..OpError::failed(message) }
        .hint("See why in the foreground: nacre serve")
}

fn write_compose(host: &Host, definition: &ServiceDefinition) -> Result<UpReport, OpError> {
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
