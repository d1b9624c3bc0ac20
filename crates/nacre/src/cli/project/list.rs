//! `nacre project list`

use clap::Args;
use serde_json::json;

use super::super::exit::Exit;
use super::super::ui::{Role, Ui, shown};
use nacre_ops::Host;
use nacre_ops::OpError;
use nacre_ops::host::STORE_FOLDER;

/// List the registered projects
#[derive(Debug, Args)]
pub(crate) struct ListArgs {}

pub(crate) fn cmd_list(ui: &mut Ui, host: &Host, args: &ListArgs) -> Result<Exit, OpError> {
    let ListArgs {} = args;
    let store_state =
        |path: &std::path::Path| match (path.is_dir(), path.join(STORE_FOLDER).is_dir()) {
            (true, true) => "ready",
            (true, false) => "no store",
            (false, _) => "missing",
        };
    if ui.is_json() {
        let projects: Vec<_> = host
            .projects
            .iter()
            .map(|project| {
                json!({
                    "name": project.name,
                    "path": project.path.display().to_string(),
                    "state": store_state(&project.path),
                })
            })
            .collect();
        ui.json(&json!({ "projects": projects }))?;
        return Ok(Exit::Done);
    }
    let rows: Vec<_> = host
        .projects
        .iter()
        .map(|project| {
            vec![
                (Role::Id, project.name.clone()),
                (Role::Faint, store_state(&project.path).to_owned()),
                (Role::Faint, shown(&project.path)),
            ]
        })
        .collect();
    ui.table(&rows)?;
    if rows.is_empty() {
        ui.status("No projects yet.")?;
        ui.hint("Run `nacre init` inside a repository");
    }
    Ok(Exit::Done)
}
