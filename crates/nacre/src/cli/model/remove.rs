//! `nacre model remove`

use clap::Args;
use nacre_core::search::minilm;
use serde_json::json;

use super::super::exit::Exit;
use super::super::ui::Ui;
use super::Installable;
use nacre_ops::Host;
use nacre_ops::OpError;

/// Take an installed model away
#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// Which model
    model: Installable,
}

pub(crate) fn cmd_remove(ui: &mut Ui, host: &Host, args: &RemoveArgs) -> Result<Exit, OpError> {
    let RemoveArgs { model } = args;
    let name = model.as_str();
    let scope = host.home_scope()?;
    let writer = scope.lock(&host.owner("model remove"), host.settings().lock.wait)?;
    if !minilm::remove(&writer)? {
        return Err(OpError::failed(format!("Model `{name}` is not installed"))
            .hint("`nacre model list` shows what is"));
    }
    if ui.is_json() {
        ui.json(&json!({ "removed": name }))?;
    }
    ui.status(format!("Removed model `{name}`."))?;
    Ok(Exit::Done)
}
