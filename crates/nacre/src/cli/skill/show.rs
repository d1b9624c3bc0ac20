//! `nacre skill show`

use clap::Args;
use nacre_api::wire::{SkillShowReport, SkillShowRequest};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, skill as ops};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};

/// Show a skill as an agent reads it
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The skill's name
    name: String,
    /// The words that it is called with
    #[arg(long, value_name = "TEXT", default_value = "")]
    arguments: String,
}

pub(super) fn cmd_show(ui: &mut Ui, host: &Host, args: &ShowArgs) -> Result<Exit, OpError> {
    let ShowArgs { name, arguments } = args;
    let request = SkillShowRequest { name: name.clone(), arguments: arguments.clone() };
    let report = ops::show(host, &request)?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &SkillShowReport) -> Result<(), OpError> {
    let skill = &report.skill;
    ui.line(ui.paint(Role::Title, Shown(&skill.description).one_line()))?;
    let mut facts = vec![skill.name.clone(), skill.origin.as_str().to_owned()];
    facts.extend(skill.path.clone());
    facts.extend(skill.license.clone());
    if let Some(tools) = &skill.allowed_tools {
        facts.push(format!("only {}", tools.join(" ")));
    }
    ui.line(ui.paint(Role::Faint, Shown(&facts.join(" · ")).one_line()))?;
    ui.line("")?;
    ui.text(&report.instructions)
}
