//! `nacre connect`: adds Nacre's MCP server, hooks and skill to the settings of agents.

use clap::builder::PossibleValuesParser;
use nacre_ops::connect as ops;
use nacre_types::{
    AgentEntry, ChangeKind, CheckState, ConnectDoctorReport, ConnectReport, ConnectRequest,
    WiringOptions, WiringPart, WiringState,
};

use super::prelude::*;
use super::render::{count, print_undo};

/// Keywords that can be used in place of agent names.
const ACTIONS: [&str; 4] = ["auto", "list", "doctor", "remove"];

const AFTER_REMOVING: &str = "Takes effect in new agent sessions.\n";
const AFTER_ADDING: &str = "Takes effect in new agent sessions; `nacre connect doctor` tests it.\n";

/// Connect agents: read their sessions, and add Nacre's tools, hooks and skill
///
/// Agents' settings are changed only after you confirm; comments, other entries and their order are
/// kept. `--remove` restores the files. By default, Nacre reads every agent's sessions from their
/// standard directories and changes no settings.
///
///   nacre connect claude codex         connect these agents: traces, tools, hooks and skill
///   nacre connect auto                 connect every agent used on this machine
///   nacre connect list                 show connected agents and how many sessions there are
///   nacre connect doctor               test the configuration as the agents would use it
///   nacre connect claude --remove      disconnect; `auto --remove` disconnects every agent
///   nacre connect codex --path DIR     only read traces, from this directory
///   nacre connect codex --trust-hooks  let Codex run the hooks
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ConnectArgs {
    /// Agents, or an action
    #[arg(value_parser = PossibleValuesParser::new(ACTIONS.into_iter().chain(ops::names())), default_value = "list")]
    targets: Vec<String>,

    /// A directory with the agent's traces (can be repeated)
    #[arg(long = "path", value_name = "PATH")]
    paths: Vec<String>,

    /// Add only the tools (the server `nacre mcp`)
    #[arg(long)]
    mcp: bool,

    /// Add only the hooks: a brief at the start, memories matching a prompt, a sync after a turn
    #[arg(long)]
    hooks: bool,

    /// Add only the skill
    #[arg(long)]
    skill: bool,

    /// Let hooks also check tool calls before they run, and block them
    #[arg(long)]
    guard: bool,

    /// List every agent that Nacre supports, not only those you use
    #[arg(long)]
    all: bool,

    /// Show what would change without changing anything
    #[arg(long)]
    dry_run: bool,

    /// Show the changes line by line, not only the files
    #[arg(long)]
    diff: bool,

    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,

    /// Remove what was added; the agent's sessions are still read until you run this again
    #[arg(long)]
    remove: bool,

    /// Mark Nacre's hooks as trusted in Codex's settings
    #[arg(long, conflicts_with = "remove")]
    trust_hooks: bool,
}

pub(crate) fn cmd_connect(ui: &mut Ui, host: &Host, args: ConnectArgs) -> CommandResult {
    if args.targets.first().is_some_and(|target| target == "doctor") {
        let agents: Vec<String> = args.targets.into_iter().skip(1).collect();
        return ui.report(&ops::doctor(host, &agents)?, print_checks);
    }
    let request = match args.trust_hooks {
        true => trust_request(ui, host, &args)?,
        false => confirm_request(ui, host, &args, args.request(host)?)?,
    };
    let Some(request) = request else { return Ok(Exit::DONE) };
    let is_removal = matches!(request, ConnectRequest::Remove { .. });
    let next = if is_removal { AFTER_REMOVING } else { AFTER_ADDING };
    let report = ops::connect(host, &request)?;
    ui.report(&report, |ui, report| print_changed(ui, report, next, args.all))
}

/// Builds the request to trust Codex's hooks. The hooks must already be written, because Codex
/// computes the hashes to trust from them.
fn trust_request(ui: &mut Ui, host: &Host, args: &ConnectArgs) -> Result<Option<ConnectRequest>> {
    if args.targets != ["codex"] {
        return Err(OpError::usage("Only Codex requires hooks to be trusted")
            .hint("nacre connect codex --trust-hooks"));
    }
    // If Codex is missing, this fails before anything is written, and a dry run reports the same
    // error.
    ops::codex_program(host)?;
    let parts = vec![WiringPart::Hooks];
    let wiring = WiringOptions { parts, guard: args.guard, ..WiringOptions::default() };
    let hooks = ConnectRequest::Add { agents: args.targets.clone(), paths: Vec::new(), wiring };
    let Some(hooks) = confirm_request(ui, host, args, hooks)? else { return Ok(None) };
    ops::connect(host, &hooks)?;
    confirm_request(ui, host, args, ConnectRequest::Trust { wiring: WiringOptions::default() })
}

