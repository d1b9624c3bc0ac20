//! `nacre queue`: sessions that are pending, running or failed.

use nacre_ops::queue as ops;
use nacre_types::{
    JobState, QueueChangeReport, QueueChangeRequest, QueueJob, QueueListReport, QueueListRequest,
};

use super::prelude::*;
use super::render::print_more;

/// Keyword that selects all sessions.
const ALL: &str = "all";

/// Show the queue of sessions, retry sessions, or skip them
#[derive(Debug, Args)]
pub(crate) struct QueueArgs {
    /// Retry a dead or skipped session, by a prefix of its id; `all` for all of them
    #[arg(long, value_name = "ID", conflicts_with_all = ["skip", "status", "limit"])]
    retry: Option<String>,
    /// Remove a session from the queue, by a prefix of its id; `all` for all of them. `--retry`
    /// queues it again
    #[arg(long, value_name = "ID", conflicts_with_all = ["status", "limit"])]
    skip: Option<String>,
    /// Only sessions in this state
    #[arg(long, value_parser = one_of::<JobState>(JobState::NAMES))]
    status: Option<JobState>,
    /// Show at most this many; 0 for all [default: the setting memory.max_results]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
}

pub(crate) fn cmd_queue(ui: &mut Ui, host: &Host, args: QueueArgs) -> CommandResult {
    let QueueArgs { retry, skip, status, limit } = args;
    let named =
        |id: String| QueueChangeRequest { all: id == ALL, id: Some(id).filter(|id| id != ALL) };
    if let Some(id) = retry {
        return ui.report(&ops::retry(host, &named(id))?, print_change);
    }
    if let Some(id) = skip {
        return ui.report(&ops::skip(host, &named(id))?, print_change);
    }
    let report = ops::list(host, &QueueListRequest { status, limit })?;
    ui.report(&report, |ui, report| print_list(ui, report, status))
}

fn print_change(ui: &mut Ui, QueueChangeReport { done, ids }: &QueueChangeReport) {
    for id in ids {
        ui.status(format!("{} {}", ui.paint(Role::Id, id), done.as_str()));
    }
    if ids.is_empty() {
        ui.status("Nothing to do.");
    }
}

fn print_list(ui: &mut Ui, report: &QueueListReport, status: Option<JobState>) {
    let n_shown = ui.print_titled_table(report.jobs.iter().map(|job| row(ui, job)).collect());
    print_more(ui, report.total - n_shown);
    if n_shown == 0 {
        match status {
            Some(status) => ui.status(format!("No session is {}.", status.as_str())),
            None => ui.status("The queue is empty."),
        }
    }
}

/// Formats a table row. The first column is the title on a terminal, and the id elsewhere.
fn row(ui: &Ui, job: &QueueJob) -> Row {
    let name = job.title.as_deref().or(job.project.as_deref()).unwrap_or_default();
    let reason = job.reason.as_deref().map(|reason| format!("  ({reason})")).unwrap_or_default();
    let name = format!("{name}{reason}");
    let (id, state, agent) = (id(&job.id), job.state.as_str(), faint(&job.agent));
    if !ui.is_watched() {
        return vec![id, title(state), agent, faint(name)];
    }
    let role = match job.state {
        JobState::Done => Role::Good,
        JobState::Dead => Role::Bad,
        JobState::Running | JobState::Pending => Role::Warning,
        JobState::Empty | JobState::Skipped => Role::Faint,
    };
    vec![title(name), cell(role, state), agent, faint(ui.when(&job.changed)), id]
}
