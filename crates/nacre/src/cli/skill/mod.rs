//! `nacre skill`: instructions that agents take up.

mod list;
mod show;

use clap::{Args, Subcommand};
use nacre_ops::{Host, OpError};

use super::exit::Exit;
use super::ui::Ui;

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
