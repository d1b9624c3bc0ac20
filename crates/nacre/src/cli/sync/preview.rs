//! `nacre sync --dry-run`: what would be read, and file by file what would change.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use nacre_core::base::Shown;
use nacre_core::catalog::{
    Catalog, JobState, Placing, QueueFilter, RefreshOptions, key_of, project_root,
};
use nacre_core::transcript::{ADAPTERS, SessionRole, Sink, Source, Trace};
use nacre_engine::flows::run::WORKSPACE;
use nacre_engine::flows::sync::{RunReport, preview_session, rehearse_session};
use serde_json::json;

use super::super::changes::print_changes;
use super::super::exit::Exit;
use super::super::strategy::StrategyArgs;
use super::super::traces;
use super::super::ui::{Role, Ui};
use super::rehearsal::{Rehearsal, rehearsal_scope};
use super::work::{Manner, Tools, order};
use nacre_api::wire::PlannedChange;
use nacre_ops::Host;
use nacre_ops::OpError;
use nacre_ops::changes::shared_changes;
use nacre_ops::host::STORE_FOLDER;

/// A session that would be worked off.
struct Waiting {
    key: String,
    trace: Trace,
    project: PathBuf,
}

/// Shows what a sync of everything would do; each session is compared with the store as the earlier ones would leave it.
pub(super) fn preview(
    ui: &mut Ui,
    host: &Host,
    (options, no_extract): (&RefreshOptions, bool),
    (manner, strategy): (Manner, StrategyArgs),
) -> Result<Exit, OpError> {
    let mut catalog = traces::open_catalog(host)?;
    let (sources, report) = catalog.preview(options)?;
    let waiting = if no_extract { Vec::new() } else { waiting(&catalog, &sources, options)? };
    let planned = plan_all(host, &waiting, (manner, strategy))?;
    if ui.is_json() {
        let sources: Vec<_> = sources
            .iter()
            .map(|source| json!({ "agent": source.agent.as_str(), "path": source.path, "bytes": source.stamp.size }))
            .collect();
        let sessions: Vec<_> = planned.iter().map(plan_json).collect();
        ui.json(
            &json!({ "would_read": sources, "unchanged": report.unchanged, "sessions": sessions }),
        )?;
        return Ok(Exit::Done);
    }
    let rows: Vec<_> = sources
        .iter()
        .map(|source| {
            let path = traces::short(host, &source.path);
            vec![(Role::Id, source.agent.as_str().to_owned()), (Role::Faint, path)]
        })
        .collect();
    ui.table(&rows)?;
    ui.status(format!("Would read {} of {} sources.", sources.len(), report.sources))?;
    for (report, changes) in &planned {
        print_plan(ui, report, changes)?;
    }
    Ok(Exit::Done)
}

/// Shows what a sync of one trace would do.
pub(super) fn preview_trace(
    ui: &mut Ui,
    host: &Host,
    (trace, project): (&Trace, &Path),
    (manner, strategy): (Manner, StrategyArgs),
) -> Result<Exit, OpError> {
    let session = Waiting { key: key_of(trace), trace: trace.clone(), project: project.to_owned() };
    let planned = plan_all(host, std::slice::from_ref(&session), (manner, strategy))?;
    if ui.is_json() {
        let sessions: Vec<_> = planned.iter().map(plan_json).collect();
        ui.json(&json!({ "sessions": sessions }))?;
        return Ok(Exit::Done);
    }
    for (report, changes) in &planned {
        print_plan(ui, report, changes)?;
    }
    Ok(Exit::Done)
}

type Planned = (RunReport, Vec<PlannedChange>);

