//! `nacre queue`: what waits, runs and failed.

use clap::{Args, ValueEnum};
use nacre_api::wire::{JobState, QueueJob, QueueListReport, QueueListRequest};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, queue as ops};

use super::exit::Exit;
use super::memory::print_more;
use super::ui::{Role, Row, Ui};

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
    ui.report(&ops::list(host, &request)?, |ui, report| print(ui, report, request.status))
}

fn print(ui: &mut Ui, report: &QueueListReport, status: Option<JobState>) -> Result<(), OpError> {
    let rows: Vec<Row> = report.jobs.iter().map(|job| row(ui, job)).collect();
    if ui.is_watched() {
        ui.table_around(&rows, 0)?;
    } else {
        ui.table(&rows)?;
    }
    print_more(ui, report.total - rows.len())?;
    if rows.is_empty() {
        match status {
            Some(status) => ui.status(format!("No session is {}.", status.as_str()))?,
            None => ui.status("The queue is empty.")?,
        }
    }
    Ok(())
}

/// A person gets the title first; a program the id.
fn row(ui: &Ui, job: &QueueJob) -> Row {
    let title = job.title.as_deref().or(job.project.as_deref()).unwrap_or_default();
    let reason = job.reason.as_deref().map(|reason| format!("  ({reason})")).unwrap_or_default();
    let id = (Role::Id, job.id.clone());
    let title = Shown(&format!("{title}{reason}")).one_line();
    let (state, agent) = (job.state.as_str().to_owned(), (Role::Faint, job.agent.clone()));
    if ui.is_watched() {
        let changed = (Role::Faint, ui.when(&job.changed));
        return vec![(Role::Title, title), (role(job.state), state), agent, changed, id];
    }
    vec![id, (Role::Title, state), agent, (Role::Faint, title)]
}

fn role(state: JobState) -> Role {
    match state {
        JobState::Done => Role::Good,
        JobState::Dead => Role::Bad,
        JobState::Running | JobState::Pending => Role::Warning,
        JobState::Empty | JobState::Skipped => Role::Faint,
    }
}
