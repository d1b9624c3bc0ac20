//! `nacre retry` and what it shares with `nacre skip`.

use clap::Args;
use nacre_api::wire::{QueueChangeReport, QueueChangeRequest};
use nacre_ops::{Host, OpError, queue as ops};

use super::exit::Exit;
use super::ui::{Role, Ui};

/// Put dead or skipped sessions back into the queue
#[derive(Debug, Args)]
pub(crate) struct RetryArgs {
    #[command(flatten)]
    which: Which,
}

/// Which sessions are meant.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Which {
    /// The start of a session's id, as `nacre queue` shows it
    id: Option<String>,
    /// All of them
    #[arg(long)]
    all: bool,
}

impl Which {
    pub(super) fn request(&self) -> QueueChangeRequest {
        QueueChangeRequest { id: self.id.clone(), all: self.all }
    }
}

pub(crate) fn cmd_retry(ui: &mut Ui, host: &Host, args: &RetryArgs) -> Result<Exit, OpError> {
    ui.report(&ops::retry(host, &args.which.request())?, print)
}

/// Says what became of the sessions.
pub(super) fn print(ui: &mut Ui, report: &QueueChangeReport) -> Result<(), OpError> {
    let QueueChangeReport { done, ids } = report;
    for id in ids {
        ui.status(format!("{} {}", ui.paint(Role::Id, id), done.as_str()))?;
    }
    if ids.is_empty() {
        ui.status("Nothing to do.")?;
    }
    Ok(())
}