/// Plans one session after the other. A store that several of them go to is copied, and they are done there.
fn plan_all(
    host: &Host,
    waiting: &[Waiting],
    (manner, strategy): (Manner, StrategyArgs),
) -> Result<Vec<Planned>, OpError> {
    let mut tools = Tools::without_lead(host, strategy)?;
    let n_of = |project: &Path| waiting.iter().filter(|one| one.project == project).count();
    let shared: BTreeSet<&Path> = waiting
        .iter()
        .map(|one| one.project.as_path())
        .filter(|project| n_of(project) > 1)
        .collect();
    let scope = if shared.is_empty() { None } else { Some(rehearsal_scope(host)?) };
    let mut rehearsal = scope.as_ref().map(|scope| Rehearsal::begin(host, scope)).transpose()?;
    if let Some(rehearsal) = &mut rehearsal {
        for project in &shared {
            let copy = rehearsal.copy(host, (tools.store(host, project)?, project))?;
            tools.put_copy(project, copy);
        }
    }
    waiting.iter().map(|one| plan(host, &mut tools, one, manner, &shared)).collect()
}

fn plan(
    host: &Host,
    tools: &mut Tools,
    session: &Waiting,
    manner: Manner,
    copied: &BTreeSet<&Path>,
) -> Result<Planned, OpError> {
    let project = session.project.as_path();
    let order = order(host, (&session.trace, &session.key), project, manner);
    let (mut report, changes) = tools.at_desk(host, project, |desk| {
        if copied.contains(project) {
            rehearse_session(desk, &order)
        } else {
            preview_session(desk, &order)
        }
    })??;
    let store = project.join(STORE_FOLDER);
    (report.memory_root, report.workspace_root) = (store.join("memory"), store.join(WORKSPACE));
    Ok((report, shared_changes(changes)))
}

/// The sessions that wait in the queue, and those of sources that would be read first; oldest first.
fn waiting(
    catalog: &Catalog,
    sources: &[Source],
    options: &RefreshOptions,
) -> Result<Vec<Waiting>, OpError> {
    let mut found: BTreeMap<String, (Option<jiff::Timestamp>, Waiting)> = BTreeMap::new();
    let filter = QueueFilter { state: Some(JobState::Pending), ..QueueFilter::default() };
    for job in catalog.jobs(&filter)? {
        let row = catalog.session(&job.key)?;
        let Some(project) = row.project.map(PathBuf::from) else { continue };
        let waiting = Waiting { key: job.key.clone(), trace: row.trace, project };
        found.insert(job.key, (row.facts.last_activity, waiting));
    }
    for source in sources {
        let adapter = ADAPTERS.iter().find(|adapter| adapter.agent() == source.agent);
        let Some(adapter) = adapter else { continue };
        for trace in adapter.sessions(source).unwrap_or_default() {
            // What cannot be read is the refresh's to report.
            let Ok(read) = adapter.read(&trace, None, Sink::said(&mut |_| {})) else { continue };
            let placing = project_root(read.facts.cwd.as_deref(), &options.projects);
            let Placing::Project(project) = placing else { continue };
            if read.facts.role != SessionRole::Main || read.facts.counts.user == 0 {
                continue;
            }
            let key = key_of(&trace);
            let waiting = Waiting { key: key.clone(), trace, project };
            found.insert(key, (read.facts.last_activity, waiting));
        }
    }
    let mut waiting: Vec<_> = found.into_values().collect();
    waiting.sort_by_key(|(last_activity, _)| *last_activity);
    Ok(waiting.into_iter().map(|(_, waiting)| waiting).collect())
}

fn plan_json((report, changes): &Planned) -> serde_json::Value {
    json!({ "report": report, "changes": changes })
}

fn print_plan(ui: &mut Ui, report: &RunReport, changes: &[PlannedChange]) -> Result<(), OpError> {
    ui.line(ui.paint(Role::Title, Shown(&report.trace_path).one_line()))?;
    for action in &report.actions {
        let line = format!("{}: {} ({})", action.action, action.title, action.reason);
        ui.line(format!("  {}", Shown(&line).one_line()))?;
    }
    print_changes(ui, changes)
}
