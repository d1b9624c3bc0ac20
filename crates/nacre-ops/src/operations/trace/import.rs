//! Reads one session from a file, wherever it lies: in Nacre's own transcript format, or as OpenCode exports one.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use nacre_api::wire::{ErrorCode, TraceImportReport, TraceImportRequest};
use nacre_core::base::ShownLine;
use nacre_core::catalog::{
    AllowedProjects, Catalog, Connection, Placing, RefreshOptions, SessionFilter, SessionRow,
    project_root,
};
use nacre_core::transcript::{self, Agent, Source, Stamp, Trace};

use crate::error::OpError;
use crate::host::{Host, check_session, open_catalog, rebuild_texts, refresh_options};
use crate::operations::queue::job_state;

pub fn import(host: &Host, request: &TraceImportRequest) -> Result<TraceImportReport, OpError> {
    host.check_user("import a session")?;
    let path = host.environment.absolute(Path::new(&request.file));
    if !path.is_file() {
        return Err(OpError::not_found(format!("There is no file `{}`", path.display())).hint(
            "Name the file of a session; `nacre connect list` shows where agents keep theirs",
        ));
    }
    let agent = agent_of(&path);
    let stamp = Stamp { size: 0, modified: None, inode: 0 };
    check_session(&Trace::whole(Source { agent, path: path.clone(), stamp }))?;
    let connection = Connection { agent, roots: vec![path.clone()] };
    let options = RefreshOptions {
        connections: vec![connection],
        force: true,
        allowed: AllowedProjects::Only(host.project.as_ref().map(|here| here.path.clone())),
        ..refresh_options(host, &[])?
    };
    let mut catalog = open_catalog(host)?;
    let report = catalog.refresh(&options, |_| ControlFlow::Continue(()))?;
    if report.reworded > 0 {
        rebuild_texts(host, &catalog)?;
    }
    if let Some(problem) = report.problems.first() {
        return Err(invalid(problem.reason.clone()));
    }
    let SessionRow { key, state, reason, facts, .. } = session_at(&catalog, agent, &path)?;
    let projects: Vec<PathBuf> = host.projects.iter().map(|project| project.path.clone()).collect();
    match project_root(facts.cwd.as_deref(), &projects) {
        Placing::Project(other) if !is_here(host, &other) => Err(refused(&other)),
        Placing::Project(_)
        | Placing::Elsewhere(_)
        | Placing::Unregistered(_)
        | Placing::Nowhere => Ok(TraceImportReport { id: key, state: job_state(state), reason }),
    }
}

fn is_here(host: &Host, project: &Path) -> bool {
    host.project.as_ref().is_some_and(|here| here.path == project)
}

/// A file may name any folder as its own: it makes no memories in a project that the person is not in.
fn refused(project: &Path) -> OpError {
    let project = project.display().to_string();
    let project = ShownLine(&project);
    let error = invalid(format!("The session says that it is of `{project}`; nothing was queued"));
    error.hint(format!("Where that is true, import it there: cd {project}"))
}

/// Whose format the file is in. Other agents' files are read where the agent keeps them.
fn agent_of(path: &Path) -> Agent {
    let told = transcript::trace_at(path).map(|trace| trace.source.agent);
    told.ok().filter(|agent| *agent == Agent::OpenCode).unwrap_or(Agent::Generic)
}

fn session_at(catalog: &Catalog, agent: Agent, path: &PathBuf) -> Result<SessionRow, OpError> {
    let filter = SessionFilter { agent: Some(agent), ..SessionFilter::default() };
    let sessions = catalog.sessions(&filter)?;
    let session = sessions.into_iter().find(|session| session.trace.source.path == *path);
    session.ok_or_else(|| {
        invalid(format!("`{}` is not read: its name does not end in .jsonl", path.display()))
    })
}

fn invalid(message: String) -> OpError {
    OpError { code: ErrorCode::Invalid, ..OpError::failed(message) }
}
