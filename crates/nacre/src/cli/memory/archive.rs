//! `nacre memory archive`

use clap::Args;

use super::super::error::{CommandError, Exit};
use super::super::runtime::Runtime;
use super::super::ui::Ui;
use super::{ScopeArg, for_each_id, warn_kept};

/// Put memories away; `restore` brings them back
#[derive(Debug, Args)]
pub(crate) struct ArchiveArgs {
    /// The memories' ids
    #[arg(required = true)]
    ids: Vec<String>,
    #[command(flatten)]
    scope: ScopeArg,
}

pub(crate) fn cmd_archive(
    ui: &mut Ui,
    runtime: &Runtime,
    args: &ArchiveArgs,
) -> Result<Exit, CommandError> {
    let ArchiveArgs { ids, scope } = args;
    for_each_id(ui, "archived", ids, |ui, id| {
        let scoped = runtime.store_of(ui, scope.mode(), id)?.scoped;
        let mut batch =
            scoped.store.begin(&runtime.owner("memory archive"), runtime.settings().lock.wait)?;
        let id = batch.archive(id, runtime.now())?;
        warn_kept(ui, &batch.commit()?);
        Ok(id)
    })
}
