//! What was asked of the server, by whom, with what outcome.

use nacre_api::wire::{AuditLine, AuditReport, AuditRequest};
use nacre_core::people::{AuditEntry, AuditFilter};

use crate::error::OpError;
use crate::host::{Host, parse_when};

/// Entries that are listed when no limit is given.
const USUAL: usize = 50;

pub fn audit(host: &Host, request: &AuditRequest) -> Result<AuditReport, OpError> {
    host.check_owner()?;
    let AuditRequest { person, project, since, limit } = request;
    let filter = AuditFilter {
        who: person.clone(),
        project: project.clone(),
        since: since.as_deref().map(|since| parse_when(since, host.now())).transpose()?,
        limit: match limit.unwrap_or(USUAL) {
            0 => usize::MAX,
            limit => limit,
        },
    };
    let entries = match host.people()? {
        Some(people) => people.audit(&filter)?,
        None => Vec::new(),
    };
    Ok(AuditReport { entries: entries.into_iter().map(line).collect() })
}

fn line(entry: AuditEntry) -> AuditLine {
    let AuditEntry { at, who, what, project, outcome } = entry;
    AuditLine { at: at.to_string(), who, what, project, outcome }
}
