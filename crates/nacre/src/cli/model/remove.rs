//! `nacre model remove`

use clap::Args;
use nacre_core::search::minilm;
use serde_json::json;

use super::super::error::{CommandError, Exit};
use super::super::runtime::Runtime;
use super::super::ui::Ui;
use super::Installable;

/// Take an installed model away
#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// Which model
    model: Installable,
}

pub(crate) fn cmd_remove(
    ui: &mut Ui,
    runtime: &Runtime,
    args: &RemoveArgs,
) -> Result<Exit, CommandError> {
    let RemoveArgs { model } = args;
    let name = model.as_str();
    let scope = runtime.home_scope()?;
    let writer = scope.lock(&runtime.owner("model remove"), runtime.settings().lock.wait)?;
    if !minilm::remove(&writer)? {
        return Err(CommandError::failed(format!("Model `{name}` is not installed"))
            .hint("`nacre model list` shows what is"));
    }
    if ui.is_json() {
        ui.json(&json!({ "removed": name }))?;
    }
    ui.status(format!("Removed model `{name}`."))?;
    Ok(Exit::Done)
}
