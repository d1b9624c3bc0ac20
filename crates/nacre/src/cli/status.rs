//! `nacre status`: what there is, without judging it.

use clap::Args;
use nacre_api::wire::{
    MemoryType, SessionStatus, SpendingScope, SpendingStatus, StatusReport, StatusRequest,
    StoreStatus, TypeCount,
};
use nacre_ops::text::ShownLine;
use nacre_ops::{Host, OpError, status as ops};

use super::exit::Exit;
use super::ui::{Role, Ui};

/// Show what Nacre holds here
///
/// Counts memories by type. It reads names and keys only; whether everything is sound is said by
/// `nacre doctor`, never guessed.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {}

pub(crate) fn cmd_status(ui: &mut Ui, host: &Host, args: &StatusArgs) -> Result<Exit, OpError> {
    let StatusArgs {} = args;
    let report = ops::status(host, &StatusRequest {})?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &StatusReport) -> Result<(), OpError> {
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
    for session in &report.sessions {
        print_sessions(ui, session)?;
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
    ui.line(format!("Scope {}, {} registered projects", report.scope.as_str(), report.projects))?;
    ui.line(format!("Health {}: run `nacre doctor`", report.health.as_str()))?;
    if report.root.is_none() {
        ui.hint("Run `nacre init` to prepare this repository");
    }
    Ok(())
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
        let waiting = match store.candidates {
            1 => "1 candidate waits".to_owned(),
            n => format!("{n} candidates wait"),
        };
        ui.line(format!("         {waiting}; `nacre review` decides about them"))?;
    }
    let n_waiting = store.foreign + store.quarantined;
    if n_waiting > 0 {
        let came = if n_waiting == 1 {
            "memory came from elsewhere and is"
        } else {
            "memories came from elsewhere and are"
        };
        ui.line(format!("         {n_waiting} {came} not used in briefs: nacre trust"))?;
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
    let place = session.project.as_deref().unwrap_or("unmatched");
    ui.line(format!(
        "{:<8} {} sessions: {}{why}  {}",
        session.agent,
        session.seen,
        states.join(", "),
        ui.paint(Role::Faint, ShownLine(place))
    ))
}

fn print_spending(ui: &mut Ui, spent: &SpendingStatus) -> Result<(), OpError> {
    let when = match spent.scope {
        SpendingScope::Day => "Models today",
        SpendingScope::Project => "Models here this month",
    };
    let unpriced = match spent.unpriced_calls {
        0 => String::new(),
        calls => format!(" ({calls} calls of unknown price)"),
    };
    ui.line(format!(
        "{when}: {} of {} tokens, ${:.2} of ${:.2}{unpriced}",
        spent.tokens, spent.limit_tokens, spent.cost_usd, spent.limit_usd
    ))?;
    if spent.is_reached {
        let scope = spent.scope.as_str();
        ui.warning(
            format!("The {scope}'s limit is reached: model work is paused"),
            Some(&format!("nacre config set limits.{scope}_tokens N, or {scope}_usd")),
        );
    }
    Ok(())
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
