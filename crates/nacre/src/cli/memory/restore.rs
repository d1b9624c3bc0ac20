//! `nacre memory restore`

use clap::Args;

use super::super::error::{CommandError, Exit};
use super::super::runtime::Runtime;
use super::super::ui::Ui;
use super::{ScopeArg, for_each_id, warn_kept};

/// Bring archived memories back
#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// The memories' ids
    #[arg(required = true)]
    ids: Vec<String>,
    #[command(flatten)]
    scope: ScopeArg,
}

pub(crate) fn cmd_restore(
    ui: &mut Ui,
    runtime: &Runtime,
    args: &RestoreArgs,
) -> Result<Exit, CommandError> {
    let RestoreArgs { ids, scope } = args;
    for_each_id(ui, "restored", ids, |ui, id| {
        let scoped = runtime.store_of(ui, scope.mode(), id)?.scoped;
        let mut batch =
            scoped.store.begin(&runtime.owner("memory restore"), runtime.settings().lock.wait)?;
        let id = batch.restore(id, runtime.now())?;
        warn_kept(ui, &batch.commit()?);
        Ok(id)
    })
}
