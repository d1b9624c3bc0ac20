//! `nacre trust`

use std::io::Write as _;

use clap::Args;
use nacre_api::wire::{TrustItem, TrustReport, TrustRequest};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError};

use super::diff::{Side, diff};
use super::exit::Exit;
use super::memory::{ScopeArg, counted, print_memory_row, print_undo};
use super::ui::{Role, Ui};

/// See the memories that came from elsewhere, and trust them
///
/// What a clone or a pull brought is in no brief and no hook until you agree. Without ids the memories that wait are listed; with
/// ids or --all you are asked about them. What gives an order with an address, a command or a password in it is
/// quarantined, and has to be named by its id.
#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// The memories' ids
    ids: Vec<String>,
    /// All that came from elsewhere, but nothing that is quarantined
    #[arg(long)]
    all: bool,
    /// Show the texts, or what changed since you trusted them
    #[arg(long)]
    diff: bool,
    /// Show what would be trusted, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short = 'y')]
    yes: bool,
    #[command(flatten)]
    scope: ScopeArg,
}

pub(crate) fn cmd_trust(ui: &mut Ui, host: &Host, args: &TrustArgs) -> Result<Exit, OpError> {
    let TrustArgs { ids, all, diff, dry_run, yes, scope } = args;
    let mut request = TrustRequest {
        ids: ids.clone(),
        all: *all,
        dry_run: true,
        // What is agreed to together is shown in full before.
        diff: *diff || *all,
        seen: Vec::new(),
        scope: scope.mode(),
    };
    let shown = nacre_ops::trust(host, &request)?;
    let is_asked = !ids.is_empty() || *all;
    if *dry_run || !is_asked || shown.memories.is_empty() {
        return ui.report(&shown, print);
    }
    if !*yes {
        agree(ui, &shown)?;
    }
    request.dry_run = false;
    request.seen = shown.memories.iter().map(|one| one.hash.clone()).collect();
    let report = nacre_ops::trust(host, &request)?;
    ui.report(&report, print_done)
}

/// Shows the memories and asks; an error where the person does not agree.
fn agree(ui: &mut Ui, shown: &TrustReport) -> Result<(), OpError> {
    if !ui.can_ask() || ui.is_json() {
        return Err(OpError::usage("A memory is trusted only after a yes; nothing was changed")
            .hint("Add --dry-run to see what would be trusted, and --yes to trust it"));
    }
    for one in &shown.memories {
        print_item(ui, one)?;
    }
    ui.flush();
    let mut terminal = std::io::stderr();
    let these = if shown.memories.len() == 1 { "this memory" } else { "these memories" };
    write!(terminal, "Trust {these}? [y/N] ")?;
    terminal.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(OpError::usage("Nothing was changed")),
    }
}

fn print(ui: &mut Ui, report: &TrustReport) -> Result<(), OpError> {
    for one in &report.memories {
        print_item(ui, one)?;
    }
    match (report.foreign, report.quarantined) {
        (0, 0) => ui.status("Nothing waits to be trusted."),
        (foreign, quarantined) => {
            ui.status(format!(
                "\n{} from elsewhere, {quarantined} quarantined; none of them is used in briefs.",
                counted(foreign)
            ))?;
            print_more(ui, report)?;
            ui.status("See the texts: nacre trust --diff. Trust: nacre trust ID, nacre trust --all")
        }
    }
}

fn print_done(ui: &mut Ui, report: &TrustReport) -> Result<(), OpError> {
    for one in report.memories.iter().filter(|one| !one.trusted) {
        ui.warning(format!("{} changed meanwhile and is not trusted", one.memory.id), None);
    }
    let waiting: Vec<&TrustItem> = report
        .memories
        .iter()
        .filter(|one| one.trusted && one.memory.status == "candidate")
        .collect();
    for one in waiting {
        ui.hint(&format!("It still waits in the review: nacre review accept {}", one.memory.id));
    }
    ui.status(format!("Trusted {}.", counted(report.trusted)))?;
    print_more(ui, report)?;
    print_undo(ui, report.change.as_deref())
}

fn print_more(ui: &mut Ui, report: &TrustReport) -> Result<(), OpError> {
    match report.more {
        0 => Ok(()),
        more => ui.status(format!("{} more than are looked at at once.", counted(more))),
    }
}

fn print_item(ui: &mut Ui, one: &TrustItem) -> Result<(), OpError> {
    print_memory_row(ui, &one.memory)?;
    let who = match (&one.committed_by, &one.committed) {
        (Some(who), Some(when)) => format!("; committed by {who} on {when}"),
        _ => String::new(),
    };
    let note = Shown(&format!("{}{who}", one.reason)).one_line();
    ui.line(format!("    {}", ui.paint(Role::Warning, note)))?;
    let Some(text) = &one.text else { return Ok(()) };
    let before = one.before.as_deref().unwrap_or_default();
    for (side, line) in diff(before, text) {
        let (sign, role) = match side {
            Side::Both => (' ', Role::Faint),
            Side::Old => ('-', Role::Bad),
            Side::New => ('+', Role::Good),
        };
        let line = Shown(line).one_line();
        ui.line(format!("    {}", ui.paint(role, format!("{sign} {line}"))))?;
    }
    Ok(())
}
