//! `nacre sync`: new sessions are found, read, and made into memories.

mod lead;
mod output;
mod preview;
mod rehearsal;
mod work;

use std::time::Duration;

use clap::{Args, ValueEnum};
use nacre_core::catalog::{Progress, RefreshOptions, RefreshReport, key_of};
use nacre_core::safefs::{Access, FsError, WriteScope};
use nacre_engine::flows::run::RunMode;
use nacre_engine::flows::sync::sync_session;
use serde_json::json;

use self::work::{Assignment, Manner, Shift, Tools, Worked};
use super::exit::Exit;
use super::strategy::StrategyArgs;
use super::traces::{self, AgentName};
use super::ui::Ui;
use nacre_ops::Host;
use nacre_ops::OpError;

/// Read new and changed sessions, and keep what is worth keeping
///
/// Finds traces of the connected agents, reads those that changed since the last time, makes what was said searchable
/// (`nacre trace search`), and makes memories of the sessions of registered projects, oldest first. The same session
/// again changes nothing; a session that went on adds what is new. Ends with 3 when some sessions failed, or wait for a
/// model that cannot be had or may not be asked now.
#[derive(Debug, Args)]
pub(crate) struct SyncArgs {
    /// Read and queue sessions without making memories of them
    #[arg(long, conflicts_with = "trace")]
    no_extract: bool,
    /// Only this session: a trace of any agent, or the id of a session that was seen
    #[arg(long, value_name = "PATH")]
    trace: Option<String>,
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
    /// What the runs are for: `hot` for a session that just ended, `cold` for those from before Nacre was there; their
    /// folders are named by it and kept apart
    #[arg(long, value_name = "MODE", default_value = "sync")]
    mode: ModeName,
    /// Name this run
    #[arg(long, value_name = "ID")]
    run_id: Option<String>,
    /// Read also what did not change
    #[arg(long)]
    force: bool,
    /// Show what would be read and every line that would change; change nothing
    #[arg(long)]
    dry_run: bool,
    /// Go on although another sync is running
    #[arg(long)]
    ignore_lock: bool,
    #[command(flatten)]
    strategy: StrategyArgs,
}

/// What a run is for, on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModeName {
    Sync,
    Hot,
    Cold,
}

impl From<ModeName> for RunMode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Sync => Self::Sync,
            ModeName::Hot => Self::Hot,
            ModeName::Cold => Self::Cold,
        }
    }
}

pub(crate) fn cmd_sync(ui: &mut Ui, host: &Host, args: &SyncArgs) -> Result<Exit, OpError> {
    let SyncArgs {
        no_extract,
        trace,
        agents,
        window,
        since,
        until,
        max_sessions,
        mode,
        run_id,
        force,
        dry_run,
        ignore_lock,
        strategy,
    } = args;
    let manner = Manner { mode: (*mode).into(), force: *force };
    if let Some(trace) = trace {
        return one_trace(ui, host, trace, (manner, *strategy), *dry_run);
    }
    let now = host.now();
    let when = |text: &Option<String>| {
        text.as_deref().map(|text| traces::parse_when(text, now)).transpose()
    };
    let options = RefreshOptions {
        since: when(window)?.or(when(since)?),
        until: when(until)?,
        max_sessions: *max_sessions,
        force: *force,
        ..traces::refresh_options(
            host,
            &agents.iter().map(|name| (*name).into()).collect::<Vec<_>>(),
        )?
    };
    if *dry_run {
        return preview::preview(ui, host, (&options, *no_extract), (manner, *strategy));
    }
    // What cannot be asked at all is said before anything is read.
    let tools = if *no_extract { None } else { Some(Tools::open(ui, host, *strategy)?) };
    host.home_scope()?;
    let scope = WriteScope::create_inside(host.home()?, "run", Access::Private)?;
    let lock = match scope.lock(&host.owner("sync"), Duration::ZERO) {
        Err(FsError::Busy { .. }) if *ignore_lock => None,
        lock => Some(lock?),
    };
    let mut catalog = traces::open_catalog(host)?;
    let run_id = run_id.clone().unwrap_or_else(|| default_run_id(host));
    catalog.begin_run(&run_id, "sync", now)?;
    let mut bar = ui.progress();
    let refreshed = catalog.refresh(&options, |progress: Progress<'_>| {
        bar.show(progress.done, progress.total, progress.bytes);
    });
    bar.clear();
    let report = refreshed?;
    // What was read can be found at once; without news there is nothing to do, not even to look.
    if report.reworded > 0 {
        traces::rebuild_texts(host, &catalog)?;
    } else if report.read > 0 {
        traces::index_texts(host, &catalog)?;
    }
    let mut shift = Shift::default();
    if let Some(tools) = tools {
        let (max_sessions, is_alone) = (*max_sessions, lock.is_some());
        let assignment = Assignment { max_sessions, is_alone, manner };
        shift = work::work(ui, host, (&mut catalog, tools), &assignment)?;
    }
    catalog.end_run(&run_id, &outcome(&report, &shift), host.now())?;
    print(ui, host, &run_id, &report, &shift)
}

