//! `nacre trace search`

use clap::Args;
use nacre_core::base::Shown;
use nacre_core::catalog::TextQuery;
use serde_json::json;

use super::super::error::{CommandError, Exit};
use super::super::runtime::Runtime;
use super::super::traces::{self, AgentName};
use super::super::ui::{Role, Ui};

/// Find what was said in any session
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Words that must all occur
    #[arg(required = true)]
    query: Vec<String>,
    /// Only this agent
    #[arg(long, value_name = "AGENT")]
    agent: Option<AgentName>,
    /// Sessions of all projects, not only of this one
    #[arg(long)]
    all: bool,
    /// Only what was said since this day, moment or age
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// At most this many [default: the setting memory.max_results]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
}

pub(crate) fn cmd_search(
    ui: &mut Ui,
    runtime: &Runtime,
    args: &SearchArgs,
) -> Result<Exit, CommandError> {
    let SearchArgs { query, agent, all, since, limit } = args;
    let project =
        runtime.project.as_ref().filter(|_| !all).map(|project| project.path.display().to_string());
    let query = TextQuery {
        text: query.join(" "),
        agent: agent.map(Into::into),
        project,
        since: since
            .as_deref()
            .map(|since| traces::parse_when(since, runtime.now()))
            .transpose()?,
        until: None,
        limit: limit.unwrap_or(runtime.settings().memory.max_results),
    };
    let hits = traces::open_catalog(runtime)?.search(&query)?;
    if ui.is_json() {
        let hits: Vec<_> = hits
            .iter()
            .map(|hit| {
                json!({
                    "id": hit.key, "agent": hit.agent, "title": hit.title, "project": hit.project,
                    "sequence": hit.sequence, "kind": hit.kind, "at": hit.at.map(|at| at.to_string()),
                    "snippet": hit.snippet,
                })
            })
            .collect();
        ui.json(&json!({ "query": query.text, "hits": hits }))?;
        return Ok(Exit::Done);
    }
    for hit in &hits {
        let at = hit.at.map_or_else(String::new, |at| at.strftime("%Y-%m-%d %H:%M").to_string());
        ui.table(&[vec![
            (Role::Id, format!("{}:{}", hit.key, hit.sequence)),
            (Role::Faint, at),
            (Role::Faint, hit.agent.clone()),
            (Role::Faint, hit.kind.clone()),
            (Role::Title, Shown(hit.title.as_deref().unwrap_or_default()).one_line()),
        ]])?;
        ui.line(format!("    {}", Shown(&hit.snippet).one_line()))?;
    }
    if hits.is_empty() {
        ui.status("Nothing found.")?;
    }
    Ok(Exit::Done)
}
