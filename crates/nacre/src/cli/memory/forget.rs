//! `nacre memory forget`

use clap::Args;
use nacre_api::wire::MemoryIdsRequest;
use nacre_ops::{Host, OpError, memory as ops};

use super::super::exit::Exit;
use super::super::ui::Ui;
use super::ScopeArg;
use super::output::report_changes;

/// Remove memories for good
///
/// The file, its evidence and its counters are removed, and other memories no longer name it. A
/// hash without text stays behind, so that the same claim does not come back by itself. Commits
/// that hold the memory stay in git's history.
#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    /// The memories' ids, in full
    #[arg(required = true)]
    ids: Vec<String>,
    #[command(flatten)]
    scope: ScopeArg,
}

pub(crate) fn cmd_forget(ui: &mut Ui, host: &Host, args: &ForgetArgs) -> Result<Exit, OpError> {
    let ForgetArgs { ids, scope } = args;
    let request = MemoryIdsRequest { ids: ids.clone(), scope: scope.mode() };
    let report = ops::forget(host, &request, &ui.events())?;
    report_changes(ui, &report)
}
