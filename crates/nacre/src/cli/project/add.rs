//! `nacre project add`

use std::path::PathBuf;

use clap::Args;
use nacre_core::config::projects;
use serde_json::json;

use super::super::exit::Exit;
use super::super::init::add_project;
use super::super::ui::{Ui, shown};
use nacre_ops::Host;
use nacre_ops::OpError;

/// Register a repository
///
/// `nacre init` does this too. Traces that are found later belong to the registered project with
/// the longest path around them.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// The repository's folder
    path: PathBuf,
    /// Its name [default: the folder's name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

pub(crate) fn cmd_add(ui: &mut Ui, host: &Host, args: &AddArgs) -> Result<Exit, OpError> {
    let AddArgs { path, name } = args;
    let root = host.environment.absolute(path);
    if !root.is_dir() {
        return Err(OpError::failed(format!("`{}` is not a folder", root.display()))
            .hint("Give the repository's folder: nacre project add PATH"));
    }
    let known = host.projects.iter().find(|project| project.path == root);
    let name = match (name, known) {
        (Some(name), _) => name.clone(),
        (None, Some(known)) => known.name.clone(),
        (None, None) => projects::name_for(&root, &host.projects),
    };
    add_project(host, &name, &root)?;
    if ui.is_json() {
        ui.json(&json!({ "project": name, "path": root.display().to_string() }))?;
    }
    ui.status(format!("Registered project `{name}` in {}", shown(&root)))?;
    Ok(Exit::Done)
}
