//! `nacre events`: what tasks did.

mod cancel;
mod models;
mod show;
mod tasks;
mod tools;

use clap::{Args, Subcommand};
use nacre_ops::{Host, OpError};

use super::exit::Exit;
use super::ui::Ui;

/// Show what tasks did, event by event
///
/// Without a task, the latest tasks are listed.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct EventsArgs {
    #[command(subcommand)]
    command: Option<EventsCommand>,
    /// The task's id, or the start of it
    task: Option<String>,
    /// Go on until the task ends; with `--json`, one object a line
    #[arg(long, short, requires = "task")]
    follow: bool,
    /// At most this many; 0 for all [default: 20 tasks, 1000 events]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
}

#[derive(Debug, Subcommand)]
enum EventsCommand {
    Cancel(cancel::CancelArgs),
    Tools(tools::ToolsArgs),
    Models(models::ModelsArgs),
}

pub(crate) fn cmd_events(ui: &mut Ui, host: &Host, args: &EventsArgs) -> Result<Exit, OpError> {
    let EventsArgs { command, task, follow, limit } = args;
    match (command, task) {
        (Some(EventsCommand::Cancel(args)), _) => cancel::cmd_cancel(ui, host, args),
        (Some(EventsCommand::Tools(args)), _) => tools::cmd_tools(ui, host, args),
        (Some(EventsCommand::Models(args)), _) => models::cmd_models(ui, host, args),
        (None, Some(task)) if *follow => show::cmd_follow(ui, host, task),
        (None, Some(task)) => show::cmd_show(ui, host, task, *limit),
        (None, None) => tasks::cmd_tasks(ui, host, *limit),
    }
}
