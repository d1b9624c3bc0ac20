//! `nacre project list`

use clap::Args;
use nacre_api::wire::{ProjectListReport, ProjectListRequest};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, project as ops};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};

/// List the registered projects
#[derive(Debug, Args)]
pub(crate) struct ListArgs {}

pub(crate) fn cmd_list(ui: &mut Ui, host: &Host, args: &ListArgs) -> Result<Exit, OpError> {
    let ListArgs {} = args;
    let report = ops::list(host, &ProjectListRequest {})?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &ProjectListReport) -> Result<(), OpError> {
    let rows: Vec<_> = report
        .projects
        .iter()
        .map(|project| {
            vec![
                (Role::Id, project.name.clone()),
                (Role::Faint, project.state.as_str().to_owned()),
                (Role::Faint, Shown(&project.path).one_line()),
            ]
        })
        .collect();
    ui.table(&rows)?;
    if rows.is_empty() {
        ui.status("No projects yet.")?;
        ui.hint("Run `nacre init` inside a repository");
    }
    Ok(())
}
