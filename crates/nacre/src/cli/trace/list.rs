//! `nacre trace list`

use clap::Args;
use nacre_api::wire::{SessionEntry, TraceListReport, TraceListRequest};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, trace as ops};

use super::super::exit::Exit;
use super::super::traces::agent_parser;
use super::super::ui::{Role, Ui};
use super::minute;

/// List sessions, the latest first
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only this agent
    #[arg(long, value_name = "AGENT", value_parser = agent_parser())]
    agent: Option<String>,
    /// Sessions of all projects, not only of this one
    #[arg(long)]
    all: bool,
    /// Only sessions active since this day, moment or age (30min, 36h, 7d, 2w, 3mo, 1y)
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// At most this many; 0 for all [default: the setting memory.max_results]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
}

pub(crate) fn cmd_list(ui: &mut Ui, host: &Host, args: &ListArgs) -> Result<Exit, OpError> {
    let ListArgs { agent, all, since, limit } = args;
    let request =
        TraceListRequest { agent: agent.clone(), all: *all, since: since.clone(), limit: *limit };
    ui.report(&ops::list(host, &request)?, print)
}

fn print(ui: &mut Ui, report: &TraceListReport) -> Result<(), OpError> {
    let rows: Vec<_> = report.sessions.iter().map(row).collect();
    ui.table(&rows)?;
    if rows.is_empty() {
        ui.status("No sessions.")?;
        ui.hint("Run `nacre sync --no-extract` to read them");
    }
    Ok(())
}

fn row(session: &SessionEntry) -> Vec<(Role, String)> {
    let facts = &session.facts;
    let title = facts.title.as_deref().or(facts.cwd.as_deref()).unwrap_or_default();
    vec![
        (Role::Id, session.id.clone()),
        (Role::Faint, minute(facts.last_activity.as_deref())),
        (Role::Faint, facts.agent.clone()),
        (Role::Faint, format!("{} said", facts.counts.user)),
        (Role::Faint, session.state.as_str().to_owned()),
        (Role::Title, Shown(title).one_line()),
    ]
}
