//! Finds what was said in any session.

use nacre_api::wire::{TraceSearchReport, TraceSearchRequest};
use nacre_core::catalog::{TextIndexAccess, TextQuery};
use nacre_core::search::Query;

use super::wire::{core_mode, hit};
use crate::error::OpError;
use crate::host::{Host, agent_named, index_folder, open_catalog, parse_when};

pub fn search(host: &Host, request: &TraceSearchRequest) -> Result<TraceSearchReport, OpError> {
    let query = text_query(host, request)?;
    let embedder = host.own_embedder()?;
    let owner = host.owner("trace search");
    let access = TextIndexAccess { embedder: &*embedder, owner: &owner, now: host.now() };
    let hits = open_catalog(host)?.search(&query, index_folder(host)?, access)?;
    let hits = hits.into_iter().map(hit).collect();
    Ok(TraceSearchReport { query: request.query.clone(), hits })
}

fn text_query(host: &Host, request: &TraceSearchRequest) -> Result<TextQuery, OpError> {
    let TraceSearchRequest { query: text, agent, all, since, mode, limit } = request;
    let mut query = Query::parse(text, host.now());
    if query.is_empty() {
        return Err(OpError::usage("There is nothing to search for")
            .hint("nacre trace search flaky report test"));
    }
    if let Some(since) = since {
        query.after = Some(parse_when(since, host.now())?);
    }
    let project = host.project.as_ref().filter(|_| !all);
    Ok(TextQuery {
        query,
        mode: core_mode(*mode),
        agent: agent.as_deref().map(agent_named).transpose()?,
        project: project.map(|project| project.path.display().to_string()),
        limit: limit.unwrap_or(host.settings().memory.max_results),
    })
}
