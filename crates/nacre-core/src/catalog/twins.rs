//! One session that several stores hold is one session.
//!
//! Cursor keeps a conversation in the editor's database, in its CLI's store and in a transcript;
//! OpenCode moved from files to a database and left the files; Codex packs what it has finished. The
//! copy that tells most stays in the queue, the others are skipped and say which one speaks for
//! them. When it goes, the next best takes its place.

use std::path::Path;

use jiff::Timestamp;
use rusqlite::{Row, Transaction};

use super::admission::{Admission, GONE, Moment, SAME, admit, set_job};
use super::columns::{path_text, stamp_of};
use super::place::Placing;
use crate::transcript::{Agent, SessionFacts, Stamp};

/// No agent keeps more copies of a session.
const MAX_COPIES: i64 = 64;

/// A session that may be one of several copies.
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

/// Settles every session of a source.
pub(super) fn settle_source(
    transaction: &Transaction<'_>,
    agent: Agent,
    path: &str,
    moment: Moment,
) -> rusqlite::Result<()> {
    let sessions: Vec<i64> = transaction
        .prepare_cached(
            "SELECT s.id FROM session s JOIN source o ON o.id = s.source WHERE o.agent = ?1 AND o.path = ?2",
        )?
        .query_map((agent.as_str(), path), |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    sessions.into_iter().try_for_each(|session| settle(transaction, session, moment))
}

/// Decides which of the copies of a session speaks for all of them.
pub(super) fn settle(
    transaction: &Transaction<'_>,
    session: i64,
    moment: Moment,
) -> rusqlite::Result<()> {
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
        // What a run made of a copy stays made.
        let is_settled = copy.state == "done" || copy.reason.as_ref() == Some(&reason);
        if !is_settled {
            set_job(transaction, copy.id, &Admission::skipped(&reason), moment.now)?;
        }
    }
    Ok(())
}

/// The session and its copies.
fn copies_of(transaction: &Transaction<'_>, session: i64) -> rusqlite::Result<Vec<Copy>> {
    let Some(part) = shared_name(transaction, session)? else { return Ok(Vec::new()) };
    let copies: Vec<Copy> = transaction
        .prepare_cached(
            "SELECT s.id, s.key, o.path, s.facts, s.project, j.state, j.reason, o.size, o.modified, o.inode, s.agent
             FROM session t JOIN session s ON s.agent = t.agent AND s.session_id = t.session_id
             JOIN source o ON o.id = s.source JOIN job j ON j.session = s.id
             WHERE t.id = ?1 AND s.facts != '' AND s.session_id != '' AND instr(o.path, ?2) > 0
             ORDER BY s.id != ?1, s.id LIMIT ?3",
        )?
        .query_map((session, part, MAX_COPIES), copy_of)?
        .collect::<Result<_, _>>()?;
    let Some(this) = copies.iter().position(|copy| copy.id == session) else {
        return Ok(Vec::new());
    };
    let (agent, name) = (copies[this].facts.agent, stem(&copies[this].path));
    let is_copy = |copy: &Copy| match agent {
        Agent::Cursor | Agent::OpenCode => true,
        // A document of an older version may have become a log; both are named alike.
        Agent::Gemini => bare(&stem(&copy.path)) == bare(&name),
        // A session may go on in a second file under its old id; only a file of the same name is a
        // copy.
        Agent::Claude
        | Agent::Codex
        | Agent::Qwen
        | Agent::Copilot
        | Agent::Pi
        | Agent::Droid
        | Agent::Cline
        | Agent::Continue => stem(&copy.path) == name,
        Agent::Aider | Agent::Generic => copy.id == session,
    };
    Ok(copies.into_iter().filter(is_copy).collect())
}

/// A part of the path that all copies of a session share; `None` where it has none. So that many sessions of one id are not
/// compared with each other, which takes minutes, it is part of the question.
fn shared_name(transaction: &Transaction<'_>, session: i64) -> rusqlite::Result<Option<String>> {
    let (agent, path): (String, String) = transaction
        .prepare_cached(
            "SELECT s.agent, o.path FROM session s JOIN source o ON o.id = s.source WHERE s.id = ?1",
        )?
        .query_row([session], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(match Agent::from_name(&agent).unwrap_or(Agent::Generic) {
        // These ids are whatever their writer chose, or made here for each file.
        Agent::Aider | Agent::Generic => None,
        Agent::Cursor | Agent::OpenCode => Some(String::new()),
        Agent::Gemini => Some(bare(&stem(&path)).to_owned()),
        Agent::Claude
        | Agent::Codex
        | Agent::Qwen
        | Agent::Copilot
        | Agent::Pi
        | Agent::Droid
        | Agent::Cline
        | Agent::Continue => Some(stem(&path)),
    })
}

fn copy_of(row: &Row<'_>) -> rusqlite::Result<Copy> {
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

/// A file's name up to the ending that says how it is packed.
fn stem(path: &str) -> String {
    let name = Path::new(path).file_name().map(|name| path_text(Path::new(name)));
    let name = name.unwrap_or_default();
    name.strip_suffix(".zst").unwrap_or(&name).to_owned()
}

/// A file's name without its ending.
fn bare(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(bare, _)| bare)
}

/// What a copy is worth: the kind of its store, how much it tells, how new it is; the first one seen
/// where nothing tells them apart.
fn worth(copy: &Copy) -> (u8, u64, Option<Timestamp>, i64) {
    let counts = &copy.facts.counts;
    let told = counts.user + counts.assistant + counts.tool_calls;
    let rank = match (copy.facts.agent, Path::new(&copy.path).extension().and_then(|e| e.to_str()))
    {
        (Agent::Cursor, Some("vscdb")) if told > 0 => 2,
        (Agent::Cursor, Some("db")) if told > 0 => 1,
        _ => 0,
    };
    (rank, told, copy.facts.last_activity, -copy.id)
}
