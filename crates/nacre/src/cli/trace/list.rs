//! `nacre trace list`

use clap::Args;
use nacre_api::wire::{SessionEntry, TraceListReport, TraceListRequest};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, trace as ops};

use super::super::exit::Exit;
use super::super::memory::print_more;
use super::super::traces::agent_parser;
use super::super::ui::{Role, Row, Ui};
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
    /// Pass over this many
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    offset: usize,
    /// At most this many; 0 for all [default: the setting memory.max_results]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
}

pub(crate) fn cmd_list(ui: &mut Ui, host: &Host, args: &ListArgs) -> Result<Exit, OpError> {
    let ListArgs { agent, all, since, offset, limit } = args;
    let request = TraceListRequest {
        agent: agent.clone(),
        all: *all,
        since: since.clone(),
        offset: *offset,
        limit: *limit,
    };
    ui.report(&ops::list(host, &request)?, |ui, report| print(ui, report, &request))
}

fn print(ui: &mut Ui, report: &TraceListReport, request: &TraceListRequest) -> Result<(), OpError> {
    let is_filtered = request.agent.is_some() || request.since.is_some();
    let rows: Vec<Row> = report.sessions.iter().map(|session| row(ui, session)).collect();
    if ui.is_watched() {
        ui.table_around(&rows, 0)?;
    } else {
        ui.table(&rows)?;
    }
    print_more(ui, report.total.saturating_sub(request.offset + rows.len()))?;
    if report.total == 0 && is_filtered {
        ui.status("No session matches.")?;
    } else if report.total == 0 {
        ui.status("No sessions.")?;
        ui.hint("Run `nacre sync --no-extract` to read them");
    }
    Ok(())
}

/// A person gets the title first; a program the id.
fn row(ui: &Ui, session: &SessionEntry) -> Row {
    let facts = &session.facts;
    let title = facts.title.as_deref().or(facts.cwd.as_deref()).unwrap_or_default();
    let id = (Role::Id, session.id.clone());
    let title = (Role::Title, Shown(title).one_line());
    let faint = |text: String| (Role::Faint, text);
    let said = faint(format!("{} said", facts.counts.user));
    let (agent, state) = (faint(facts.agent.clone()), faint(session.state.as_str().to_owned()));
    let time = facts.last_activity.as_deref();
    if ui.is_watched() {
        let when = time.map(|time| ui.when(time)).unwrap_or_default();
        return vec![title, faint(when), agent, said, state, id];
    }
    vec![id, faint(minute(time)), agent, said, state, title]
}
