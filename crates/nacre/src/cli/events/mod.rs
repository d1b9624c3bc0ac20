//! `nacre events`: what tasks did.

mod models;
mod show;
mod tasks;
mod tools;

use clap::{Args, Subcommand};
use nacre_core::safefs::{Access, WriteScope};
use nacre_engine::agent::state::{State, StateError};

use super::error::{CommandError, Exit};
use super::runtime::Runtime;
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
    Tools(tools::ToolsArgs),
    Models(models::ModelsArgs),
}

pub(crate) fn cmd_events(
    ui: &mut Ui,
    runtime: &Runtime,
    args: &EventsArgs,
) -> Result<Exit, CommandError> {
    let EventsArgs { command, task, follow, limit } = args;
    match (command, task) {
        (Some(EventsCommand::Tools(args)), _) => tools::cmd_tools(ui, runtime, args),
        (Some(EventsCommand::Models(args)), _) => models::cmd_models(ui, runtime, args),
        (None, Some(task)) if *follow => show::cmd_follow(ui, runtime, task),
        (None, Some(task)) => show::cmd_show(ui, runtime, task, *limit),
        (None, None) => tasks::cmd_tasks(ui, runtime, *limit),
    }
}

/// Opens the state where there is one.
fn open_state(runtime: &Runtime) -> Result<Option<State>, CommandError> {
    match WriteScope::open(runtime.home()?, Access::Private) {
        Err(error) if error.is_missing() => Ok(None),
        home => Ok(State::open_existing(&home?)?),
    }
}

impl From<StateError> for CommandError {
    fn from(error: StateError) -> Self {
        if let StateError::Fs(error) = error {
            return error.into();
        }
        let exit = if matches!(error, StateError::Busy(_)) { Exit::Busy } else { Exit::Failed };
        let hint = match &error {
            StateError::Damaged { path, .. } => Some(format!(
                "Move it away, and a new one is made: mv {0} {0}.damaged",
                path.display()
            )),
            StateError::Newer { .. } => {
                Some("Use the newer version, or move the file away".to_owned())
            }
            StateError::Busy(_) => Some("Wait for it to end, then try again".to_owned()),
            StateError::UnknownTask { .. } => {
                Some("`nacre events` shows the latest tasks".to_owned())
            }
            StateError::Ambiguous { .. } => {
                Some("Give more of the id; `nacre events` shows them".to_owned())
            }
            StateError::QueueFull { .. } => {
                Some("Wait for one to end; `nacre events` shows them".to_owned())
            }
            StateError::Open { .. }
            | StateError::Sql(_)
            | StateError::Move(_)
            | StateError::Fs(_) => None,
        };
        Self::from_error(exit, &error, hint)
    }
}
