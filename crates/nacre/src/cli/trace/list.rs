//! `nacre trace list`

use clap::Args;
use nacre_core::base::Shown;
use nacre_core::catalog::{SessionFilter, SessionRow};
use serde_json::json;

use super::super::exit::Exit;
use super::super::traces::{self, AgentName};
use super::super::ui::{Role, Ui};
use nacre_ops::Host;
use nacre_ops::OpError;

/// List sessions, the latest first
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only this agent
    #[arg(long, value_name = "AGENT")]
    agent: Option<AgentName>,
    /// Sessions of all projects, not only of this one
    #[arg(long)]
    all: bool,
    /// Only sessions active since this day, moment or age
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// At most this many; 0 for all [default: the setting memory.max_results]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
}

pub(crate) fn cmd_list(ui: &mut Ui, host: &Host, args: &ListArgs) -> Result<Exit, OpError> {
    let ListArgs { agent, all, since, limit } = args;
    let limit = limit.unwrap_or(host.settings().memory.max_results);
    let project =
        host.project.as_ref().filter(|_| !all).map(|project| project.path.display().to_string());
    let filter = SessionFilter {
        agent: agent.map(Into::into),
        project,
        since: since.as_deref().map(|since| traces::parse_when(since, host.now())).transpose()?,
        until: None,
        limit: (limit > 0).then_some(limit),
    };
    let sessions = traces::open_catalog(host)?.sessions(&filter)?;
    if ui.is_json() {
        let sessions: Vec<_> = sessions.iter().map(session_json).collect();
        ui.json(&json!({ "sessions": sessions }))?;
        return Ok(Exit::Done);
    }
    let rows: Vec<_> = sessions.iter().map(row).collect();
    ui.table(&rows)?;
    if rows.is_empty() {
        ui.status("No sessions.")?;
        ui.hint("Run `nacre sync --no-extract` to read them");
    }
    Ok(Exit::Done)
}

fn row(session: &SessionRow) -> Vec<(Role, String)> {
    let facts = &session.facts;
    let when = facts
        .last_activity
        .map_or_else(String::new, |time| time.strftime("%Y-%m-%d %H:%M").to_string());
    let title = facts.title.as_deref().or(facts.cwd.as_deref()).unwrap_or_default();
    vec![
        (Role::Id, session.key.clone()),
        (Role::Faint, when),
        (Role::Faint, facts.agent.as_str().to_owned()),
        (Role::Faint, format!("{} said", facts.counts.user)),
        (Role::Faint, session.state.as_str().to_owned()),
        (Role::Title, Shown(title).one_line()),
    ]
}

/// A session in JSON.
pub(super) fn session_json(session: &SessionRow) -> serde_json::Value {
    json!({
        "id": session.key, "path": session.trace.source.path, "inner_id": session.trace.session,
        "project": session.project, "state": session.state.as_str(), "reason": session.reason,
        "facts": session.facts, "report": session.report,
    })
}
