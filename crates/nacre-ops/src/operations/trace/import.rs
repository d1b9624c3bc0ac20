//! Reads one session from a file, wherever it lies: in Nacre's own transcript format, or as OpenCode exports one.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use nacre_api::wire::{ErrorCode, TraceImportReport, TraceImportRequest};
use nacre_core::catalog::{Catalog, Connection, RefreshOptions, SessionFilter, SessionRow};
use nacre_core::transcript::{self, Agent};

use crate::error::OpError;
use crate::host::{Host, open_catalog, rebuild_texts, refresh_options};
use crate::operations::queue::job_state;

pub fn import(host: &Host, request: &TraceImportRequest) -> Result<TraceImportReport, OpError> {
    let path = host.environment.absolute(Path::new(&request.file));
    if !path.is_file() {
        return Err(OpError::not_found(format!("There is no file `{}`", path.display())));
    }
    let agent = agent_of(&path);
    let connection = Connection { agent, roots: vec![path.clone()] };
    let options = RefreshOptions {
        connections: vec![connection],
        force: true,
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
    let SessionRow { key, state, reason, .. } = session_at(&catalog, agent, &path)?;
    Ok(TraceImportReport { id: key, state: job_state(state), reason })
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
