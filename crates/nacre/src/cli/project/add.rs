//! `nacre project add`

use std::path::PathBuf;

use clap::Args;
use nacre_api::wire::ProjectAddRequest;
use nacre_ops::{Host, OpError, project as ops};

use super::super::exit::Exit;
use super::super::init::print;
use super::super::memory::print_undo;
use super::super::ui::Ui;

/// Prepare the repository at a path for memory
///
/// Does what `nacre init` does in the folder itself: makes `.nacre/`, registers the project and looks
/// for its sessions. A session belongs to the registered project with the longest path around it.
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
        print(ui, &report.prepared)?;
        print_undo(ui, report.change.as_deref())
    })
}
