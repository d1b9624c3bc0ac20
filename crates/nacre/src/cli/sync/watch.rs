//! `nacre sync --watch`: reads again whenever a trace changes, until Ctrl-C.

use std::thread;
use std::time::Duration;

use nacre_api::wire::{ErrorCode, SyncReport, SyncRequest};
use nacre_ops::{Cancel, Host, OpError, sync as ops};

use super::super::exit::Exit;
use super::super::ui::Ui;
use super::output;

/// How often it is looked for changes: only the sizes and times of files are read.
const PAUSE: Duration = Duration::from_secs(2);

/// How soon Ctrl-C ends a pause.
const TICK: Duration = Duration::from_millis(100);

pub(super) fn watch(ui: &mut Ui, host: &Host, request: &SyncRequest) -> Result<Exit, OpError> {
    let events = ui.cancellable_events();
    ui.status("Watching for new and changed sessions; Ctrl-C ends.")?;
    ui.flush();
    loop {
        match ops::sync(host, request, &events) {
            Ok(report) => print(ui, host, &report)?,
            Err(error) if error.code == ErrorCode::Cancelled => return Ok(Exit::Done),
            // The next pass comes after it.
            Err(error) if error.code == ErrorCode::Busy => {}
            Err(error) => return Err(error),
        }
        if !pause(events.cancel()) {
            return Ok(Exit::Done);
        }
    }
}

/// Tells of a pass that found something.
fn print(ui: &mut Ui, host: &Host, report: &SyncReport) -> Result<(), OpError> {
    if report.read == 0 && report.sessions.is_empty() {
        return Ok(());
    }
    match ui.is_json() {
        true => ui.json_line(report)?,
        false => output::print(ui, host, report)?,
    }
    ui.flush();
    Ok(())
}

/// Waits; `false` where Ctrl-C came.
fn pause(cancel: &Cancel) -> bool {
    let mut left = PAUSE;
    while !left.is_zero() && !cancel.is_cancelled() {
        thread::sleep(TICK);
        left = left.saturating_sub(TICK);
    }
    !cancel.is_cancelled()
}
