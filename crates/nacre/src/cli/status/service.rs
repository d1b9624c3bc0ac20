//! The server that runs, and the database that servers share, in `nacre status`.

use nacre_api::wire::{DatabaseStatus, ServiceStatus};
use nacre_ops::OpError;
use nacre_ops::text::ShownLine;

use super::super::ui::{Role, Ui};

pub(super) fn print_service(
    ui: &mut Ui,
    service: Option<&ServiceStatus>,
    database: Option<&DatabaseStatus>,
) -> Result<(), OpError> {
    if let Some(ServiceStatus { address, paused }) = service {
        let state = if *paused { ", paused" } else { "" };
        ui.line(format!("Server http://{}{state}", ShownLine(address)))?;
    }
    match database {
        Some(database) => print_database(ui, database),
        None => Ok(()),
    }
}

fn print_database(ui: &mut Ui, database: &DatabaseStatus) -> Result<(), OpError> {
    let DatabaseStatus { state, since, detail, .. } = database;
    if state.is_usable() {
        return ui.line(format!("Database {}", state.as_str()));
    }
    let why = detail.as_deref().map(|why| format!(": {}", ShownLine(why))).unwrap_or_default();
    let told = format!("Database {} since {since}{why}", state.as_str());
    ui.line(ui.paint(Role::Bad, told))
}
