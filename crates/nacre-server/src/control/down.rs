//! `nacre down`: stops the server in order, and has it started no more.

use std::thread;
use std::time::Duration;

use nacre_api::wire::{DownReport, ErrorCode};
use nacre_ops::service::{self, FoundService};
use nacre_ops::{Host, OpError};

use super::ask;

/// What runs in the server has time to end: it drains, then cancels.
const PATIENCE: Duration = Duration::from_secs(25);
const PAUSE: Duration = Duration::from_millis(50);

/// Stops the server of this home; one that does not run is down.
pub fn down(host: &Host) -> Result<DownReport, OpError> {
    let manager = service::manager(host).filter(|manager| service::is_enabled(host, manager));
    let found = service::find(host)?;
    let is_running = ask::health(host)?.is_some();
    let report = found.as_ref().map(ask::service_report).and_then(Result::ok);
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
        // One that a service manager stopped already does not answer.
        let asked = ask::stop(&found);
        wait_until_gone(host, &found, &asked, report.map(|report| report.pid))?;
    }
    Ok(DownReport { stopped: is_running, address, disabled })
}

/// Waits until the server took its address away: that is the last thing that it does.
fn wait_until_gone(
    host: &Host,
    found: &FoundService,
    asked: &Result<(), OpError>,
    pid: Option<u32>,
) -> Result<(), OpError> {
    let took = host.stopwatch();
    while took() < PATIENCE {
        let is_same = service::find(host)?.is_some_and(|now| now.address == found.address);
        if !is_same {
            return Ok(());
        }
        // A process that died without a word leaves its address.
        if asked.is_err() && ask::health(host)?.is_none() {
            return Ok(());
        }
        thread::sleep(PAUSE);
    }
    let message = format!("The server has not stopped after {} seconds", PATIENCE.as_secs());
    let error = OpError { code: ErrorCode::Busy, ..OpError::failed(message) };
    Err(match pid {
        Some(pid) => error.hint(format!("End it; nothing is lost: kill -9 {pid}")),
        None => error.hint("`nacre logs` shows what it does"),
    })
}
