//! `nacre trace search`

use clap::Args;
use nacre_core::base::Shown;
use nacre_core::catalog::{Shelf, TextQuery};
use nacre_core::search::Query;
use serde_json::json;

use super::super::exit::Exit;
use super::super::memory::ModeName;
use super::super::traces::{self, AgentName};
use super::super::ui::{Role, Ui};
use nacre_ops::Host;
use nacre_ops::OpError;

/// Find what was said in any session
///
/// By words and by meaning, in what people and agents said. "Quoted phrases" must occur as they are;
/// filters stand among the words: agent:codex after:2026-01 before:7d project:NAME.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Words, "quoted phrases" and filters
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
    /// What to go by
    #[arg(long, value_enum, default_value_t = ModeName::Hybrid)]
    mode: ModeName,
    /// Show why each message was found
    #[arg(long)]
    explain: bool,
    /// At most this many [default: the setting memory.max_results]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
}

pub(crate) fn cmd_search(ui: &mut Ui, host: &Host, args: &SearchArgs) -> Result<Exit, OpError> {
    let project = host.project.as_ref().filter(|_| !args.all);
    let text = args.query.join(" ");
    let mut query = Query::parse(&text, host.now());
    if query.is_empty() {
        return Err(OpError::usage("There is nothing to search for")
            .hint("nacre trace search flaky report test"));
    }
    if let Some(since) = &args.since {
        query.after = Some(traces::parse_when(since, host.now())?);
    }
    let query = TextQuery {
        query,
        mode: args.mode.into(),
        agent: args.agent.map(Into::into),
        project: project.map(|project| project.path.display().to_string()),
        limit: args.limit.unwrap_or(host.settings().memory.max_results),
    };
    let embedder = host.own_embedder()?;
    let owner = host.owner("trace search");
    let shelf = Shelf { embedder: &*embedder, owner: &owner, now: host.now() };
    let folder = traces::index_folder(host)?;
    let hits = traces::open_catalog(host)?.search(&query, folder, shelf)?;
    if ui.is_json() {
        let hits: Vec<_> = hits
            .iter()
            .map(|hit| {
                json!({
                    "id": hit.key, "agent": hit.agent, "title": hit.title, "project": hit.project,
                    "sequence": hit.sequence, "kind": hit.kind, "at": hit.at.map(|at| at.to_string()),
                    "snippet": hit.snippet, "score": hit.score,
                    "why": { "terms": hit.terms, "similarity": hit.similarity },
                })
            })
            .collect();
        ui.json(&json!({ "query": text, "hits": hits }))?;
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
        if args.explain {
            let why = format!(
                "score {:.2}, words {}, meaning {:.2}",
                hit.score,
                hit.terms.join(" "),
                hit.similarity
            );
            ui.line(format!("    {}", ui.paint(Role::Faint, Shown(&why).one_line())))?;
        }
    }
    if hits.is_empty() {
        ui.status("Nothing found.")?;
    }
    Ok(Exit::Done)
}
