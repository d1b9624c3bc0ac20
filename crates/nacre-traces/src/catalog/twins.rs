//! Detects copies of a session in several stores. Cursor stores a conversation in up to three
//! places, OpenCode kept its old files after migrating to a database, and Codex compresses finished
//! sessions. The best copy stays in the queue, and the others are skipped with a reference to it.
//! If the best copy is removed, the next best one replaces it.

use std::path::Path;

use jiff::Timestamp;
use rusqlite::{Result, Row, Transaction};

use super::*;

use crate::agents::{Copies, spec_of};
use crate::transcript::{Agent, SessionFacts, Stamp};

/// No agent creates this many copies.
const MAX_COPIES: i64 = 64;

struct Copy {
    id: i64,
    key: String,
    path: String,
    facts: SessionFacts,
    project: Option<String>,
    state: String,
    reason: Option<String>,
    stamp: Stamp,
}

pub(super) fn settle_source(
    transaction: &Transaction,
    agent: Agent,
    path: &str,
    moment: Moment,
) -> Result<()> {
    let sql = "SELECT s.id FROM session s JOIN source o ON o.id = s.source
         WHERE o.agent = ?1 AND o.path = ?2";
    let sessions: Vec<i64> = rows(transaction, sql, (agent.as_str(), path), |row| row.get(0))?;
    sessions.into_iter().try_for_each(|session| settle(transaction, session, moment))
}

pub(super) fn settle(transaction: &Transaction, session: i64, moment: Moment) -> Result<()> {
    let copies = copies_of(transaction, session)?;
    let is_there = |copy: &&Copy| copy.reason.as_deref() != Some(GONE);
    let Some(best) = copies.iter().filter(is_there).max_by_key(|copy| worth(copy)) else {
        return Ok(());
    };
    if best.reason.as_deref().is_some_and(|reason| reason.starts_with(SAME)) {
        let placing = match (&best.project, &best.facts.cwd) {
            (Some(project), _) => Placing::Project(project.into()),
            (None, Some(cwd)) => Placing::Unregistered(cwd.into()),
            (None, None) => Placing::Nowhere,
        };
        let admission = admit(&best.facts, &placing, best.stamp, moment);
        set_job(transaction, best.id, &admission, moment.now)?;
    }
    let reason = format!("{SAME}{}", best.key);
    for copy in copies.iter().filter(is_there).filter(|copy| copy.id != best.id) {
        // A copy that has already been processed keeps its state.
        let is_settled = copy.state == "done" || copy.reason.as_ref() == Some(&reason);
        if !is_settled {
            set_job(transaction, copy.id, &Admission::skipped(&reason), moment.now)?;
        }
    }
    Ok(())
}

fn copies_of(transaction: &Transaction, session: i64) -> Result<Vec<Copy>> {
    let (agent, path): (String, String) = transaction
        .prepare_cached(
            "SELECT s.agent, o.path FROM session s JOIN source o ON o.id = s.source WHERE s.id = ?1",
        )?
        .query_row([session], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let agent = Agent::from_name(&agent).unwrap_or(Agent::Generic);
    // Comparing many sessions with the same ID takes minutes, so the query looks only for possible
    // copies.
    let Some(part) = shared_part(agent, &path) else { return Ok(Vec::new()) };
    let sql = "SELECT s.id, s.key, o.path, s.facts, s.project, j.state, j.reason, o.size, o.modified, o.inode, s.agent
             FROM session t JOIN session s ON s.agent = t.agent AND s.session_id = t.session_id
             JOIN source o ON o.id = s.source JOIN job j ON j.session = s.id
             WHERE t.id = ?1 AND s.facts != '' AND s.session_id != '' AND instr(o.path, ?2) > 0
             ORDER BY s.id != ?1, s.id LIMIT ?3";
    let copies = rows(transaction, sql, (session, part, MAX_COPIES), copy_of)?;
    if !copies.iter().any(|copy| copy.id == session) {
        return Ok(Vec::new());
    }
    let is_copy = |copy: &Copy| shared_part(copy.facts.agent, &copy.path) == Some(part);
    Ok(copies.into_iter().filter(is_copy).collect())
}

/// Returns a part of the path that all copies of a session have in common, or `None` if the agent
/// never creates copies.
fn shared_part(agent: Agent, path: &str) -> Option<&str> {
    let name = path.rsplit('/').next().unwrap_or_default();
    let name = name.strip_suffix(".zst").unwrap_or(name);
    match spec_of(agent).copies {
        Copies::Never => None,
        Copies::OfSameName => Some(name),
        Copies::OfSameStem => Some(name.rsplit_once('.').map_or(name, |(stem, _)| stem)),
        Copies::Anywhere(_) => Some(""),
    }
}

fn copy_of(row: &Row) -> Result<Copy> {
    let agent = Agent::from_name(&row.get::<_, String>(10)?).unwrap_or(Agent::Generic);
    let facts: String = row.get(3)?;
    let mut facts: SessionFacts =
        serde_json::from_str(&facts).unwrap_or_else(|_| SessionFacts::new(agent, ""));
    facts.agent = agent;
    Ok(Copy {
        id: row.get(0)?,
        key: row.get(1)?,
        path: row.get(2)?,
        facts,
        project: row.get(4)?,
        state: row.get(5)?,
        reason: row.get(6)?,
        stamp: stamp_of(row.get(7)?, row.get(8)?, row.get(9)?),
    })
}

/// Ranks copies by store kind, number of events, age and discovery order.
fn worth(copy: &Copy) -> (usize, u64, Option<Timestamp>, i64) {
    let counts = &copy.facts.counts;
    let told = counts.user + counts.assistant + counts.tool_calls;
    let preferred = match spec_of(copy.facts.agent).copies {
        Copies::Anywhere(extensions) if told > 0 => extensions,
        Copies::Anywhere(_) | Copies::Never | Copies::OfSameName | Copies::OfSameStem => &[],
    };
    let extension = Path::new(&copy.path).extension().and_then(|extension| extension.to_str());
    let place = preferred.iter().position(|preferred| Some(*preferred) == extension);
    let rank = place.map_or(0, |place| preferred.len() - place);
    (rank, told, copy.facts.last_activity, -copy.id)
}
