//! `nacre review reject`

use clap::Args;
use nacre_api::wire::MemoryIdsRequest;
use nacre_ops::{Host, OpError, review as ops};

use super::super::exit::Exit;
use super::super::memory::{ScopeArg, report_changes};
use super::super::ui::Ui;

/// Remove candidates for good
///
/// A hash without text stays behind, so that no later session brings the same claim back.
#[derive(Debug, Args)]
pub(crate) struct RejectArgs {
    /// The candidates' ids, in full
    #[arg(required = true)]
    ids: Vec<String>,
    #[command(flatten)]
    scope: ScopeArg,
}

pub(super) fn cmd_reject(ui: &mut Ui, host: &Host, args: &RejectArgs) -> Result<Exit, OpError> {
    let RejectArgs { ids, scope } = args;
    let request = MemoryIdsRequest { ids: ids.clone(), scope: scope.mode() };
    let report = ops::reject(host, &request, &ui.events())?;
    report_changes(ui, &report)
}
