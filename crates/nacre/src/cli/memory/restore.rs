//! `nacre memory restore`

use clap::Args;

use super::super::exit::Exit;
use super::super::ui::Ui;
use super::{ScopeArg, for_each_id, warn_kept};
use nacre_ops::Host;
use nacre_ops::OpError;

/// Bring archived memories back
#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// The memories' ids
    #[arg(required = true)]
    ids: Vec<String>,
    #[command(flatten)]
    scope: ScopeArg,
}

pub(crate) fn cmd_restore(ui: &mut Ui, host: &Host, args: &RestoreArgs) -> Result<Exit, OpError> {
    let RestoreArgs { ids, scope } = args;
    for_each_id(ui, "restored", ids, |ui, id| {
        let scoped = host.store_of(&ui.events(), scope.mode(), id)?.scoped;
        let mut batch =
            scoped.store.begin(&host.owner("memory restore"), host.settings().lock.wait)?;
        let id = batch.restore(id, host.now())?;
        warn_kept(ui, &batch.commit()?);
        Ok(id)
    })
}
