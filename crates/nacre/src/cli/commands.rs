//! `nacre commands`

use clap::Args;
use nacre_ops::OpError;

use super::exit::Exit;
use super::help;
use super::ui::{Role, Ui};

/// What scripts go by.
const EXIT_CODES: &str = "Exit codes: 0 done, 1 failed, 2 not understood, 3 partly done, \
                          4 busy: another process is writing.";

/// List every command, also those for scripts and rare days
#[derive(Debug, Args)]
#[command(hide = true)]
pub(crate) struct CommandsArgs {}

pub(crate) fn cmd_commands(ui: &mut Ui, CommandsArgs {}: &CommandsArgs) -> Result<Exit, OpError> {
    let rows: Vec<Vec<(Role, String)>> = help::all_commands()
        .into_iter()
        .map(|(name, about)| vec![(Role::Title, name), (Role::Faint, about)])
        .collect();
    ui.table(&rows)?;
    ui.status(format!("\n{EXIT_CODES}"))?;
    Ok(Exit::Done)
}
