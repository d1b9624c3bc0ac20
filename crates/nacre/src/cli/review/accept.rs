//! `nacre review accept`

use clap::Args;
use nacre_api::wire::ReviewAcceptRequest;
use nacre_ops::{Host, OpError, review as ops};

use super::super::exit::Exit;
use super::super::memory::{ScopeArg, report_changes};
use super::super::ui::Ui;

/// Make candidates active
#[derive(Debug, Args)]
pub(crate) struct AcceptArgs {
    /// The candidates' ids
    #[arg(required = true)]
    ids: Vec<String>,
    /// The id of the memory that the candidate supersedes
    #[arg(long, value_name = "ID")]
    supersedes: Option<String>,
    #[command(flatten)]
    scope: ScopeArg,
}

pub(super) fn cmd_accept(ui: &mut Ui, host: &Host, args: &AcceptArgs) -> Result<Exit, OpError> {
    let AcceptArgs { ids, supersedes, scope } = args;
    let (ids, supersedes) = (ids.clone(), supersedes.clone());
    let request = ReviewAcceptRequest { ids, supersedes, scope: scope.mode() };
    let report = ops::accept(host, &request, &ui.events())?;
    report_changes(ui, &report)
}
