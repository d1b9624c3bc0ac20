//! `nacre status`: what there is, without judging it.

use std::collections::BTreeMap;

use clap::Args;
use nacre_api::wire::ErrorCode;
use nacre_core::base::ShownLine;
use nacre_core::memory::{MemoryType, Shelf, TYPES};
use nacre_core::safefs::{Access, WriteScope};
use nacre_engine::flows::models::spent_by_scope;
use nacre_engine::model::{Amount, LimitScope};
use nacre_engine::record::state::{SpentOn, State, StateError};
use serde::Serialize;

use super::exit::Exit;
use super::traces;
use super::ui::{Role, Ui};
use nacre_ops::Host;
use nacre_ops::OpError;
use nacre_ops::host::ScopedStore;
use nacre_ops::host::spending_limits;

/// Show what Nacre holds here
///
/// Counts memories by type. It reads names and keys only; whether everything is sound is said by
/// `nacre doctor`, never guessed.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {}

#[derive(Serialize)]
struct StatusOutput {
    project: Option<String>,
    root: Option<String>,
    scope: &'static str,
    stores: Vec<StoreStatus>,
    projects: usize,
    sessions: Vec<SessionStatus>,
    /// Whether every session seen is in exactly one state.
    sessions_add_up: bool,
    last_sync: Option<String>,
    /// What models used, beside what they may.
    spending: Vec<SpendingStatus>,
    /// What is wrong with the settings of the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<String>,
    /// Only a completed check says `ok`.
    health: &'static str,
}

#[derive(Serialize)]
struct StoreStatus {
    scope: &'static str,
    path: String,
    memories: Vec<TypeCount>,
    broken: usize,
    updated: Option<String>,
}

/// The sessions of one agent in one project.
#[derive(Serialize)]
struct SessionStatus {
    project: Option<String>,
    agent: String,
    seen: u64,
    states: BTreeMap<&'static str, u64>,
    skipped: BTreeMap<String, u64>,
}

/// What models used in one scope.
#[derive(Serialize)]
struct SpendingStatus {
    scope: &'static str,
    calls: u64,
    tokens: u64,
    limit_tokens: u64,
    cost_usd: f64,
    limit_usd: f64,
    /// Calls whose price is not known: only their tokens are counted.
    unpriced_calls: u64,
    /// Whether nothing more may be asked.
    is_reached: bool,
}

#[derive(Serialize)]
struct TypeCount {
    r#type: &'static str,
    active: usize,
    archived: usize,
}

pub(crate) fn cmd_status(ui: &mut Ui, host: &Host, args: &StatusArgs) -> Result<Exit, OpError> {
    let StatusArgs {} = args;
    let mut stores = Vec::new();
    for scoped in [host.project_store()?, host.global_store()?].into_iter().flatten() {
        stores.push(store_status(&scoped)?);
    }
    let project = host.project.as_ref();
    let (sessions, sessions_add_up, last_sync) = session_status(host)?;
    let output = StatusOutput {
        project: project.and_then(|project| project.name.clone()),
        root: project.map(|project| project.path.display().to_string()),
        scope: host.settings().memory.scope.as_str(),
        stores,
        projects: host.projects.iter().count(),
        sessions,
        sessions_add_up,
        last_sync,
        spending: spending_status(host)?,
        config: host.mistake.clone(),
        health: "unchecked",
    };
    if ui.is_json() {
        ui.json(&output)?;
    } else {
        print(ui, &output)?;
    }
    if host.mistake.is_some() || output.stores.iter().any(|store| store.broken > 0) {
        Ok(Exit::Partial)
    } else {
        Ok(Exit::Done)
    }
}

/// What the catalog holds; nothing where none was made yet, and none is made for asking.
fn session_status(host: &Host) -> Result<(Vec<SessionStatus>, bool, Option<String>), OpError> {
    let is_there = host.home().is_ok_and(|home| home.join("catalog.sqlite3").is_file());
    if !is_there {
        return Ok((Vec::new(), true, None));
    }
    let catalog = traces::open_catalog(host)?;
    let counts = catalog.counts()?;
    let adds_up = counts.values().all(nacre_core::catalog::StateCounts::adds_up);
    let sessions = counts
        .into_iter()
        .map(|((project, agent), counts)| SessionStatus {
            project,
            agent,
            seen: counts.seen,
            states: counts
                .by_state
                .iter()
                .map(|(state, n_found)| (state.as_str(), *n_found))
                .collect(),
            skipped: counts.skipped,
        })
        .collect();
    let last = catalog.last_run("sync")?;
    Ok((
        sessions,
        adds_up,
        last.map(|run| format!("{} ({})", run.id, run.outcome.as_deref().unwrap_or("not ended"))),
    ))
}

