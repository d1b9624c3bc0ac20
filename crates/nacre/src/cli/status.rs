//! `nacre status`: an overview of memories, sessions, the queue and the server.

use nacre_ops::status as ops;
use nacre_types::{
    DatabaseStatus, EmptyRequest, Health, MemoryType, ServiceStatus, SessionStatus, SpendingScope,
    SpendingStatus, StatusReport, StoreStatus, TypeCount,
};

pub(super) use super::args::NoArgs;
use super::layout::minute;
use super::prelude::*;
use super::remote::{by_server_or, server};
use super::render::count;
use super::sessions::{describe_disconnected, print_waiting, sessions_text};

pub(crate) fn cmd_status(ui: &mut Ui, host: &Host, _: NoArgs) -> CommandResult {
    let (server, request, events) = (server(ui, host), EmptyRequest {}, ui.events());
    let here = |_: &_| ops::status(host, &request);
    let report = by_server_or(server, "GET /api/status", &request, &events, here)?;
    ui.report(&report, |ui, report| print(ui, host, report))
}

fn print(ui: &mut Ui, host: &Host, report: &StatusReport) {
    match (&report.project, &report.root) {
        (Some(name), Some(root)) => {
            ui.line(format!("Project {} in {}", ui.paint(Role::Title, name), ShownLine(root)));
        }
        (None, Some(root)) => ui.line(format!("Unregistered project in {}", ShownLine(root))),
        (_, None) => ui.line("No project here"),
    }
    for store in &report.stores {
        print_store(ui, store);
    }
    let is_shown =
        |session: &&SessionStatus| report.root.is_none() || session.project == report.root;
    for session in report.sessions.iter().filter(is_shown) {
        let states: Vec<String> =
            session.states.iter().map(|(state, n)| format!("{n} {state}")).collect();
        let why: Vec<String> =
            session.skipped.iter().map(|(reason, n)| format!("{n} {reason}")).collect();
        let why =
            if why.is_empty() { String::new() } else { format!(" (skipped: {})", why.join(", ")) };
        let place = session.project.as_deref().unwrap_or("no project");
        let place = ui.paint(Role::Faint, ShownLine(place));
        let (agent, seen) = (&session.agent, sessions_text(session.seen));
        ui.line(format!("{agent:<8} {seen}: {}{why}  {place}", states.join(", ")));
    }
    print_waiting(ui, host, &report.waiting);
    if let Some(off) = describe_disconnected(&report.switched_off) {
        ui.status(off);
    }
    if !report.sessions_add_up {
        ui.warning(
            "The number of sessions does not match their states",
            Some("nacre sync --no-extract --force"),
        );
    }
    for spent in report.spending.iter().filter(|spent| spent.calls > 0) {
        print_spending(ui, spent);
    }
    if let Some(last) = &report.last_sync {
        ui.line(format!("Last sync {}", ShownLine(last)));
    }
    if let Some(ServiceStatus { address, paused }) = &report.service {
        let state = if *paused { ", paused" } else { "" };
        ui.line(format!("Server http://{}{state}", ShownLine(address)));
    }
    if let Some(database) = &report.database {
        print_database(ui, database);
    }
    let projects = count(report.projects, "registered project");
    ui.line(format!("Scope {}, {projects}", report.scope.as_str()));
    ui.line(health_text(report));
    if report.root.is_none() {
        ui.hint("Run `nacre init` to prepare this repository");
    }
}

fn health_text(report: &StatusReport) -> String {
    let health = report.health.as_str();
    match (report.health, report.checked.as_deref().map(minute)) {
        (Health::Ok, Some(at)) => format!("Health {health}, checked {at}"),
        (Health::Broken, Some(at)) => {
            format!("Health {health}, checked {at}: `nacre doctor` shows the problems")
        }
        (_, _) => format!("Health {}: run `nacre doctor`", Health::Unchecked.as_str()),
    }
}

fn print_store(ui: &mut Ui, store: &StoreStatus) {
    let (scope, path) = (store.scope.as_str(), ui.paint(Role::Faint, ShownLine(&store.path)));
    let counts: Vec<String> = store.memories.iter().map(count_text).collect();
    ui.line(format!("{scope:<8} {}  {path}", counts.join(", ")));
    if store.candidates > 0 {
        let candidates = count(store.candidates, "candidate");
        ui.line(format!("         {candidates} to review: nacre review"));
    }
    let n_waiting = store.foreign + store.quarantined;
    if n_waiting > 0 {
        let memories = count(n_waiting, "memory");
        ui.line(format!("         {memories} from elsewhere, not used in briefs: nacre trust"));
    }
    if store.broken > 0 {
        ui.note(9, Role::Bad, format!("{} malformed; `nacre doctor` shows where", store.broken));
    }
}

fn count_text(of_type: &TypeCount) -> String {
    let noun = match of_type.r#type {
        MemoryType::Summary => "summary",
        MemoryType::Decision => "decision",
        MemoryType::Learning => "learning",
    };
    let archived = match of_type.archived {
        0 => String::new(),
        n_archived => format!(" (+{n_archived} archived)"),
    };
    count(of_type.active, noun) + &archived
}

fn print_database(ui: &mut Ui, database: &DatabaseStatus) {
    let DatabaseStatus { state, since, detail, .. } = database;
    if state.is_usable() {
        return ui.line(format!("Database {}", state.as_str()));
    }
    let why = detail.as_deref().map(|why| format!(": {}", ShownLine(why))).unwrap_or_default();
    ui.line(ui.paint(Role::Bad, format!("Database {} since {since}{why}", state.as_str())));
}

fn print_spending(ui: &mut Ui, spent: &SpendingStatus) {
    let when = match spent.scope {
        SpendingScope::Day => "Models today",
        SpendingScope::Project => "Model usage here this month",
    };
    let unpriced = match spent.unpriced_calls {
        0 => String::new(),
        calls => format!(" ({calls} calls of unknown price)"),
    };
    ui.line(format!(
        "{when}: {} of {} tokens, ${:.2} of ${:.2}{unpriced}",
        spent.tokens, spent.limit_tokens, spent.cost_usd, spent.limit_usd
    ));
    if spent.is_reached {
        let scope = spent.scope.as_str();
        ui.warning(
            format!("The limit per {scope} is reached: model work is paused"),
            Some(&format!("nacre config set limits.{scope}_tokens N, or {scope}_usd")),
        );
    }
}
