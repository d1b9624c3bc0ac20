//! `nacre skill`: instructions that agents take up.

mod list;
mod show;

use clap::{Args, Subcommand};
use nacre_engine::tools::{Shelf, ShelfPlaces, Skill};
use serde_json::{Value, json};

use super::exit::Exit;
use super::ui::Ui;
use nacre_ops::Host;
use nacre_ops::OpError;
use nacre_ops::host::git_root;

/// List and read the skills of this project, your own and Nacre's
///
/// A skill is a folder with a `SKILL.md` in `.agents/skills` or `.claude/skills` of the project or in
/// `~/.nacre/skills`.
#[derive(Debug, Args)]
pub(crate) struct SkillArgs {
    #[command(subcommand)]
    command: SkillCommand,
}

#[derive(Debug, Subcommand)]
enum SkillCommand {
    List(list::ListArgs),
    Show(show::ShowArgs),
}

pub(crate) fn cmd_skill(ui: &mut Ui, host: &Host, args: &SkillArgs) -> Result<Exit, OpError> {
    match &args.command {
        SkillCommand::List(args) => list::cmd_list(ui, host, args),
        SkillCommand::Show(args) => show::cmd_show(ui, host, args),
    }
}

/// The skills that hold where the command is run.
fn shelf(host: &Host) -> Shelf {
    let folder = &host.environment.folder;
    let project = host.project.as_ref().map(|project| project.path.clone());
    let workspace =
        project.or_else(|| git_root(&host.person, folder)).unwrap_or_else(|| folder.clone());
    let home = host.home().ok().map(std::path::Path::to_owned);
    Shelf::new(ShelfPlaces { workspace: Some(workspace), home })
}

/// A skill in JSON, without its instructions.
fn skill_json(skill: &Skill) -> Value {
    json!({
        "name": skill.name, "description": skill.description, "origin": skill.origin.as_str(), "path": skill.path,
        "license": skill.license, "allowed_tools": skill.allowed_tools,
    })
}