impl ConnectArgs {
    fn request(&self, host: &Host) -> Result<ConnectRequest> {
        let wiring = self.wiring();
        let (agents, paths) = (self.targets.clone(), self.paths.clone());
        let is_action = |name: &String| ACTIONS.contains(&name.as_str());
        if self.targets.iter().skip(1).any(is_action) {
            return Err(OpError::usage("Only one action can be given").hint("nacre connect --help"));
        }
        match (self.targets.first().map(String::as_str), self.targets.len()) {
            (Some("list") | None, 0 | 1) => Ok(ConnectRequest::List),
            (Some("auto"), 1) if self.remove => {
                Ok(ConnectRequest::Remove { agents: ops::list_wired(host)?, wiring })
            }
            (Some("auto"), 1) => Ok(ConnectRequest::Auto { wiring }),
            (Some("remove"), 1) => {
                Err(OpError::usage("Which agent?").hint("nacre connect remove cursor"))
            }
            (Some("remove"), _) => {
                Ok(ConnectRequest::Remove { agents: agents[1..].to_vec(), wiring })
            }
            (Some(action @ ("list" | "auto")), _) => {
                Err(OpError::usage(format!("`{action}` does not take agents"))
                    .hint("List only agents: nacre connect claude codex"))
            }
            _ if self.remove => Ok(ConnectRequest::Remove { agents, wiring }),
            _ => Ok(ConnectRequest::Add { agents, paths, wiring }),
        }
    }

    fn wiring(&self) -> WiringOptions {
        let mut parts = Vec::new();
        parts.extend(self.mcp.then_some(WiringPart::Mcp));
        parts.extend(self.hooks.then_some(WiringPart::Hooks));
        parts.extend(self.skill.then_some(WiringPart::Skill));
        WiringOptions { parts, guard: self.guard, ..WiringOptions::default() }
    }
}

/// Shows the changes and asks for confirmation. Returns the request to execute, or `None` in a dry
/// run.
fn confirm_request(
    ui: &mut Ui,
    host: &Host,
    args: &ConnectArgs,
    mut request: ConnectRequest,
) -> Result<Option<ConnectRequest>> {
    if args.yes && !args.dry_run {
        return Ok(Some(request));
    }
    let mut trial = request.clone();
    if let Some(wiring) = wiring_of(&mut trial) {
        wiring.dry_run = true;
    }
    let report = ops::connect(host, &trial)?;
    if args.dry_run {
        ui.report(&report, |ui, report| print_dry_run(ui, report, args.diff))?;
        return Ok(None);
    }
    if report.changes.is_empty() {
        return Ok(Some(request));
    }
    if !ui.can_ask() || ui.is_json() {
        return Err(OpError::usage(
            "Agents' settings are changed only after confirmation; nothing was changed",
        )
        .hint("Add --dry-run to see what would change, or --yes to apply it"));
    }
    print_plan(ui, &report, args.diff);
    if !ui.confirm(&format!("Change {}?", count(report.changes.len(), "file")))? {
        return Err(OpError::usage("Nothing was changed"));
    }
    if let Some(wiring) = wiring_of(&mut request) {
        wiring.plan = report.plan;
    }
    Ok(Some(request))
}

fn wiring_of(request: &mut ConnectRequest) -> Option<&mut WiringOptions> {
    match request {
        ConnectRequest::List => None,
        ConnectRequest::Auto { wiring }
        | ConnectRequest::Add { wiring, .. }
        | ConnectRequest::Remove { wiring, .. }
        | ConnectRequest::Trust { wiring } => Some(wiring),
    }
}

