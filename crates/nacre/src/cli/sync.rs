//! `nacre sync`: new sessions are found, read, and made into memories.

mod learned;
mod mode;
mod notes;
mod output;
mod preview;
mod watch;

use clap::Args;
use nacre_api::wire::{StrategyChoice, SyncRequest, SyncTraceRequest};
use nacre_ops::{Host, OpError, sync as ops};

use self::mode::ModeName;
use super::exit::Exit;
use super::reader::{ReaderArgs, settle_lead, settle_reader};
use super::remote::{Asked, by_server_or};
use super::runtime::RuntimeArgs;
use super::strategy::StrategyArgs;
use super::traces::agent_parser;
use super::ui::Ui;

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
    #[arg(long = "agent", value_name = "AGENT", value_parser = agent_parser())]
    agents: Vec<String>,
    /// Only traces changed within this time (30min, 36h, 7d, 2w, 3mo, 1y)
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
    /// Go on: read again whenever a trace changes, until Ctrl-C
    #[arg(long, conflicts_with_all = ["trace", "dry_run", "force", "max_sessions"])]
    watch: bool,
    /// Go on although another sync is running
    #[arg(long)]
    ignore_lock: bool,
    #[command(flatten)]
    runtime: RuntimeArgs,
    #[command(flatten)]
    strategy: StrategyArgs,
    #[command(flatten)]
    reader: ReaderArgs,
}

impl SyncArgs {
    /// Whether it only shows what it would do.
    pub(crate) fn is_preview(&self) -> bool {
        self.dry_run
    }
}

pub(crate) fn cmd_sync(ui: &mut Ui, host: &Host, args: &SyncArgs) -> Result<Exit, OpError> {
    if !args.no_extract && !args.dry_run && args.strategy.choice() != Some(StrategyChoice::Offline)
    {
        settle_reader(ui, host, &args.reader, None)?;
        settle_lead(ui, host, &args.reader, args.runtime.choice())?;
    }
    if let Some(request) = trace_request(args) {
        return if args.dry_run {
            let report = ops::preview_trace(host, &request, &ui.cancellable_events())?;
            ui.report(&report, preview::print_trace)
        } else {
            let report = ops::sync_trace(host, &request, &ui.cancellable_events())?;
            ui.report(&report, output::print_trace)
        };
    }
    let request = request(args);
    if args.dry_run {
        let report = ops::preview(host, &request, &ui.cancellable_events())?;
        return ui.report(&report, |ui, report| preview::print(ui, host, report));
    }
    if args.watch {
        return watch::watch(ui, host, &request);
    }
    let events = ui.cancellable_events();
    let asked = Asked { route: ("POST", "/api/sync"), request: &request, names_file: false };
    let report = by_server_or((ui, host), &asked, &events, || ops::sync(host, &request, &events))?;
    ui.report(&report, |ui, report| output::print(ui, host, report))
}

/// The one session that was named.
fn trace_request(args: &SyncArgs) -> Option<SyncTraceRequest> {
    let SyncArgs { trace, mode, force, strategy, runtime, .. } = args;
    Some(SyncTraceRequest {
        trace: trace.clone()?,
        mode: (*mode).into(),
        force: *force,
        strategy: strategy.choice(),
        runtime: runtime.choice(),
    })
}

fn request(args: &SyncArgs) -> SyncRequest {
    SyncRequest {
        no_extract: args.no_extract,
        agents: args.agents.clone(),
        since: args.window.clone().or_else(|| args.since.clone()),
        until: args.until.clone(),
        max_sessions: args.max_sessions,
        mode: args.mode.into(),
        run_id: args.run_id.clone(),
        force: args.force,
        ignore_lock: args.ignore_lock,
        strategy: args.strategy.choice(),
        runtime: args.runtime.choice(),
    }
}
