//! `nacre project`: the registered projects.

use std::path::PathBuf;

use nacre_ops::host::Tolerance;
use nacre_ops::project as ops;
use nacre_types::{EmptyRequest, ProjectAddRequest, ProjectListReport, ProjectRemoveRequest};

use super::init;
use super::prelude::*;
use super::render::print_undo;

/// List, add or remove registered projects
#[derive(Debug, Args)]
pub(crate) struct ProjectArgs {
    #[command(subcommand)]
    command: Option<ProjectCommand>,
}

#[derive(Debug, Subcommand)]
enum ProjectCommand {
    /// Prepare the repository at a path for memory
    ///
    /// Does the same as `nacre init` in that directory: creates `.nacre/`, registers the project
    /// and looks for its sessions. A session belongs to the registered project with the longest
    /// path that contains it.
    Add {
        /// The repository's directory
        path: PathBuf,

        /// Its name [default: the directory's name]
        #[arg(long, value_name = "NAME")]
        name: Option<String>,

        /// Also read the sessions of this directory, such as the project's path before it moved, or
        /// another clone (can be repeated)
        #[arg(long, value_name = "PATH")]
        also: Vec<PathBuf>,
    },
    #[command(hide = true)]
    List,
    /// Unregister a project; its files are kept
    ///
    /// Its sessions are no longer turned into memories. While its `.nacre` directory exists, using
    /// its memory registers it again.
    Remove {
        /// The project's name
        name: String,
    },
}

impl ProjectArgs {
    pub(crate) fn tolerance(&self) -> Tolerance {
        match self.command {
            Some(ProjectCommand::Add { .. }) => Tolerance::None,
            None | Some(ProjectCommand::List | ProjectCommand::Remove { .. }) => {
                Tolerance::OfRepository
            }
        }
    }
}

pub(crate) fn cmd_project(ui: &mut Ui, host: &Host, args: ProjectArgs) -> CommandResult {
    match args.command {
        Some(ProjectCommand::Add { path, name, also }) => {
            let report = ops::add(host, &ProjectAddRequest { path, name, also })?;
            ui.report(&report, |ui, report| {
                init::print(ui, host, &report.prepared);
                print_undo(ui, report.change.as_deref());
            })
        }
        Some(ProjectCommand::Remove { name }) => {
            let report = ops::remove(host, &ProjectRemoveRequest { name })?;
            ui.report(&report, |ui, report| {
                let name = &report.removed;
                ui.status(format!("Unregistered project `{name}`; its files are kept."));
                print_undo(ui, report.change.as_deref());
            })
        }
        None | Some(ProjectCommand::List) => {
            ui.report(&ops::list(host, &EmptyRequest {})?, print_list)
        }
    }
}

fn print_list(ui: &mut Ui, report: &ProjectListReport) {
    let rows = report
        .projects
        .iter()
        .map(|project| [id(&project.name), faint(project.state.as_str()), faint(&project.path)]);
    if ui.table(rows) == 0 {
        ui.status("No projects yet.");
        ui.hint("Run `nacre init` inside a repository");
    }
}
