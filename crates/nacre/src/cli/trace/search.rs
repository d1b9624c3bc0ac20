//! `nacre trace search`

use clap::Args;
use nacre_api::wire::{TraceHit, TraceSearchReport, TraceSearchRequest};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, trace as ops};

use super::super::exit::Exit;
use super::super::memory::ModeName;
use super::super::traces::agent_parser;
use super::super::ui::{Role, Ui};
use super::minute;

/// Find what was said in any session
///
/// By words and by meaning, in what people and agents said. "Quoted phrases" must occur as they are;
/// filters stand among the words: agent:codex after:2026-01 before:7d project:NAME. An age is in minutes (30min),
/// hours (36h), days (7d), weeks (2w), months of 30 days (3mo) or years (1y).
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Words, "quoted phrases" and filters
    #[arg(required = true)]
    query: Vec<String>,
    /// Only this agent
    #[arg(long, value_name = "AGENT", value_parser = agent_parser())]
    agent: Option<String>,
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
    let SearchArgs { query, agent, all, since, mode, explain, limit } = args;
    let request = TraceSearchRequest {
        query: query.join(" "),
        agent: agent.clone(),
        all: *all,
        since: since.clone(),
        mode: (*mode).into(),
        limit: *limit,
    };
    ui.report(&ops::search(host, &request)?, |ui, report| print(ui, report, *explain))
}

fn print(ui: &mut Ui, report: &TraceSearchReport, explain: bool) -> Result<(), OpError> {
    for hit in &report.hits {
        print_hit(ui, hit)?;
        if explain {
            let why = format!(
                "score {:.2}, words {}, meaning {:.2}",
                hit.score,
                hit.why.terms.join(" "),
                hit.why.similarity
            );
            ui.line(format!("    {}", ui.paint(Role::Faint, Shown(&why).one_line())))?;
        }
    }
    if report.hits.is_empty() {
        ui.status("Nothing found.")?;
    }
    Ok(())
}

fn print_hit(ui: &mut Ui, hit: &TraceHit) -> Result<(), OpError> {
    let when = match hit.at.as_deref() {
        Some(time) if ui.is_watched() => ui.when(time),
        time => minute(time),
    };
    ui.table(&[vec![
        (Role::Id, format!("{}:{}", hit.id, hit.sequence)),
        (Role::Faint, when),
        (Role::Faint, hit.agent.clone()),
        (Role::Faint, hit.kind.clone()),
        (Role::Title, Shown(hit.title.as_deref().unwrap_or_default()).one_line()),
    ]])?;
    ui.line(format!("    {}", ui.fitted(4, &Shown(&hit.snippet).one_line())))
}
