//! Counts what there is: memories, sessions and spending. It judges nothing: it says what `doctor` found last.

use nacre_api::wire::{
    ErrorCode, Health, Scope, SessionStatus, SpendingScope, SpendingStatus, StatusReport,
    StatusRequest, StoreStatus, TypeCount, WaitingSessions,
};
use nacre_core::catalog::StateCounts;
use nacre_core::config::ScopeMode;
use nacre_core::memory::{Located, MemoryType, StoreArea, TYPES};
use nacre_core::safefs::{Access, WriteScope};
use nacre_engine::flows::models::spent_by_scope;
use nacre_engine::model::LimitScope;
use nacre_engine::record::state::{SpentOn, State, StateError};

use super::intake::{switched_off, waiting};
use super::last_check::{LastCheck, last_check};
use super::memory::memory_type;
use super::service::service_status;
use crate::error::OpError;
use crate::host::{Host, ScopedStore, open_catalog, open_queue, spending_limits};

pub fn status(host: &Host, request: &StatusRequest) -> Result<StatusReport, OpError> {
    let StatusRequest {} = request;
    let mut stores = Vec::new();
    for scoped in [host.project_store()?, host.global_store()?].into_iter().flatten() {
        stores.push(store_status(host, &scoped)?);
    }
    let project = host.project.as_ref();
    // What concerns the machine as a whole is told to whom it belongs.
    let is_owner = host.caller.permissions.allow_everything();
    let Sessions { sessions, add_up, last_sync, waiting, check } = sessions(host)?;
    Ok(StatusReport {
        project: project.and_then(|project| project.name.clone()),
        root: project.map(|project| project.path.display().to_string()),
        scope: wire_scope(host.settings().memory.scope),
        stores,
        projects: host.projects.iter().count(),
        sessions,
        sessions_add_up: add_up,
        waiting,
        switched_off: if is_owner { switched_off(host) } else { Vec::new() },
        last_sync,
        service: if is_owner { service_status(host)? } else { None },
        database: if is_owner { host.database_status() } else { None },
        spending: if is_owner { spending(host)? } else { Vec::new() },
        config: host.mistake.clone(),
        health: check.health,
        checked: check.at,
    })
}

/// What the catalog holds.
struct Sessions {
    sessions: Vec<SessionStatus>,
    add_up: bool,
    last_sync: Option<String>,
    waiting: WaitingSessions,
    check: LastCheck,
}

impl Sessions {
    /// Nothing that could be counted.
    fn unknown() -> Self {
        Self {
            sessions: Vec::new(),
            add_up: true,
            last_sync: None,
            waiting: WaitingSessions::default(),
            check: LastCheck { health: Health::Unchecked, at: None },
        }
    }
}

/// Reads the catalog, for its owner. Where there is none, none is made.
fn sessions(host: &Host) -> Result<Sessions, OpError> {
    let is_there = host.home().is_ok_and(|home| home.join("catalog.sqlite3").is_file());
    if !is_there || !host.caller.permissions.allow_everything() {
        return Ok(Sessions::unknown());
    }
    let mut queue = match open_queue(host) {
        // What the queue holds is not known, and is not guessed from what this machine saw.
        Err(_) if host.has_database() => {
            let check = last_check(host, &open_catalog(host)?)?;
            return Ok(Sessions { check, ..Sessions::unknown() });
        }
        queue => queue?,
    };
    let counts = queue.jobs().counts()?;
    let add_up = counts.values().all(StateCounts::adds_up);
    let sessions = counts.into_iter().map(|((project, agent), counts)| {
        let states = counts.by_state.iter().map(|(state, n)| (state.as_str().to_owned(), *n));
        let states = states.collect();
        SessionStatus { project, agent, seen: counts.seen, states, skipped: counts.skipped }
    });
    let last_sync = queue
        .jobs()
        .last_run("sync")?
        .map(|run| format!("{} ({})", run.id, run.outcome.as_deref().unwrap_or("not ended")));
    Ok(Sessions {
        sessions: sessions.collect(),
        add_up,
        last_sync,
        waiting: waiting(host, &queue)?,
        check: last_check(host, &queue.catalog)?,
    })
}

/// What models used today, and for the project around in this month; nothing where no model was ever asked.
fn spending(host: &Host) -> Result<Vec<SpendingStatus>, OpError> {
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
    let shown = scopes.into_iter().filter_map(|(scope, limit, sum)| {
        let (limit_cost, cost) = (limit.cost, sum.amount.cost);
        Some(SpendingStatus {
            scope: spending_scope(scope)?,
            calls: sum.calls,
            tokens: sum.amount.tokens,
            limit_tokens: limit.tokens,
            cost_usd: cost.dollars(),
            limit_usd: limit_cost.dollars(),
            unpriced_calls: sum.unpriced_calls,
            is_reached: limit.tokens <= sum.amount.tokens
                || (cost.nano_dollars() > 0 && limit_cost <= cost),
        })
    });
    Ok(shown.collect())
}

/// A sum that status shows; a session's own is shown with the session.
fn spending_scope(scope: LimitScope) -> Option<SpendingScope> {
    match scope {
        LimitScope::Session => None,
        LimitScope::Day => Some(SpendingScope::Day),
        LimitScope::Project => Some(SpendingScope::Project),
    }
}

fn wire_scope(mode: ScopeMode) -> Scope {
    match mode {
        ScopeMode::ProjectFallbackGlobal => Scope::ProjectFallbackGlobal,
        ScopeMode::ProjectOnly => Scope::ProjectOnly,
        ScopeMode::GlobalOnly => Scope::GlobalOnly,
    }
}

fn store_status(host: &Host, scoped: &ScopedStore) -> Result<StoreStatus, OpError> {
    let listing = scoped.store.outlines(|_| true)?;
    let count = |memory_type: MemoryType, area: StoreArea| {
        let is_counted = |at: &Located| at.memory_type == memory_type && at.area == area;
        listing.memories.iter().filter(|memory| is_counted(&memory.at)).count()
    };
    let counts = TYPES.iter().map(|spec| TypeCount {
        r#type: memory_type(spec.memory_type),
        active: count(spec.memory_type, StoreArea::Active),
        archived: count(spec.memory_type, StoreArea::Archived),
    });
    let waiting = host.count_waiting(scoped);
    let newest = listing.memories.iter().filter_map(|memory| memory.updated).max();
    Ok(StoreStatus {
        scope: scoped.scope,
        path: scoped.store.path().display().to_string(),
        memories: counts.collect(),
        candidates: listing.memories.iter().filter(|memory| memory.is_candidate()).count(),
        foreign: waiting.foreign,
        quarantined: waiting.quarantined,
        broken: listing.broken.len(),
        updated: newest.map(|time| time.to_string()),
    })
}
