//! Lists sessions, the latest first.

use nacre_api::wire::{TraceListReport, TraceListRequest};
use nacre_core::catalog::SessionFilter;

use super::wire::session_entry;
use crate::error::OpError;
use crate::host::{Host, agent_named, open_catalog, parse_when};

pub fn list(host: &Host, request: &TraceListRequest) -> Result<TraceListReport, OpError> {
    let TraceListRequest { agent, all, since, offset, limit } = request;
    let limit = limit.unwrap_or(host.settings().memory.max_results);
    let project = host.project.as_ref().filter(|_| !all);
    let filter = SessionFilter {
        agent: agent.as_deref().map(agent_named).transpose()?,
        project: project.map(|project| project.path.display().to_string()),
        since: since.as_deref().map(|since| parse_when(since, host.now())).transpose()?,
        until: None,
        limit: None,
    };
    let sessions = open_catalog(host)?.sessions(&filter)?;
    let total = sessions.len();
    let limit = if limit == 0 { total } else { limit };
    let sessions = sessions.into_iter().skip(*offset).take(limit).map(session_entry).collect();
    Ok(TraceListReport { sessions, total })
}
