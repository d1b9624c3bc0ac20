//! `nacre review accept`

use clap::Args;
use nacre_api::wire::{ReviewAcceptRequest, ReviewListRequest};
use nacre_ops::{Host, OpError, review as ops};

use super::super::exit::Exit;
use super::super::memory::{ScopeArg, report_changes};
use super::super::ui::Ui;

/// Make candidates active
#[derive(Debug, Args)]
pub(crate) struct AcceptArgs {
    /// The candidates' ids
    #[arg(required_unless_present = "all")]
    ids: Vec<String>,
    /// All candidates
    #[arg(long, conflicts_with_all = ["ids", "supersedes"])]
    all: bool,
    /// The id of the memory that the candidate supersedes
    #[arg(long, value_name = "ID")]
    supersedes: Option<String>,
    #[command(flatten)]
    scope: ScopeArg,
}

pub(super) fn cmd_accept(ui: &mut Ui, host: &Host, args: &AcceptArgs) -> Result<Exit, OpError> {
    let AcceptArgs { ids, all, supersedes, scope } = args;
    let (mut ids, supersedes, scope) = (ids.clone(), supersedes.clone(), scope.mode());
    if *all {
        let waiting = ops::list(host, &ReviewListRequest { limit: Some(0), scope })?;
        ids.extend(waiting.candidates.into_iter().map(|candidate| candidate.memory.id));
    }
    if ids.is_empty() {
        ui.status("Nothing waits for review.")?;
        return Ok(Exit::Done);
    }
    let request = ReviewAcceptRequest { ids, supersedes, scope };
    let report = ops::accept(host, &request, &ui.events())?;
    report_changes(ui, &report)
}
