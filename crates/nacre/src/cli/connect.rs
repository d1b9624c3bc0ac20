//! `nacre connect`: agents are read, and get Nacre's server, hooks and skill.

mod ask;
mod checks;
mod print;
mod request;

use clap::Args;
use clap::builder::PossibleValuesParser;
use nacre_api::wire::{ConnectDoctorRequest, ConnectRequest, WiringOptions, WiringPart};
use nacre_ops::{Host, OpError, connect as ops};

use self::ask::agreed;
use self::request::request;
use super::exit::Exit;
use super::ui::Ui;

/// What can stand in the place of an agent.
const ACTIONS: [&str; 4] = ["auto", "list", "doctor", "remove"];

/// Connect agents: their sessions, and Nacre's tools, hooks and skill
///
/// An agent's own settings are changed only after you saw the difference and agreed; comments, other entries and their
/// order stay. `--remove` gives the files back as they were. Without any choice, the sessions of every agent are read from
/// where they usually lie, and no agent's settings are touched.
///
///   nacre connect claude codex         these agents: traces, tools, hooks and skill
///   nacre connect auto                 every agent that is used on this machine
///   nacre connect list                 what is connected, and how much there is
///   nacre connect doctor               start what is configured, and see what agents see
///   nacre connect claude --remove      as it was before
///   nacre connect codex --path DIR     only traces, from a folder of your choice
///   nacre connect codex --trust-hooks  let Codex run the hooks
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ConnectArgs {
    /// Agents, or what to do
    #[arg(value_parser = target_parser(), default_value = "list")]
    targets: Vec<String>,
    /// Where the agent keeps its traces (can be repeated)
    #[arg(long = "path", value_name = "PATH")]
    paths: Vec<String>,
    /// Only the tools (the server `nacre mcp`)
    #[arg(long)]
    mcp: bool,
    /// Only the hooks: a brief at the start, memories that fit a prompt, a sync after a turn
    #[arg(long)]
    hooks: bool,
    /// Only the skill
    #[arg(long)]
    skill: bool,
    /// Hooks also look at tools before they run, and can refuse one
    #[arg(long)]
    guard: bool,
    /// List every agent that Nacre knows, not only those that you use
    #[arg(long)]
    all: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Take out what was written; sessions that were read before are still read, until you remove the agent once more
    #[arg(long)]
    remove: bool,
    /// Say in Codex's settings that its hooks from Nacre may run
    #[arg(long, conflicts_with = "remove")]
    trust_hooks: bool,
}

fn target_parser() -> PossibleValuesParser {
    PossibleValuesParser::new(ACTIONS.into_iter().chain(ops::names()))
}

pub(crate) fn cmd_connect(ui: &mut Ui, host: &Host, args: &ConnectArgs) -> Result<Exit, OpError> {
    if args.targets.first().is_some_and(|target| target == "doctor") {
        let agents = args.targets[1..].to_vec();
        let report = ops::doctor(host, &ConnectDoctorRequest { agents })?;
        return ui.report(&report, checks::doctor);
    }
    if args.trust_hooks {
        return trust(ui, host, args);
    }
    let request = request(args)?;
    let Some(request) = agreed(ui, host, args, request)? else { return Ok(Exit::Done) };
    let next = match request {
        ConnectRequest::Remove { .. } => print::REMOVED,
        ConnectRequest::List
        | ConnectRequest::Auto { .. }
        | ConnectRequest::Add { .. }
        | ConnectRequest::Trust { .. } => print::ADDED,
    };
    let report = ops::connect(host, &request)?;
    ui.report(&report, |ui, report| print::changed(ui, report, next, args.all))
}

/// Writes the hooks first, for Codex has to know them before it can tell their hashes.
fn trust(ui: &mut Ui, host: &Host, args: &ConnectArgs) -> Result<Exit, OpError> {
    if args.targets != ["codex"] {
        return Err(OpError::usage("Only Codex asks for trust in hooks")
            .hint("nacre connect codex --trust-hooks"));
    }
    // Hooks that nobody can trust afterwards are not written first, and a dry run fails as the run would.
    ops::codex_program(host)?;
    let parts = vec![WiringPart::Hooks];
    let wiring = WiringOptions { parts, guard: args.guard, ..WiringOptions::default() };
    let hooks = ConnectRequest::Add { agents: args.targets.clone(), paths: Vec::new(), wiring };
    let Some(hooks) = agreed(ui, host, args, hooks)? else { return Ok(Exit::Done) };
    ops::connect(host, &hooks)?;
    let request = ConnectRequest::Trust { wiring: WiringOptions::default() };
    let Some(request) = agreed(ui, host, args, request)? else { return Ok(Exit::Done) };
    let report = ops::connect(host, &request)?;
    ui.report(&report, |ui, report| print::changed(ui, report, print::ADDED, args.all))
}