/// What models used today, and for the project around in this month; nothing where nobody was ever asked.
fn spending_status(host: &Host) -> Result<Vec<SpendingStatus>, OpError> {
    let failed = |error: StateError| OpError::from_error(ErrorCode::Failed, &error, None);
    let home = match host.home() {
        Ok(home) if home.is_dir() => WriteScope::open(home, Access::Private)?,
        Ok(_) | Err(_) => return Ok(Vec::new()),
    };
    let Some(state) = State::open_existing(&home).map_err(failed)? else { return Ok(Vec::new()) };
    let limits = spending_limits(&host.settings().limits);
    let project = host.project.as_ref().map(|project| project.path.display().to_string());
    let on = SpentOn { project, session: String::new() };
    let scopes = spent_by_scope(&state, &limits, &on, host.now()).map_err(failed)?;
    let dollars = |amount: Amount| amount.cost.dollars();
    let told = scopes.into_iter().filter(|(scope, ..)| *scope != LimitScope::Session);
    Ok(told
        .map(|(scope, limit, sum)| SpendingStatus {
            scope: scope.as_str(),
            calls: sum.calls,
            tokens: sum.amount.tokens,
            limit_tokens: limit.tokens,
            cost_usd: dollars(sum.amount),
            limit_usd: dollars(limit),
            unpriced_calls: sum.unpriced_calls,
            is_reached: limit.tokens <= sum.amount.tokens
                || (sum.amount.cost.nano_dollars() > 0 && limit.cost <= sum.amount.cost),
        })
        .collect())
}

fn store_status(scoped: &ScopedStore) -> Result<StoreStatus, OpError> {
    let listing = scoped.store.list(|_| true)?;
    let count = |memory_type: MemoryType, shelf: Shelf| {
        let is_counted =
            |at: &nacre_core::memory::Located| at.memory_type == memory_type && at.shelf == shelf;
        listing.memories.iter().filter(|memory| is_counted(&memory.at)).count()
    };
    let counts = TYPES.iter().map(|spec| TypeCount {
        r#type: spec.name,
        active: count(spec.memory_type, Shelf::Active),
        archived: count(spec.memory_type, Shelf::Archived),
    });
    Ok(StoreStatus {
        scope: scoped.scope.as_str(),
        path: scoped.store.path().display().to_string(),
        memories: counts.collect(),
        broken: listing.broken.len(),
        updated: listing
            .memories
            .iter()
            .filter_map(|memory| memory.updated)
            .max()
            .map(|time| time.to_string()),
    })
}

fn print(ui: &mut Ui, output: &StatusOutput) -> Result<(), OpError> {
    match (&output.project, &output.root) {
        (Some(name), Some(root)) => {
            ui.line(format!("Project {} in {}", ui.paint(Role::Title, name), ShownLine(root)))?;
        }
        (None, Some(root)) => ui.line(format!("Project in {}, not registered", ShownLine(root)))?,
        (_, None) => ui.line("No project here")?,
    }
    for store in &output.stores {
        let counts: Vec<String> = store.memories.iter().map(count_text).collect();
        ui.line(format!(
            "{:<8} {}  {}",
            store.scope,
            counts.join(", "),
            ui.paint(Role::Faint, ShownLine(&store.path))
        ))?;
        if store.broken > 0 {
            let broken = format!("{} broken; `nacre doctor` shows where", store.broken);
            ui.line(format!("         {}", ui.paint(Role::Bad, broken)))?;
        }
    }
    for session in &output.sessions {
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
        ))?;
    }
    if !output.sessions_add_up {
        ui.warning(
            "The sessions seen and their states do not add up",
            Some("nacre sync --no-extract --force"),
        );
    }
    for spent in output.spending.iter().filter(|spent| spent.calls > 0) {
        print_spending(ui, spent)?;
    }
    if let Some(last) = &output.last_sync {
        ui.line(format!("Last sync {}", ShownLine(last)))?;
    }
    ui.line(format!("Scope {}, {} registered projects", output.scope, output.projects))?;
    ui.line(format!("Health {}: run `nacre doctor`", output.health))?;
    if output.root.is_none() {
        ui.hint("Run `nacre init` to prepare this repository");
    }
    Ok(())
}

fn print_spending(ui: &mut Ui, spent: &SpendingStatus) -> Result<(), OpError> {
    let when = match spent.scope {
        "day" => "Models today",
        _ => "Models here this month",
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
        let hint = format!("nacre config set limits.{}_tokens N, or {0}_usd", spent.scope);
        ui.warning(
            format!("The {}'s limit is reached: model work is paused", spent.scope),
            Some(&hint),
        );
    }
    Ok(())
}

fn count_text(count: &TypeCount) -> String {
    let plural = match count.r#type {
        "summary" => "summaries".to_owned(),
        name if count.active == 1 => return format!("1 {name}{}", archived_text(count.archived)),
        name => format!("{name}s"),
    };
    format!("{} {plural}{}", count.active, archived_text(count.archived))
}

fn archived_text(n_archived: usize) -> String {
    if n_archived == 0 { String::new() } else { format!(" (+{n_archived} archived)") }
}