/// Syncs one trace into the project around, whether it was seen before or not.
fn one_trace(
    ui: &mut Ui,
    host: &Host,
    name: &str,
    (manner, strategy): (Manner, StrategyArgs),
    dry_run: bool,
) -> Result<Exit, OpError> {
    let trace = traces::named_trace(host, name)?;
    let Some(project) = host.project.as_ref().map(|project| project.path.clone()) else {
        return Err(OpError::failed("There is no project to keep memories in")
            .hint("Go to a repository and run `nacre init`"));
    };
    if dry_run {
        return preview::preview_trace(ui, host, (&trace, &project), (manner, strategy));
    }
    let key = key_of(&trace);
    let took = host.stopwatch();
    let mut tools = Tools::open(ui, host, strategy)?;
    let order = work::order(host, (&trace, &key), &project, manner);
    let report = tools.at_desk(host, &project, |desk| {
        sync_session(desk, &order, |step| ui.progress_note(&format!("{key}: {}", step.as_str())))
    })??;
    tools.finish(host)?;
    let agent = trace.source.agent.as_str().to_owned();
    let worked = [Worked { key, agent, title: String::new(), result: Ok(report), took: took() }];
    if ui.is_json() {
        ui.json(&json!({ "sessions": output::sessions_json(&worked) }))?;
    } else {
        output::print(ui, &worked)?;
    }
    Ok(if worked.iter().all(Worked::is_whole) { Exit::Done } else { Exit::Partial })
}

fn default_run_id(host: &Host) -> String {
    let stamp = host.now().strftime("%Y%m%d-%H%M%S").to_string();
    format!("sync-{stamp}-{:x}", host.environment.pid)
}

fn outcome(report: &RefreshReport, shift: &Shift) -> String {
    let n_failed = shift.worked.iter().filter(|worked| worked.result.is_err()).count();
    match report.problems.len() + n_failed {
        0 if !shift.paused.is_empty() => format!("{} sessions wait", shift.paused.len()),
        0 => "done".to_owned(),
        n_problems => format!("{n_problems} problems"),
    }
}

fn print(
    ui: &mut Ui,
    host: &Host,
    run_id: &str,
    report: &RefreshReport,
    shift: &Shift,
) -> Result<Exit, OpError> {
    let is_whole = report.problems.is_empty()
        && shift.paused.is_empty()
        && shift.worked.iter().all(Worked::is_whole);
    let exit = match (shift.is_busy, is_whole) {
        (true, _) => Exit::Busy,
        (false, true) => Exit::Done,
        (false, false) => Exit::Partial,
    };
    if ui.is_json() {
        let problems: Vec<_> = report
            .problems
            .iter()
            .map(|problem| json!({ "path": problem.path, "reason": problem.reason }))
            .collect();
        ui.json(&json!({
            "run": run_id, "sources": report.sources, "unchanged": report.unchanged, "read": report.read,
            "resumed": report.resumed, "bytes": report.bytes, "reworded": report.reworded, "readmitted": report.readmitted,
            "gone": report.gone, "left": report.left, "problems": problems,
            "sessions": output::sessions_json(&shift.worked), "paused": output::paused_json(&shift.paused),
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
    if report.reworded > 0 {
        ui.status(format!(
            "Took words of `redact.extra` out of {} sessions that were read before.",
            report.reworded
        ))?;
    }
    if report.gone > 0 {
        ui.status(format!("{} waiting sessions are gone.", report.gone))?;
    }
    if report.left > 0 {
        ui.status(format!("{} sources are left for the next sync.", report.left))?;
    }
    for problem in &report.problems {
        let path = traces::short(host, &problem.path);
        ui.warning(format!("Skipped {path}: {}", problem.reason), None);
    }
    output::print(ui, &shift.worked)?;
    output::print_paused(ui, &shift.paused);
    if shift.is_busy {
        ui.warning(
            "Another process is writing to a store; the rest waits in the queue",
            Some("nacre sync"),
        );
    }
    ui.status(format!("Run: {run_id}"))?;
    Ok(exit)
}
