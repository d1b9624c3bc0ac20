//! `nacre config path`

use clap::Args;
use nacre_core::config::NACRE_CONFIG;
use serde_json::json;

use super::super::exit::Exit;
use super::super::ui::{Role, Ui, shown};
use nacre_ops::Host;
use nacre_ops::OpError;
use nacre_ops::host::STORE_FOLDER;

/// Show the configuration files, in the order they are read
#[derive(Debug, Args)]
pub(crate) struct PathArgs {}

pub(crate) fn cmd_path(ui: &mut Ui, host: &Host, args: &PathArgs) -> Result<Exit, OpError> {
    let PathArgs {} = args;
    let mut files = vec![("home", host.home()?.join("config.toml"))];
    if let Some(project) = &host.project {
        files.push(("repo", project.path.join(STORE_FOLDER).join("config.toml")));
    }
    if let Some(file) = host.environment.var(NACRE_CONFIG) {
        files.push(("file", host.environment.absolute(file.as_ref())));
    }
    if ui.is_json() {
        let files: Vec<_> = files
            .iter()
            .map(|(layer, path)| json!({ "layer": layer, "path": path.display().to_string(), "exists": path.is_file() }))
            .collect();
        ui.json(&json!({ "files": files }))?;
        return Ok(Exit::Done);
    }
    let rows: Vec<_> = files
        .iter()
        .map(|(layer, path)| {
            let note = if path.is_file() { "" } else { "(not there)" };
            vec![
                (Role::Faint, (*layer).to_owned()),
                (Role::Id, shown(path)),
                (Role::Faint, note.to_owned()),
            ]
        })
        .collect();
    ui.table(&rows)?;
    Ok(Exit::Done)
}
