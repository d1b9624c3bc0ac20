//! `nacre index rebuild`

use clap::Args;
use nacre_api::wire::IndexRebuildRequest;
use nacre_ops::{Host, OpError, index as ops};

use super::super::exit::Exit;
use super::super::memory::{ScopeArg, counted};
use super::super::ui::Ui;

/// Build the index anew from the memories
#[derive(Debug, Args)]
pub(crate) struct RebuildArgs {
    #[command(flatten)]
    scope: ScopeArg,
}

pub(crate) fn cmd_rebuild(ui: &mut Ui, host: &Host, args: &RebuildArgs) -> Result<Exit, OpError> {
    let events = ui.events();
    events.step("Indexing memories");
    let request = IndexRebuildRequest { scope: args.scope.mode() };
    let report = ops::rebuild(host, &request, &ui.events())?;
    drop(events);
    ui.report(&report, |ui, report| {
        report.indexes.iter().try_for_each(|index| {
            let (records, scope) = (counted(index.records), index.scope.as_str());
            ui.status(format!("Indexed {records} ({scope})"))
        })
    })
}
