//! `nacre status`: what there is, without judging it.

mod service;
mod spending;

use clap::Args;
use nacre_api::wire::{
    Health, MemoryType, SessionStatus, StatusReport, StatusRequest, StoreStatus, TypeCount,
};
use nacre_ops::text::ShownLine;
use nacre_ops::{Host, OpError, status as ops};

use self::service::print_service;
use self::spending::print_spending;
use super::exit::Exit;
use super::intake::{print_waiting, sessions_text, switched_off_text};
use super::remote::{Asked, by_server_or};
use super::ui::{Role, Ui};

/// Show what Nacre holds here
///
/// Counts memories by type and the sessions of this project, says what waits, and what the last
/// `nacre doctor` said. It reads names and keys only, and judges nothing itself.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {}

pub(crate) fn cmd_status(ui: &mut Ui, host: &Host, args: &StatusArgs) -> Result<Exit, OpError> {
    let (StatusArgs {}, request, events) = (args, StatusRequest {}, ui.events());
    let asked = Asked { route: ("GET", "/api/status"), request: &request, names_file: false };
    let report = by_server_or((ui, host), &asked, &events, || ops::status(host, &request))?;
    ui.report(&report, |ui, report| print(ui, host, report))
}

fn print(ui: &mut Ui, host: &Host, report: &StatusReport) -> Result<(), OpError> {
    match (&report.project, &report.root) {
        (Some(name), Some(root)) => {
            ui.line(format!("Project {} in {}", ui.paint(Role::Title, name), ShownLine(root)))?;
        }
        (None, Some(root)) => ui.line(format!("Project in {}, not registered", ShownLine(root)))?,
        (_, None) => ui.line("No project here")?,
    }
    for store in &report.stores {
        print_store(ui, store)?;
    }
    let is_shown =
        |session: &&SessionStatus| report.root.is_none() || session.project == report.root;
    for session in report.sessions.iter().filter(is_shown) {
        print_sessions(ui, session)?;
    }
    print_waiting(ui, host, &report.waiting)?;
    if let Some(off) = switched_off_text(&report.switched_off) {
        ui.status(off)?;
    }
    if !report.sessions_add_up {
        ui.warning(
            "The sessions seen and their states do not add up",
            Some("nacre sync --no-extract --force"),
        );
    }
    for spent in report.spending.iter().filter(|spent| spent.calls > 0) {
        print_spending(ui, spent)?;
    }
    if let Some(last) = &report.last_sync {
        ui.line(format!("Last sync {}", ShownLine(last)))?;
    }
    print_service(ui, report.service.as_ref(), report.database.as_ref())?;
    ui.line(format!("Scope {}, {} registered projects", report.scope.as_str(), report.projects))?;
    ui.line(health_text(report))?;
    if report.root.is_none() {
        ui.hint("Run `nacre init` to prepare this repository");
    }
    Ok(())
}

fn health_text(report: &StatusReport) -> String {
    let health = report.health.as_str();
    // The minute is enough.
    let at = report.checked.as_deref().map(|at| at.get(..16).unwrap_or(at).replace('T', " "));
    match (report.health, at) {
        (Health::Ok, Some(at)) => format!("Health {health}, checked {at}"),
        (Health::Broken, Some(at)) => {
            format!("Health {health}, checked {at}: `nacre doctor` shows what is wrong")
        }
        (_, _) => format!("Health {}: run `nacre doctor`", Health::Unchecked.as_str()),
    }
}

fn print_store(ui: &mut Ui, store: &StoreStatus) -> Result<(), OpError> {
    let counts: Vec<String> = store.memories.iter().map(count_text).collect();
    ui.line(format!(
        "{:<8} {}  {}",
        store.scope.as_str(),
        counts.join(", "),
        ui.paint(Role::Faint, ShownLine(&store.path))
    ))?;
    if store.candidates > 0 {
        let wait = if store.candidates == 1 { "candidate waits" } else { "candidates wait" };
        ui.line(format!(
            "         {} {wait}; `nacre review` decides about them",
            store.candidates
        ))?;
    }
    let n_waiting = store.foreign + store.quarantined;
    if n_waiting > 0 {
        let (came, is) = if n_waiting == 1 { ("memory", "is") } else { ("memories", "are") };
        let told = format!("{came} came from elsewhere and {is} not used in briefs: nacre trust");
        ui.line(format!("         {n_waiting} {told}"))?;
    }
    if store.broken > 0 {
        let broken = format!("{} broken; `nacre doctor` shows where", store.broken);
        ui.line(format!("         {}", ui.paint(Role::Bad, broken)))?;
    }
    Ok(())
}

fn print_sessions(ui: &mut Ui, session: &SessionStatus) -> Result<(), OpError> {
    let states: Vec<String> =
        session.states.iter().map(|(state, n)| format!("{n} {state}")).collect();
    let why: Vec<String> =
        session.skipped.iter().map(|(reason, n)| format!("{n} {reason}")).collect();
    let why =
        if why.is_empty() { String::new() } else { format!(" (skipped: {})", why.join(", ")) };
    let place = session.project.as_deref().unwrap_or("no project");
    ui.line(format!(
        "{:<8} {}: {}{why}  {}",
        session.agent,
        sessions_text(session.seen),
        states.join(", "),
        ui.paint(Role::Faint, ShownLine(place))
    ))
}

fn count_text(count: &TypeCount) -> String {
    let name = match (count.r#type, count.active) {
        (MemoryType::Summary, 1) => "summary",
        (MemoryType::Summary, _) => "summaries",
        (MemoryType::Decision, 1) => "decision",
        (MemoryType::Decision, _) => "decisions",
        (MemoryType::Learning, 1) => "learning",
        (MemoryType::Learning, _) => "learnings",
    };
    let archived = match count.archived {
        0 => String::new(),
        n_archived => format!(" (+{n_archived} archived)"),
    };
    format!("{} {name}{archived}", count.active)
}
