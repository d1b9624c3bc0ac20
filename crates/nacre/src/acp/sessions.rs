//! Methods that create, load, resume, list and delete sessions.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nacre_types::{
    ChatSession, EmptyRequest, RpcCall, SessionCreateRequest, SessionItemsReport,
    SessionItemsRequest, SessionListReport, SessionListRequest, SessionRemoveReport, SessionReport,
    SessionRequest, SkillEntry, SkillListReport,
};
use serde_json::{Value, json};

use super::agent::Agent;
use super::json_rpc::{RequestId, Result, RpcError};
use super::link::Link;
use super::options::{modes, options};
use super::protocol::{ListSessionsParams, NewSessionParams, OpenSessionParams, SessionParams};
use super::session::Session;
use super::updates::{Notices, Replay};

const PAGE: usize = 500;

const LISTED: usize = 100;

const NO_MCP: &str = "Nacre does not start the editor's MCP servers";

pub(super) async fn new_session(
    agent: Arc<Agent>,
    id: RequestId,
    given: NewSessionParams,
) -> Result<()> {
    let NewSessionParams { cwd, mcp_servers } = given;
    let folder = absolute(&cwd)?;
    let mut link = agent.link(folder).await?;
    let create = SessionCreateRequest {
        workspace: Some(cwd),
        title: None,
        model: agent.defaults.model.clone(),
        policy: agent.defaults.policy,
    };
    let SessionReport { session } = link.ask(RpcCall::SessionCreate(create)).await?;
    let skills = start(&agent, &session, link).await?;
    let result = json!({
        "sessionId": session.id,
        "modes": modes(session.policy),
        "configOptions": options(&session, &agent.defaults.models),
    });
    agent.out.answer(&id, result).await;
    introduce(&agent, &session.id, skills, mcp_servers.is_some_and(|it| !it.is_empty())).await;
    Ok(())
}

/// Opens a stored session. With `is_replayed`, the client receives the full history.
pub(super) async fn open_session(
    agent: Arc<Agent>,
    id: RequestId,
    given: OpenSessionParams,
    is_replayed: bool,
) -> Result<()> {
    let OpenSessionParams { session_id, cwd, mcp_servers } = given;
    let folder = absolute(&cwd)?;
    let mut link = agent.link(folder).await?;
    let request = SessionRequest { session: Some(session_id.clone()), workspace: None };
    let SessionReport { session } = link.ask(RpcCall::SessionGet(request)).await?;
    if session.id != session_id {
        return Err(RpcError::unknown_session(&session_id));
    }
    // If the session belonged to a different directory, the editor would show the wrong files.
    let (root, folder) = (Path::new(&session.workspace), real(folder));
    if !folder.starts_with(root) && !root.starts_with(&folder) {
        let message = format!("Session `{}` works in `{}`", session.id, session.workspace);
        return Err(RpcError::invalid_params(message));
    }
    if is_replayed {
        replay(&agent, &mut link, &session).await?;
    }
    let is_open = agent.open().sessions.contains_key(&session.id);
    let skills = match is_open {
        true => skills(&mut link).await,
        false => start(&agent, &session, link).await?,
    };
    let result = json!({
        "modes": modes(session.policy),
        "configOptions": options(&session, &agent.defaults.models),
    });
    agent.out.answer(&id, result).await;
    introduce(&agent, &session.id, skills, mcp_servers.is_some_and(|it| !it.is_empty())).await;
    Ok(())
}

async fn start(agent: &Agent, session: &ChatSession, mut link: Link) -> Result<Vec<SkillEntry>> {
    let skills = skills(&mut link).await;
    let names = skills.iter().map(|skill| skill.name.clone()).collect();
    let notices = agent.open().notices.unwrap_or(Notices::AsThoughts);
    let models = agent.defaults.models.clone();
    let (out, requests) = (agent.out.clone(), link.requests.clone());
    let running = Session::new(session, names, models, notices, out, requests);
    agent.start(&session.id, running, link)?;
    Ok(skills)
}

async fn skills(link: &mut Link) -> Vec<SkillEntry> {
    let listed = link.ask::<SkillListReport>(RpcCall::SkillList(EmptyRequest::default()));
    listed.await.map(|report| report.skills).unwrap_or_default()
}

async fn replay(agent: &Agent, link: &mut Link, session: &ChatSession) -> Result<()> {
    let mut replay = Replay::new(PathBuf::from(&session.workspace), session.id.clone());
    let mut after = 0;
    loop {
        let request = SessionItemsRequest { session: session.id.clone(), after, limit: Some(PAGE) };
        let report: SessionItemsReport = link.ask(RpcCall::SessionItems(request)).await?;
        for item in report.items {
            after = item.sequence;
            if let Some(update) = replay.take(item) {
                agent.out.update(&session.id, update).await;
            }
        }
        if !report.more {
            break;
        }
    }
    for update in replay.finish() {
        agent.out.update(&session.id, update).await;
    }
    Ok(())
}

/// Sends the available commands and known limitations. The client must already know the session id.
async fn introduce(agent: &Agent, session: &str, skills: Vec<SkillEntry>, has_mcp: bool) {
    let update = "available_commands_update";
    let update = json!({ "sessionUpdate": update, "availableCommands": commands(skills) });
    agent.out.update(session, update).await;
    if !has_mcp {
        return;
    }
    // Editors write the agent's standard error to their log.
    let _ = writeln!(std::io::stderr(), "{NO_MCP}");
    let notices = agent.open().notices;
    if notices == Some(Notices::Shown) {
        let update = json!({ "sessionUpdate": "notice", "severity": "warning", "title": NO_MCP });
        agent.out.update(session, update).await;
    }
}

