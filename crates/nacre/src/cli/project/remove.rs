//! `nacre project remove`

use clap::Args;
use nacre_core::config::projects;
use serde_json::json;

use super::super::exit::Exit;
use super::super::init::edit_projects;
use super::super::ui::Ui;
use nacre_ops::Host;
use nacre_ops::OpError;

/// Take a project out of the register; its files stay
#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// The project's name
    name: String,
}

pub(crate) fn cmd_remove(ui: &mut Ui, host: &Host, args: &RemoveArgs) -> Result<Exit, OpError> {
    let RemoveArgs { name } = args;
    edit_projects(host, |text, origin| Ok(projects::remove(text, origin, name)?))?;
    if ui.is_json() {
        ui.json(&json!({ "removed": name }))?;
    }
    ui.status(format!("Removed project `{name}` from the register; its files are untouched."))?;
    Ok(Exit::Done)
}
