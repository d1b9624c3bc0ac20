//! `nacre connect`: agents are read, and get Nacre's server, hooks and skill.

mod ask;
mod print;

use clap::Args;
use clap::builder::PossibleValuesParser;
use nacre_api::wire::{ConnectDoctorRequest, ConnectRequest, WiringOptions, WiringPart};
use nacre_ops::{Host, OpError, connect as ops};

use self::ask::agreed;
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
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Take out what was written, and no longer read the agents
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
        return ui.report(&report, print::doctor);
    }
    if args.trust_hooks {
        return trust(ui, host, args);
    }
    let request = request(args)?;
    let Some(request) = agreed(ui, host, args, request)? else { return Ok(Exit::Done) };
    let print = match request {
        ConnectRequest::Remove { .. } => print::removed,
        ConnectRequest::List
        | ConnectRequest::Auto { .. }
        | ConnectRequest::Add { .. }
        | ConnectRequest::Trust { .. } => print::report,
    };
    ui.report(&ops::connect(host, &request)?, print)
}

/// Writes the hooks first, for Codex has to know them before it can tell their hashes.
fn trust(ui: &mut Ui, host: &Host, args: &ConnectArgs) -> Result<Exit, OpError> {
    if args.targets != ["codex"] {
        return Err(OpError::usage("Only Codex asks for trust in hooks")
            .hint("nacre connect codex --trust-hooks"));
    }
    let parts = vec![WiringPart::Hooks];
    let wiring = WiringOptions { parts, guard: args.guard, ..WiringOptions::default() };
    let hooks = ConnectRequest::Add { agents: args.targets.clone(), paths: Vec::new(), wiring };
    let Some(hooks) = agreed(ui, host, args, hooks)? else { return Ok(Exit::Done) };
    ops::connect(host, &hooks)?;
    let request = ConnectRequest::Trust { wiring: WiringOptions::default() };
    let Some(request) = agreed(ui, host, args, request)? else { return Ok(Exit::Done) };
    ui.report(&ops::connect(host, &request)?, print::report)
}

fn request(args: &ConnectArgs) -> Result<ConnectRequest, OpError> {
    let wiring = wiring(args);
    let (agents, paths) = (args.targets.clone(), args.paths.clone());
    let rest = || args.targets[1..].to_vec();
    let is_action = |name: &String| ACTIONS.contains(&name.as_str());
    if args.targets.iter().skip(1).any(is_action) {
        return Err(
            OpError::usage("Only one thing can be done at a time").hint("nacre connect --help")
        );
    }
    match (args.targets.first().map(String::as_str), args.targets.len()) {
        (Some("list") | None, 0 | 1) => Ok(ConnectRequest::List),
        (Some("auto"), 1) if args.remove => {
            Err(OpError::usage("Which agent?").hint("nacre connect claude --remove"))
        }
        (Some("auto"), 1) => Ok(ConnectRequest::Auto { wiring }),
        (Some("remove"), 1) => {
            Err(OpError::usage("Which agent?").hint("nacre connect remove cursor"))
        }
        (Some("remove"), _) => Ok(ConnectRequest::Remove { agents: rest(), wiring }),
        (Some("list" | "auto"), _) => {
            Err(OpError::usage(format!("`{}` takes no agent", args.targets[0])))
        }
        _ if args.remove => Ok(ConnectRequest::Remove { agents, wiring }),
        _ => Ok(ConnectRequest::Add { agents, paths, wiring }),
    }
}

fn wiring(args: &ConnectArgs) -> WiringOptions {
    let parts = [
        (args.mcp, WiringPart::Mcp),
        (args.hooks, WiringPart::Hooks),
        (args.skill, WiringPart::Skill),
    ];
    let parts = parts.into_iter().filter_map(|(is_asked, part)| is_asked.then_some(part)).collect();
    WiringOptions { parts, guard: args.guard, ..WiringOptions::default() }
}
