//! `nacre queue`: what waits, runs and failed.

use clap::{Args, ValueEnum};
use nacre_core::base::Shown;
use nacre_core::catalog::{JobState, QueueFilter};
use serde_json::json;

use super::exit::Exit;
use super::traces;
use super::ui::{Role, Ui};
use nacre_ops::Host;
use nacre_ops::OpError;

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
    let catalog = traces::open_catalog(host)?;
    let limit = limit.unwrap_or(host.settings().memory.max_results);
    let filter = QueueFilter {
        state: status.map(JobState::from),
        limit: (limit > 0).then_some(limit),
        ..QueueFilter::default()
    };
    let jobs = catalog.jobs(&filter)?;
    if ui.is_json() {
        let jobs: Vec<_> = jobs
            .iter()
            .map(|job| {
                json!({
                    "id": job.key, "state": job.state.as_str(), "reason": job.reason, "attempts": job.attempts,
                    "not_before": job.not_before.map(|time| time.to_string()), "run": job.run,
                    "changed": job.changed.to_string(), "agent": job.agent, "title": job.title, "project": job.project,
                })
            })
            .collect();
        ui.json(&json!({ "jobs": jobs }))?;
        return Ok(Exit::Done);
    }
    let rows: Vec<_> = jobs
        .iter()
        .map(|job| {
            let title = job.title.as_deref().or(job.project.as_deref()).unwrap_or_default();
            let reason =
                job.reason.as_deref().map(|reason| format!("  ({reason})")).unwrap_or_default();
            vec![
                (Role::Id, job.key.clone()),
                (Role::Title, job.state.as_str().to_owned()),
                (Role::Faint, job.agent.clone()),
                (Role::Faint, Shown(&format!("{title}{reason}")).one_line()),
            ]
        })
        .collect();
    ui.table(&rows)?;
    if rows.is_empty() {
        ui.status("The queue is empty.")?;
    }
    Ok(Exit::Done)
}