fn commands(skills: Vec<SkillEntry>) -> Vec<Value> {
    let undo = json!({ "name": "undo", "description": "Undo the changes of the last turn" });
    let skills = skills.into_iter().filter(|skill| skill.name != "undo").map(|skill| {
        let input = json!({ "hint": "instructions for the skill" });
        json!({ "name": skill.name, "description": skill.description, "input": input })
    });
    [undo].into_iter().chain(skills).collect()
}

pub(super) async fn list(
    agent: Arc<Agent>,
    id: RequestId,
    given: ListSessionsParams,
) -> Result<()> {
    let folder = given.cwd.as_deref().map(absolute).transpose()?.map(real);
    let mut link = agent.link(&agent.defaults.folder).await?;
    // `Some(0)` means no limit.
    let request = SessionListRequest { workspace: None, limit: Some(0) };
    let report: SessionListReport = link.ask(RpcCall::SessionList(request)).await?;
    let is_wanted = |session: &ChatSession| {
        let is_here = folder.as_ref().is_none_or(|folder| is_of(folder, &session.workspace));
        // Editors create a session for each window, so most sessions are empty and are not listed.
        is_here && 0 < session.items
    };
    let wanted: Vec<ChatSession> = report.sessions.into_iter().filter(is_wanted).collect();
    let (page, next) = page(wanted, given.cursor.as_deref())?;
    let sessions: Vec<Value> = page.into_iter().map(info).collect();
    let mut result = json!({ "sessions": sessions });
    if let Some(next) = next {
        result["nextCursor"] = json!(next);
    }
    agent.out.answer(&id, result).await;
    Ok(())
}

/// Returns the page that follows a cursor, and the cursor for the next page: the id of this page's
/// last session.
fn page(
    sessions: Vec<ChatSession>,
    cursor: Option<&str>,
) -> Result<(Vec<ChatSession>, Option<String>)> {
    let first = match cursor {
        None => 0,
        Some(cursor) => {
            let last = sessions.iter().position(|session| session.id == cursor);
            last.ok_or_else(|| RpcError::invalid_params("The cursor is no longer valid"))? + 1
        }
    };
    let is_last = sessions.len() <= first + LISTED;
    let page: Vec<ChatSession> = sessions.into_iter().skip(first).take(LISTED).collect();
    let next = page.last().filter(|_| !is_last).map(|session| session.id.clone());
    Ok((page, next))
}

fn info(session: ChatSession) -> Value {
    let title = Some(session.title).filter(|title| !title.is_empty());
    json!({
        "sessionId": session.id, "cwd": session.workspace,
        "title": title, "updatedAt": session.updated,
    })
}

pub(super) async fn delete(agent: Arc<Agent>, id: RequestId, given: SessionParams) -> Result<()> {
    let SessionParams { session_id } = given;
    let mut link = agent.link(&agent.defaults.folder).await?;
    let request = SessionRequest { session: Some(session_id.clone()), workspace: None };
    let SessionReport { session } = link.ask(RpcCall::SessionGet(request.clone())).await?;
    // Deleting requires the full id; other methods accept a prefix.
    if session.id != session_id {
        return Err(RpcError::unknown_session(&session_id));
    }
    let _: SessionRemoveReport = link.ask(RpcCall::SessionRemove(request)).await?;
    agent.open().sessions.remove(&session_id);
    agent.out.answer(&id, json!({})).await;
    Ok(())
}

fn absolute(cwd: &str) -> Result<&Path> {
    let folder = Path::new(cwd);
    match folder.is_absolute() {
        true => Ok(folder),
        false => Err(RpcError::invalid_params("`cwd` is not an absolute path")),
    }
}

fn real(folder: &Path) -> PathBuf {
    nacre_base::platform::canonicalize(folder).unwrap_or_else(|_| folder.to_owned())
}

/// Returns whether `workspace` is `folder` or the root of the repository that contains `folder`.
fn is_of(folder: &Path, workspace: &str) -> bool {
    let workspace = Path::new(workspace);
    let is_root =
        |dir: &&Path| *dir == workspace || dir.join(".git").exists() || dir.join(".nacre").is_dir();
    folder.ancestors().find(is_root) == Some(workspace)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test creates its own directories")]
    fn a_session_is_of_its_folder_and_of_those_below_in_one_repository() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir_all(root.join("repo/.git")).unwrap();
        fs::create_dir_all(root.join("repo/src")).unwrap();
        for (folder, workspace, expected) in [
            ("repo", "repo", true),
            ("repo/src", "repo", true),
            ("repo/src", "repo/src", true),
            ("repo", "repo/src", false),
            ("repo/src", "", false),
            ("other", "repo", false),
        ] {
            let workspace = root.join(workspace).display().to_string();
            let workspace = workspace.trim_end_matches('/');
            assert_eq!(is_of(&root.join(folder), workspace), expected, "{folder} {workspace}");
        }
    }

    #[test]
    fn commands_are_undo_and_the_skills() {
        let skill = |name: &str| SkillEntry {
            name: name.to_owned(),
            description: "d".to_owned(),
            origin: nacre_types::SkillOrigin::User,
            path: None,
            license: None,
            allowed_tools: None,
        };
        let names: Vec<String> = commands(vec![skill("review"), skill("undo")])
            .into_iter()
            .map(|command| command["name"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(names, ["undo", "review"]);
    }
}