fn print_checks(ui: &mut Ui, report: &ConnectDoctorReport) {
    if report.agents.is_empty() {
        ui.status("Nacre is not configured in any agent.");
        ui.hint("nacre connect auto");
    }
    for agent in &report.agents {
        let checks = agent.checks.iter().map(|check| {
            let name = check.part.as_str();
            let (role, state) = match check.state {
                CheckState::Ok => (Role::Good, "ok"),
                CheckState::Off => (Role::Faint, "off"),
                CheckState::Failed => (Role::Bad, "failed"),
            };
            let detail = ShownLine(&check.detail);
            format!("{name} {} ({detail})", ui.paint(role, state))
        });
        let checks: Vec<String> = checks.collect();
        ui.line(format!("{}  {}", ui.paint(Role::Id, &agent.agent), checks.join(" · ")));
        let failed = agent.checks.iter().filter(|check| check.state == CheckState::Failed);
        for hint in failed.filter_map(|check| check.hint.as_ref()) {
            ui.hint(hint);
        }
    }
}

fn print_changed(ui: &mut Ui, report: &ConnectReport, next: &str, all: bool) {
    for change in &report.changes {
        let verb = match change.change {
            ChangeKind::Create => "Made",
            ChangeKind::Change => "Changed",
            ChangeKind::Remove => "Removed",
        };
        ui.status(format!("{verb} {}", ShownLine(&change.path)));
    }
    for (agents, what) in [
        (&report.now_read, "Reading the sessions of"),
        (&report.no_longer_read, "No longer reading the sessions of"),
    ] {
        if !agents.is_empty() {
            ui.status(format!("{what} {}", agents.join(", ")));
        }
    }
    if !report.changes.is_empty() {
        ui.status(next);
    }
    let n_shown = ui.table(report.agents.iter().filter(|agent| all || is_used(agent)).map(row));
    match report.agents.len() - n_shown {
        0 => {}
        n_more if n_shown == 0 => {
            ui.status(format!("None of {n_more} supported agents was found; `--all` lists them"));
        }
        n_more => ui.status(format!("Not found here: {n_more} more; `--all` lists them")),
    }
    for problem in report.agents.iter().flat_map(|agent| &agent.problems) {
        ui.warning(ShownLine(problem), None);
    }
    print_notes(ui, report);
    print_undo(ui, report.change.as_deref());
}

fn print_dry_run(ui: &mut Ui, report: &ConnectReport, has_diff: bool) {
    print_plan(ui, report, has_diff);
    match report.changes.len() {
        0 => ui.status("Nothing would change."),
        n => ui.status(format!("{} would change; nothing was written.", count(n, "file"))),
    }
}

fn print_plan(ui: &mut Ui, report: &ConnectReport, has_diff: bool) {
    if has_diff {
        report.changes.iter().for_each(|change| ui.text(&change.diff));
    } else {
        ui.table(report.changes.iter().map(|change| {
            [faint(change.change.as_str()), title(&change.path), faint(change.agents.join(", "))]
        }));
    }
    print_notes(ui, report);
}

fn print_notes(ui: &mut Ui, report: &ConnectReport) {
    for left_out in &report.left_out {
        ui.warning(ShownLine(left_out), None);
    }
    for note in &report.notes {
        ui.hint(note);
    }
}

/// Returns whether an agent has sessions on this machine or is connected to Nacre. The skill does
/// not count, because several agents share the directory it is in.
fn is_used(agent: &AgentEntry) -> bool {
    let is_wired = |state| matches!(state, WiringState::On | WiringState::Outdated);
    agent.sources > 0 || is_wired(agent.mcp) || is_wired(agent.hooks) || !agent.problems.is_empty()
}

fn row(agent: &AgentEntry) -> Row {
    let part = |name: &str, state: WiringState| {
        let role = match state {
            WiringState::On => Role::Good,
            WiringState::Outdated => Role::Warning,
            WiringState::Off | WiringState::NotPossible => Role::Faint,
        };
        let shown = if state == WiringState::NotPossible { "-" } else { state.as_str() };
        cell(role, format!("{name} {shown}"))
    };
    let traces = match agent.traces {
        WiringState::NotPossible => String::new(),
        WiringState::On | WiringState::Off | WiringState::Outdated => {
            format!("{} sources in {}", agent.sources, agent.roots.join(", "))
        }
    };
    vec![
        id(&agent.agent),
        part("traces", agent.traces),
        part("mcp", agent.mcp),
        part("hooks", agent.hooks),
        part("skill", agent.skill),
        faint(traces),
    ]
}
