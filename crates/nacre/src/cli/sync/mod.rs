//! `nacre sync`: extracts memories from new sessions.

mod output;

use std::thread;
use std::time::Duration;

use nacre_ops::sync as ops;
use nacre_types::{ErrorCode, StrategyChoice, SyncMode, SyncRequest, SyncTraceRequest};

use super::args::agent_parser;
use super::prelude::*;
use super::remote::{by_server_or, server};
use super::sessions::{ReaderArgs, settle_reader};

/// How often `--watch` checks for changes. It compares only file sizes and modification times.
const WATCH_PERIOD: Duration = Duration::from_secs(2);

/// While waiting, Ctrl-C takes effect within this time.
const CANCEL_PERIOD: Duration = Duration::from_millis(100);

/// Read new and changed sessions and extract memories
///
/// Finds the connected agents' traces, reads those that changed since the last sync, makes their
/// messages searchable (`nacre trace search`), and extracts memories from sessions of registered
/// projects, oldest first. Reading a session again changes nothing; for a session that has
/// continued, only the new content is added. Exits with 3 if some sessions failed or need a model
/// that is not available.
#[derive(Debug, Args)]
pub(crate) struct SyncArgs {
    /// Read and queue sessions without extracting memories
    #[arg(long, conflicts_with = "trace")]
    no_extract: bool,
    /// Read only this session into the current project: a session's id, the path of a trace, or
    /// PATH:ID for a session in a database
    #[arg(long, value_name = "TRACE")]
    trace: Option<String>,
    /// Only this agent (can be repeated)
    #[arg(long = "agent", value_name = "AGENT", value_parser = agent_parser())]
    agents: Vec<String>,
    /// Only traces changed within this time (30min, 36h, 7d, 2w, 3mo, 1y)
    #[arg(long, value_name = "AGE", conflicts_with = "since")]
    window: Option<String>,
    /// Only traces changed since this date, time or age
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Only traces changed before this date, time or age
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,
    /// Stop after this many sessions
    #[arg(long, value_name = "N")]
    max_sessions: Option<usize>,
    /// Read this session although it changed in the last two minutes, because it has ended: the
    /// agent's own id of the session
    #[arg(long, value_name = "ID", conflicts_with = "trace")]
    ended: Option<String>,
    /// The kind of run, used in the names of run directories: `hot` for a session that just ended,
    /// `cold` for sessions older than the store
    #[arg(long, value_name = "MODE", default_value = "sync", value_parser = one_of::<SyncMode>(SyncMode::NAMES))]
    mode: SyncMode,
    /// The name of this run
    #[arg(long, value_name = "ID")]
    run_id: Option<String>,
    /// Also read sessions that have not changed
    #[arg(long)]
    force: bool,
    /// Show what would be read and changed, line by line, without changing anything
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Keep running and sync whenever a trace changes, until Ctrl-C
    #[arg(long, conflicts_with_all = ["trace", "dry_run", "force", "max_sessions"])]
    watch: bool,
    /// Run even if another sync is running
    #[arg(long)]
    ignore_lock: bool,
    /// How to extract: by rules (offline), by a model (windows), or by whichever is available
    /// (auto)
    #[arg(long, value_name = "STRATEGY", value_parser = one_of::<StrategyChoice>(StrategyChoice::NAMES))]
    strategy: Option<StrategyChoice>,
    #[command(flatten)]
    reader: ReaderArgs,
}

pub(crate) fn cmd_sync(ui: &mut Ui, host: &Host, args: SyncArgs) -> CommandResult {
    let SyncArgs { dry_run, watch, mode, force, strategy, .. } = args;
    if !args.no_extract && !dry_run && strategy != Some(StrategyChoice::Offline) {
        settle_reader(ui, host, args.reader, None)?;
    }
    if let Some(trace) = args.trace {
        let request = SyncTraceRequest { trace, mode, force, strategy };
        return if dry_run {
            let report = ops::preview_trace(host, &request, &ui.cancellable_events())?;
            ui.report(&report, |ui, report| output::print_planned(ui, &report.sessions))
        } else {
            let report = ops::sync_trace(host, &request, &ui.cancellable_events())?;
            ui.report(&report, output::print_trace)
        };
    }
    let request = SyncRequest {
        no_extract: args.no_extract,
        agents: args.agents,
        since: args.window.or(args.since),
        until: args.until,
        max_sessions: args.max_sessions,
        ended: args.ended,
        mode,
        run_id: args.run_id,
        force,
        ignore_lock: args.ignore_lock,
        strategy,
    };
    if dry_run {
        let report = ops::preview(host, &request, &ui.cancellable_events())?;
        return ui.report(&report, |ui, report| output::print_preview(ui, host, report));
    }
    if watch {
        return sync_until_cancelled(ui, host, &request);
    }
    let (server, events) = (server(ui, host), ui.cancellable_events());
    let here = |events: &_| ops::sync(host, &request, events);
    let report = by_server_or(server, "POST /api/sync", &request, &events, here)?;
    ui.report(&report, |ui, report| output::print(ui, host, report))
}

fn sync_until_cancelled(ui: &mut Ui, host: &Host, request: &SyncRequest) -> CommandResult {
    let events = ui.cancellable_events();
    ui.status("Watching for new and changed sessions; press Ctrl-C to stop.");
    ui.flush()?;
    loop {
        match ops::sync(host, request, &events) {
            Ok(report) if report.read == 0 && report.sessions.is_empty() => {}
            Ok(report) if ui.is_json() => ui.json_line(&report),
            Ok(report) => output::print(ui, host, &report),
            Err(error) if error.code == ErrorCode::Cancelled => return Ok(Exit::DONE),
            // The next iteration tries again.
            Err(error) if error.code == ErrorCode::Busy => {}
            Err(error) => return Err(error),
        }
        ui.flush()?;
        let mut left = WATCH_PERIOD;
        while !left.is_zero() && !events.cancel().is_cancelled() {
            thread::sleep(CANCEL_PERIOD);
            left = left.saturating_sub(CANCEL_PERIOD);
        }
        if events.cancel().is_cancelled() {
            return Ok(Exit::DONE);
        }
    }
}
