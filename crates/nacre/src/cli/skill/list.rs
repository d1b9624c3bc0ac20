//! `nacre skill list`

use clap::Args;
use nacre_core::base::Shown;
use serde_json::{Value, json};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};
use super::{shelf, skill_json};
use nacre_ops::Host;
use nacre_ops::OpError;

/// List skills; what is no skill is told, with the reason
#[derive(Debug, Args)]
pub(crate) struct ListArgs {}

pub(super) fn cmd_list(ui: &mut Ui, host: &Host, args: &ListArgs) -> Result<Exit, OpError> {
    let ListArgs {} = args;
    let report = shelf(host).look();
    let exit = if report.problems.is_empty() { Exit::Done } else { Exit::Partial };
    if ui.is_json() {
        let skills: Vec<Value> = report.skills.iter().map(skill_json).collect();
        let problems: Vec<Value> = report
            .problems
            .iter()
            .map(|problem| json!({ "path": problem.path, "why": problem.why.to_string() }))
            .collect();
        ui.json(&json!({ "skills": skills, "problems": problems }))?;
        return Ok(exit);
    }
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
        ui.warning(format!("`{}` is no skill: {}", problem.path.display(), problem.why), None);
    }
    Ok(exit)
}
