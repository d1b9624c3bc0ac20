//! `nacre events cancel`

use clap::Args;
use nacre_api::wire::{TaskCancelReport, TaskCancelRequest};
use nacre_ops::{Host, OpError, tasks as ops};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};

/// Cancel a task, whichever process runs it
///
/// A task that waits is over at once. One that runs is ended by its process within seconds, and so is all that it started.
#[derive(Debug, Args)]
pub(crate) struct CancelArgs {
    /// The task's id, or the start of it
    task: String,
}

pub(super) fn cmd_cancel(ui: &mut Ui, host: &Host, args: &CancelArgs) -> Result<Exit, OpError> {
    let CancelArgs { task } = args;
    let report = ops::cancel(host, &TaskCancelRequest { task: task.clone() })?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &TaskCancelReport) -> Result<(), OpError> {
    let TaskCancelReport { task, ended, asked } = report;
    for task in ended {
        ui.line(format!("{} cancelled", ui.paint(Role::Id, task)))?;
    }
    for task in asked {
        ui.line(format!("{} stopping", ui.paint(Role::Id, task)))?;
    }
    if !asked.is_empty() {
        ui.status(format!("See it end: nacre events {task} --follow"))?;
    }
    Ok(())
}
