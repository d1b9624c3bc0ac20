//! Finds a session by what a command printed of it: its id, the agent's own, `agent:session` as a memory names its source, the id
//! of a memory or of a run, and at a terminal also the path of its trace.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use nacre_core::catalog::{Catalog, CatalogError, JobState, SessionRow, key_of};
use nacre_core::transcript::{self, ADAPTERS, Event, Sink};
use nacre_engine::flows::record::{RunRecord, read_record};
use nacre_engine::flows::run;

use crate::error::OpError;
use crate::host::{Host, agent_names, open_catalog};

/// Where the name of a session comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameSource {
    /// Typed by the user at this terminal: a path is read.
    Terminal,
    /// A request: an id, and never a path, so that no request reads a file or learns whether it exists.
    Request,
}

pub(super) fn find_session(
    host: &Host,
    name: &str,
    source: NameSource,
) -> Result<SessionRow, OpError> {
    let catalog = open_catalog(host)?;
    let path = host.environment.absolute(&expanded(host, name));
    if source == NameSource::Terminal && path.is_file() {
        return at_path(&catalog, &path);
    }
    let unknown = match catalog.session(own_id(name)) {
        Err(error @ CatalogError::UnknownTrace { .. }) => error,
        found => return Ok(found?),
    };
    let named = of_memory(host, name).or_else(|| of_run(host, name));
    match named.map(|session| catalog.session(own_id(&session))) {
        Some(Ok(session)) => Ok(session),
        Some(Err(_)) | None if source == NameSource::Terminal && name.contains('/') => {
            Err(OpError::not_found(format!("There is no trace `{}`", path.display()))
                .hint("`nacre trace list` shows the sessions that were seen"))
        }
        Some(Err(_)) | None => Err(unknown.into()),
    }
}

/// A path as the commands print it: short for what lies in the home folder.
fn expanded(host: &Host, name: &str) -> PathBuf {
    match (name.strip_prefix("~/"), &host.environment.home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => Path::new(name).to_owned(),
    }
}

/// `claude:ID` without the agent.
fn own_id(name: &str) -> &str {
    let source = name.split_once(':');
    let is_agent = |agent: &str| agent_names().any(|known| known == agent);
    source.filter(|(agent, _)| is_agent(agent)).map_or(name, |(_, id)| id)
}

/// The session of a trace file: as it was seen, or read now.
fn at_path(catalog: &Catalog, path: &Path) -> Result<SessionRow, OpError> {
    let trace = transcript::trace_at(path)?;
    let key = key_of(&trace);
    if let Ok(seen) = catalog.session(&key) {
        return Ok(seen);
    }
    let adapter = ADAPTERS.iter().find(|adapter| adapter.agent() == trace.source.agent);
    let Some(adapter) = adapter else {
        return Err(OpError::failed("The agent of this session is not known"));
    };
    let mut ignore = |_: Event| {};
    let outcome =
        adapter.read(&trace, None, Sink::everything(&mut ignore)).map_err(CatalogError::from)?;
    Ok(SessionRow {
        key,
        trace,
        project: None,
        facts: outcome.facts,
        report: outcome.report,
        state: JobState::Pending,
        reason: Some("not seen by a sync".to_owned()),
    })
}

/// The session that a memory was made from.
fn of_memory(host: &Host, id: &str) -> Option<String> {
    let stores = host.stores_to_read(None).ok()?;
    let memory = stores.iter().find_map(|scoped| scoped.store.get(id).ok())?;
    memory.source.or_else(|| {
        let source = memory.document.text("raw_trace_path").ok().flatten();
        source.map(Cow::into_owned)
    })
}

/// The session that a run read.
fn of_run(host: &Host, id: &str) -> Option<String> {
    let store = host.project_store().ok()??.store;
    let run = run::find(&store, id).ok()?;
    match read_record(&store, &run).ok()?? {
        RunRecord::Sync(report) => Some(report.session),
        RunRecord::Maintain(_) | RunRecord::Undo(_) => None,
    }
}
