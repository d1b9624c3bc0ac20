//! `nacre skill list`

use clap::Args;
use nacre_api::wire::{SkillListReport, SkillListRequest};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, skill as ops};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};

/// List skills; what is no skill is told, with the reason
#[derive(Debug, Args)]
pub(crate) struct ListArgs {}

pub(super) fn cmd_list(ui: &mut Ui, host: &Host, args: &ListArgs) -> Result<Exit, OpError> {
    let ListArgs {} = args;
    let report = ops::list(host, &SkillListRequest {})?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &SkillListReport) -> Result<(), OpError> {
    let rows: Vec<_> = report
        .skills
        .iter()
        .map(|skill| {
            vec![
                (Role::Id, skill.name.clone()),
                (Role::Faint, skill.origin.as_str().to_owned()),
                (Role::Title, Shown(&skill.description).one_line()),
            ]
        })
        .collect();
    ui.table(&rows)?;
    for problem in &report.problems {
        ui.warning(format!("`{}` is no skill: {}", problem.path, problem.why), None);
    }
    Ok(())
}
