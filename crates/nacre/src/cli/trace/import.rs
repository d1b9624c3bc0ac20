//! `nacre trace import`

use std::path::PathBuf;

use clap::Args;
use nacre_core::catalog::{Connection, RefreshOptions, SessionFilter};
use nacre_core::transcript::Agent;
use serde_json::json;

use super::super::exit::Exit;
use super::super::traces;
use super::super::ui::{Role, Ui};
use nacre_ops::Host;
use nacre_ops::OpError;

/// Read a session in Nacre's own transcript format
///
/// One JSON object a line, the last part of its name `.jsonl`; docs/transcript-format.md describes it. The
/// file stays where it is and is read from there.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The transcript
    file: PathBuf,
}

pub(crate) fn cmd_import(ui: &mut Ui, host: &Host, args: &ImportArgs) -> Result<Exit, OpError> {
    let ImportArgs { file } = args;
    let path = host.environment.absolute(file);
    if !path.is_file() {
        return Err(OpError::failed(format!("There is no file `{}`", path.display())));
    }
    let connection = Connection { agent: Agent::Generic, roots: vec![path.clone()] };
    let options = RefreshOptions {
        connections: vec![connection],
        force: true,
        ..traces::refresh_options(host, &[])?
    };
    let mut catalog = traces::open_catalog(host)?;
    let report = catalog.refresh(&options, |_| {})?;
    if report.reworded > 0 {
        traces::rebuild_texts(host, &catalog)?;
    }
    if let Some(problem) = report.problems.first() {
        return Err(OpError::failed(problem.reason.clone()));
    }
    let filter = SessionFilter { agent: Some(Agent::Generic), ..SessionFilter::default() };
    let session =
        catalog.sessions(&filter)?.into_iter().find(|session| session.trace.source.path == path);
    let Some(session) = session else {
        return Err(OpError::failed(format!(
            "`{}` is not read: its name does not end in .jsonl",
            path.display()
        )));
    };
    if ui.is_json() {
        ui.json(&json!({ "id": session.key, "state": session.state.as_str(), "reason": session.reason }))?;
        return Ok(Exit::Done);
    }
    let reason = session.reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    let state = session.state.as_str();
    ui.status(format!("Read {}, {state}{reason}", ui.paint(Role::Id, &session.key)))?;
    Ok(Exit::Done)
}
