//! `nacre project add`

use std::path::PathBuf;

use clap::Args;
use nacre_api::wire::ProjectAddRequest;
use nacre_ops::text::ShownLine;
use nacre_ops::{Host, OpError, project as ops};

use super::super::exit::Exit;
use super::super::ui::Ui;

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
    let request = ProjectAddRequest { path: path.clone(), name: name.clone() };
    let report = ops::add(host, &request)?;
    ui.report(&report, |ui, report| {
        let place = ShownLine(&report.path);
        ui.status(format!("Registered project `{}` in {place}", report.project))
    })
}
