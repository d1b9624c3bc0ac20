//! `nacre memory forget`

use clap::Args;

use super::super::error::{CommandError, Exit};
use super::super::runtime::Runtime;
use super::super::ui::Ui;
use super::{ScopeArg, for_each_id, warn_kept};

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

pub(crate) fn cmd_forget(
    ui: &mut Ui,
    runtime: &Runtime,
    args: &ForgetArgs,
) -> Result<Exit, CommandError> {
    let ForgetArgs { ids, scope } = args;
    for_each_id(ui, "forgot", ids, |ui, id| {
        let scoped = runtime.store_of(ui, scope.mode(), id)?.scoped;
        let full = scoped.store.locate(id)?.id;
        if full.as_str() != id {
            return Err(CommandError::usage(format!("`{id}` is only the start of an id"))
                .hint(format!("nacre memory forget {full}")));
        }
        let mut batch =
            scoped.store.begin(&runtime.owner("memory forget"), runtime.settings().lock.wait)?;
        let id = batch.forget(id, runtime.now())?;
        warn_kept(ui, &batch.commit()?);
        Ok(id)
    })
}
