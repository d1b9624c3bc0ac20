//! `nacre queue`: what waits, runs and failed.

use clap::{Args, ValueEnum};
use nacre_api::wire::{JobState, QueueJob, QueueListReport, QueueListRequest};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, queue as ops};

use super::exit::Exit;
use super::ui::{Role, Ui};

/// Show the queue of sessions
#[derive(Debug, Args)]
pub(crate) struct QueueArgs {
    /// Only sessions in this state
    #[arg(long, value_enum)]
    status: Option<StateName>,
    /// At most this many; 0 for all [default: the setting memory.max_results]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StateName {
    Pending,
    Running,
    Done,
    Empty,
    Skipped,
    Dead,
}

impl From<StateName> for JobState {
    fn from(name: StateName) -> Self {
        match name {
            StateName::Pending => Self::Pending,
            StateName::Running => Self::Running,
            StateName::Done => Self::Done,
            StateName::Empty => Self::Empty,
            StateName::Skipped => Self::Skipped,
            StateName::Dead => Self::Dead,
        }
    }
}

pub(crate) fn cmd_queue(ui: &mut Ui, host: &Host, args: &QueueArgs) -> Result<Exit, OpError> {
    let QueueArgs { status, limit } = args;
    let request = QueueListRequest { status: status.map(Into::into), limit: *limit };
    ui.report(&ops::list(host, &request)?, print)
}

fn print(ui: &mut Ui, report: &QueueListReport) -> Result<(), OpError> {
    let rows: Vec<_> = report.jobs.iter().map(row).collect();
    ui.table(&rows)?;
    if rows.is_empty() {
        ui.status("The queue is empty.")?;
    }
    Ok(())
}

fn row(job: &QueueJob) -> Vec<(Role, String)> {
    let title = job.title.as_deref().or(job.project.as_deref()).unwrap_or_default();
    let reason = job.reason.as_deref().map(|reason| format!("  ({reason})")).unwrap_or_default();
    vec![
        (Role::Id, job.id.clone()),
        (Role::Title, job.state.as_str().to_owned()),
        (Role::Faint, job.agent.clone()),
        (Role::Faint, Shown(&format!("{title}{reason}")).one_line()),
    ]
}
