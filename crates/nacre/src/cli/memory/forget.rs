//! `nacre memory forget`

use clap::Args;

use super::super::exit::Exit;
use super::super::ui::Ui;
use super::{ScopeArg, for_each_id, warn_kept};
use nacre_ops::Host;
use nacre_ops::OpError;

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
    for_each_id(ui, "forgot", ids, |ui, id| {
        let scoped = host.store_of(&ui.events(), scope.mode(), id)?.scoped;
        let full = scoped.store.locate(id)?.id;
        if full.as_str() != id {
            return Err(OpError::usage(format!("`{id}` is only the start of an id"))
                .hint(format!("nacre memory forget {full}")));
        }
        let mut batch =
            scoped.store.begin(&host.owner("memory forget"), host.settings().lock.wait)?;
        let id = batch.forget(id, host.now())?;
        warn_kept(ui, &batch.commit()?);
        Ok(id)
    })
}
