//! `nacre memory archive`

use clap::Args;

use super::super::exit::Exit;
use super::super::ui::Ui;
use super::{ScopeArg, for_each_id, warn_kept};
use nacre_ops::Host;
use nacre_ops::OpError;

/// Put memories away; `restore` brings them back
#[derive(Debug, Args)]
pub(crate) struct ArchiveArgs {
    /// The memories' ids
    #[arg(required = true)]
    ids: Vec<String>,
    #[command(flatten)]
    scope: ScopeArg,
}

pub(crate) fn cmd_archive(ui: &mut Ui, host: &Host, args: &ArchiveArgs) -> Result<Exit, OpError> {
    let ArchiveArgs { ids, scope } = args;
    for_each_id(ui, "archived", ids, |ui, id| {
        let scoped = host.store_of(&ui.events(), scope.mode(), id)?.scoped;
        let mut batch =
            scoped.store.begin(&host.owner("memory archive"), host.settings().lock.wait)?;
        let id = batch.archive(id, host.now())?;
        warn_kept(ui, &batch.commit()?);
        Ok(id)
    })
}
