//! `nacre sync`: the catalog is brought up to date.

use std::time::Duration;

use clap::Args;
use nacre_core::catalog::{Progress, RefreshOptions, RefreshReport};
use nacre_core::safefs::{Access, FsError, WriteScope};
use serde_json::json;

use super::error::{CommandError, Exit};
use super::runtime::Runtime;
use super::traces::{self, AgentName};
use super::ui::{Role, Ui};

/// Read new and changed sessions of the connected agents
///
/// Finds traces, reads those that changed since the last time, makes what was said searchable
/// (`nacre trace search`) and puts the sessions of registered projects into the queue.
#[derive(Debug, Args)]
pub(crate) struct SyncArgs {
    /// Read and queue sessions without making memories of them
    #[arg(long, required = true)]
    no_extract: bool,
    /// Only this agent (can be repeated)
    #[arg(long = "agent", value_name = "AGENT")]
    agents: Vec<AgentName>,
    /// Only traces changed within this time, such as 7d
    #[arg(long, value_name = "AGE", conflicts_with = "since")]
    window: Option<String>,
    /// Only traces changed since this day, moment or age
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Only traces changed before this day, moment or age
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,
    /// Stop after this many sessions
    #[arg(long, value_name = "N")]
    max_sessions: Option<usize>,
    /// Name this run
    #[arg(long, value_name = "ID")]
    run_id: Option<String>,
    /// Read also what did not change
    #[arg(long)]
    force: bool,
    /// Show what would be read, read nothing
    #[arg(long)]
    dry_run: bool,
    /// Go on although another sync is running
    #[arg(long)]
    ignore_lock: bool,
}

pub(crate) fn cmd_sync(
    ui: &mut Ui,
    runtime: &Runtime,
    args: &SyncArgs,
) -> Result<Exit, CommandError> {
    let SyncArgs {
        no_extract: _,
        agents,
        window,
        since,
        until,
        max_sessions,
        run_id,
        force,
        dry_run,
        ignore_lock,
    } = args;
    let now = runtime.now();
    let when = |text: &Option<String>| {
        text.as_deref().map(|text| traces::parse_when(text, now)).transpose()
    };
    let options = RefreshOptions {
        since: when(window)?.or(when(since)?),
        until: when(until)?,
        max_sessions: *max_sessions,
        force: *force,
        ..traces::refresh_options(runtime, agents)?
    };
    if *dry_run {
        return preview(ui, runtime, &options);
    }
    runtime.home_scope()?;
    let scope = WriteScope::create_inside(runtime.home()?, "run", Access::Private)?;
    let _lock = match scope.lock(&runtime.owner("sync"), Duration::ZERO) {
        Err(FsError::Busy { .. }) if *ignore_lock => None,
        lock => Some(lock?),
    };
    let mut catalog = traces::open_catalog(runtime)?;
    let run_id = run_id.clone().unwrap_or_else(|| default_run_id(runtime));
    catalog.begin_run(&run_id, "sync", now)?;
    let mut bar = ui.progress();
    let refreshed = catalog.refresh(&options, |progress: Progress<'_>| {
        bar.show(progress.done, progress.total, progress.bytes);
    });
    bar.clear();
    let report = refreshed?;
    // What was read can be found at once; without news there is nothing to do, not even to look.
    if report.read > 0 {
        traces::index_texts(runtime, &catalog)?;
    }
    catalog.end_run(&run_id, &outcome(&report), runtime.now())?;
    print(ui, runtime, &run_id, &report)
}

fn default_run_id(runtime: &Runtime) -> String {
    let stamp = runtime.now().strftime("%Y%m%d-%H%M%S").to_string();
    format!("sync-{stamp}-{:x}", runtime.environment.pid)
}

fn outcome(report: &RefreshReport) -> String {
    if report.problems.is_empty() {
        "done".to_owned()
    } else {
        format!("{} problems", report.problems.len())
    }
}

fn preview(ui: &mut Ui, runtime: &Runtime, options: &RefreshOptions) -> Result<Exit, CommandError> {
    let mut catalog = traces::open_catalog(runtime)?;
    let (sources, report) = catalog.preview(options)?;
    if ui.is_json() {
        let sources: Vec<_> = sources
            .iter()
            .map(|source| json!({ "agent": source.agent.as_str(), "path": source.path, "bytes": source.stamp.size }))
            .collect();
        ui.json(&json!({ "would_read": sources, "unchanged": report.unchanged }))?;
        return Ok(Exit::Done);
    }
    let rows: Vec<_> = sources
        .iter()
        .map(|source| {
            let path = traces::short(runtime, &source.path);
            vec![(Role::Id, source.agent.as_str().to_owned()), (Role::Faint, path)]
        })
        .collect();
    ui.table(&rows)?;
    ui.status(format!("Would read {} of {} sources.", sources.len(), report.sources))?;
    Ok(Exit::Done)
}

fn print(
    ui: &mut Ui,
    runtime: &Runtime,
    run_id: &str,
    report: &RefreshReport,
) -> Result<Exit, CommandError> {
    let exit = if report.problems.is_empty() { Exit::Done } else { Exit::Partial };
    if ui.is_json() {
        let problems: Vec<_> = report
            .problems
            .iter()
            .map(|problem| json!({ "path": problem.path, "reason": problem.reason }))
            .collect();
        ui.json(&json!({
            "run": run_id, "sources": report.sources, "unchanged": report.unchanged, "read": report.read,
            "resumed": report.resumed, "bytes": report.bytes, "readmitted": report.readmitted,
            "gone": report.gone, "left": report.left, "problems": problems,
        }))?;
        return Ok(exit);
    }
    ui.status(format!(
        "Read {} sessions of {} sources ({} unchanged, {} went on where they had ended).",
        report.read, report.sources, report.unchanged, report.resumed
    ))?;
    if report.readmitted > 0 {
        ui.status(format!(
            "Admitted {} sessions of projects registered since.",
            report.readmitted
        ))?;
    }
    if report.gone > 0 {
        ui.status(format!("{} waiting sessions are gone.", report.gone))?;
    }
    if report.left > 0 {
        ui.status(format!("{} sources are left for the next sync.", report.left))?;
    }
    for problem in &report.problems {
        let path = traces::short(runtime, &problem.path);
        ui.warning(format!("Skipped {path}: {}", problem.reason), None);
    }
    ui.status(format!("Run: {run_id}"))?;
    Ok(exit)
}
