//! Processes the session queue, oldest sessions first, because later sessions supersede earlier
//! ones. If several sessions change the same store, a preview syncs into a copy of the store.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use nacre_base::fs::{Access, RelPath, WriteScope, Writer};
use nacre_memory::Store;
use nacre_memory::search::{INDEX_FOLDER, index_scope};
use nacre_team::postgres::queue::SharedQueue;
use nacre_traces::catalog::{CatalogError, Claim, ClaimOrder, JobQueue as _, Outcome, QueueFilter};
use nacre_traces::transcript::TraceSource;
use nacre_types::{
    ErrorCode, PausedSession, PlannedSession, SessionRun, SourceEntry, StrategyChoice, SyncMode,
    SyncPreviewReport, SyncRequest, SyncResult, SyncTracePreviewReport, SyncTraceRequest,
    SyncedSession,
};

use super::resources::{SessionToSync, SyncResources};
use super::{done, millis, refresh_options, report_progress};
use crate::error::{OpError, Result};
use crate::events::Events;
use crate::host::{Host, SHARED_LEASE, STORE_FOLDER, SystemClock, WaitingQueue, clock, open_queue};
use crate::run::change::select_shared_changes;
use crate::run::folder::WORKSPACE;
use crate::status::waiting;
use crate::sync::pipeline::{Pause, preview_session, sync_session};

/// Maximum number of attempts to finish a claim while the database is unreachable. Together with
/// the interval below, this covers the duration of a lease.
const MAX_TRIES: u32 = 24;
const TRY_AGAIN: Duration = Duration::from_millis(500);

pub(super) struct QueueOptions {
    pub(super) max_sessions: Option<usize>,
    /// Whether no other sync is running. If so, any existing claims belong to a crashed sync.
    pub(super) is_alone: bool,
    pub(super) mode: SyncMode,
    pub(super) force: bool,
    pub(super) change: String,
}

pub(super) struct ClaimedSession {
    pub(super) claim: Claim,
    pub(super) session: SessionToSync,
    title: String,
}

pub(super) fn claim_next(
    host: &Host,
    queue: &mut WaitingQueue,
    now: Timestamp,
) -> Result<Option<ClaimedSession>> {
    let token = format!("{}{}", queue.token_prefix(), host.environment.pid);
    let lease = queue.lease();
    loop {
        let claimed = queue.jobs().claim(&token, now, lease, ClaimOrder::OldestFirst)?;
        let Some(claim) = claimed else { return Ok(None) };
        let Some(row) = queue.session(&claim.key)? else {
            finish_claim(host, queue, &claim, &Outcome::Released)?;
            continue;
        };
        let project = claim.project.as_deref().map(PathBuf::from).unwrap_or_default();
        let session = SessionToSync { key: claim.key.clone(), trace: row.trace, project };
        let title = row.facts.title.unwrap_or_default();
        return Ok(Some(ClaimedSession { claim, session, title }));
    }
}

/// Finishes a claim. If the database is unreachable, retries for the duration of a lease.
pub(super) fn finish_claim(
    host: &Host,
    queue: &mut WaitingQueue,
    claim: &Claim,
    outcome: &Outcome,
) -> Result<()> {
    let mut n_tries = 0;
    loop {
        let ended = queue.jobs().finish(claim, outcome, host.now());
        match ended {
            Err(CatalogError::Shared { is_passing: true, .. }) if n_tries < MAX_TRIES => {
                n_tries += 1;
                std::thread::sleep(TRY_AGAIN);
            }
            // Another server has claimed the session in the meantime. It will find the committed
            // results.
            Err(CatalogError::LeaseLost { .. }) if queue.shared().is_some() => return Ok(()),
            ended => return ended.map(|_| ()).map_err(OpError::from),
        }
    }
}

pub(super) fn process_queue(
    host: &Host,
    queue: &mut WaitingQueue,
    mut resources: SyncResources,
    options: &QueueOptions,
    events: &Events,
) -> Result<QueueReport> {
    let begun = host.now();
    if options.is_alone {
        let prefix = queue.token_prefix();
        queue.jobs().give_back(&prefix, begun)?;
    }
    let (mut report, mut held) = (QueueReport::default(), Vec::new());
    let n_due = queue.waiting(begun)?.ready;
    let n_due = options.max_sessions.map_or(n_due, |max| n_due.min(max as u64));
    let keeper = LeaseKeeper::start(queue.shared(), clock(host))?;
    while options.max_sessions.is_none_or(|max| report.sessions.len() < max) {
        if events.cancel().is_cancelled() {
            report.is_cancelled = true;
            break;
        }
        events.progress(report.sessions.len() as u64, n_due, 0);
        // A local sync processes only sessions that were due when the sync started. Leases in a
        // shared queue depend on the current time.
        let now = if queue.shared().is_some() { host.now() } else { begun };
        let Some(claimed) = claim_next(host, queue, now)? else { break };
        lock(&keeper.held).push(claimed.claim.clone());
        let took = host.stopwatch();
        let result = match sync_claimed(host, &mut resources, &claimed, options, events) {
            Ok(run) => Ok(run),
            Err(SessionFailure::Failed(reason)) => Err(reason),
            Err(SessionFailure::Busy) => {
                report.is_busy = true;
                held.push(claimed.claim);
                break;
            }
            Err(SessionFailure::Paused(Pause::Cancelled, _)) => {
                report.is_cancelled = true;
                held.push(claimed.claim);
                break;
            }
            Err(SessionFailure::Paused(pause, reason)) => {
                let limit = match &pause {
                    Pause::Limit(reached) => Some(reached.key().to_owned()),
                    Pause::Model | Pause::Cancelled => None,
                };
                report.paused.push(PausedSession { id: claimed.claim.key.clone(), reason, limit });
                held.push(claimed.claim);
                match pause {
                    // The remaining sessions need the same model, so they would fail too.
                    Pause::Model | Pause::Cancelled => break,
                    Pause::Limit(_) => continue,
                }
            }
        };
        let outcome = match &result {
            Ok(report) => Outcome::Done { run: report.run_id.clone() },
            Err(reason) => Outcome::Failed { reason: reason.clone() },
        };
        finish_claim(host, queue, &claimed.claim, &outcome)?;
        lock(&keeper.held).retain(|held| held.key != claimed.claim.key);
        let SessionToSync { key, trace, project } = claimed.session;
        report.sessions.push(SyncedSession {
            id: key,
            agent: trace.source.agent.as_str().to_owned(),
            title: claimed.title,
            project: project.display().to_string(),
            ms: millis(took()),
            result: result.map_or_else(|reason| SyncResult::Failed { reason }, done),
        });
    }
    for claim in &held {
        finish_claim(host, queue, claim, &Outcome::Released)?;
    }
    drop(keeper);
    if !report.is_busy && !report.is_cancelled {
        resources.finish(host)?;
    }
    Ok(report)
}

enum SessionFailure {
    Failed(String),
    Busy,
    Paused(Pause, String),
}

impl From<OpError> for SessionFailure {
    fn from(error: OpError) -> Self {
        if error.code == ErrorCode::Busy {
            return Self::Busy;
        }
        Self::Failed([std::slice::from_ref(&error.message), &error.causes].concat().join(": "))
    }
}

fn sync_claimed(
    host: &Host,
    resources: &mut SyncResources,
    claimed: &ClaimedSession,
    options: &QueueOptions,
    events: &Events,
) -> Result<SessionRun, SessionFailure> {
    let ClaimedSession { session, .. } = claimed;
    let order = session.order(host, options.mode, options.force, Some(&options.change));
    let agent = session.trace.source.agent.as_str();
    let synced = resources.in_project(host, &session.project, |ctx| {
        sync_session(ctx, &order, |step| {
            events.step(format!("{} {agent}: {}", session.key, step.as_str()));
        })
    });
    synced?.map_err(|error| match error.pause() {
        Some(pause) => SessionFailure::Paused(pause, error.to_string()),
        None => OpError::from(error).into(),
    })
}

#[derive(Default)]
pub(super) struct QueueReport {
    pub(super) sessions: Vec<SyncedSession>,
    /// The first paused session of each project.
    pub(super) paused: Vec<PausedSession>,
    pub(super) is_busy: bool,
    pub(super) is_cancelled: bool,
}

/// The interval between heartbeats. A lease survives three lost heartbeats.
const BEAT: Duration = Duration::from_secs(3);

/// Renews leases in a shared queue on a separate thread until this value is dropped. Local queues
/// have no leases to renew.
struct LeaseKeeper {
    held: Arc<Mutex<Vec<Claim>>>,
    /// Dropping this sender ends the thread.
    _stop: Option<Sender<()>>,
}

impl LeaseKeeper {
    pub(super) fn start(queue: Option<&SharedQueue>, clock: SystemClock) -> std::io::Result<Self> {
        let held = Arc::<Mutex<Vec<Claim>>>::default();
        let Some(queue) = queue else { return Ok(Self { held, _stop: None }) };
        let (stop, stopped) = channel();
        let (mut queue, beaten) = (queue.clone(), Arc::clone(&held));
        std::thread::Builder::new().name("nacre-leases".to_owned()).spawn(move || {
            while stopped.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
                let claims = lock(&beaten).clone();
                // Other errors are ignored, because the database may become reachable again before
                // a lease expires.
                let is_lost = |claim: &&Claim| {
                    let beat = queue.heartbeat(claim, clock(), SHARED_LEASE);
                    matches!(beat, Err(CatalogError::LeaseLost { .. }))
                };
                for claim in claims.iter().filter(is_lost) {
                    lock(&beaten).retain(|held| held.key != claim.key);
                }
            }
        })?;
        Ok(Self { held, _stop: Some(stop) })
    }
}

fn lock(held: &Mutex<Vec<Claim>>) -> std::sync::MutexGuard<'_, Vec<Claim>> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Previews a sync. Compares each session with the store as it would be after all earlier sessions.
pub fn preview(host: &Host, request: &SyncRequest, events: &Events) -> Result<SyncPreviewReport> {
    let options = refresh_options(host, request)?;
    let mut queue = open_queue(host)?;
    let (refreshed, sessions, waiting) = if request.no_extract {
        (queue.catalog.preview(&options)?, Vec::new(), None)
    } else {
        let mut copy = queue.catalog.rehearsal()?;
        if queue.shared().is_some() {
            copy.adopt(&queue.jobs().jobs(&QueueFilter::default())?)?;
        }
        let refreshed = copy.refresh(&options, |progress| report_progress(events, progress))?;
        let mut copy = WaitingQueue::local(copy);
        let (now, mut sessions) = (host.now(), Vec::new());
        while request.max_sessions.is_none_or(|max| sessions.len() < max) {
            let Some(claimed) = claim_next(host, &mut copy, now)? else { break };
            let outcome = Outcome::Done { run: String::new() };
            finish_claim(host, &mut copy, &claimed.claim, &outcome)?;
            sessions.push(claimed.session);
        }
        (refreshed, sessions, Some(waiting(host, &copy)?))
    };
    let SyncRequest { mode, force, strategy, .. } = request;
    let source_entry = |TraceSource { agent, path, stamp }| SourceEntry {
        agent: agent.as_str().to_owned(),
        path: path.display().to_string(),
        bytes: stamp.size,
    };
    Ok(SyncPreviewReport {
        would_read: refreshed.opened.into_iter().map(source_entry).collect(),
        sources: refreshed.sources,
        unchanged: refreshed.unchanged,
        sessions: plan_all(host, &sessions, *mode, *force, *strategy, events)?,
        waiting,
    })
}

pub fn preview_trace(
    host: &Host,
    request: &SyncTraceRequest,
    events: &Events,
) -> Result<SyncTracePreviewReport> {
    let SyncTraceRequest { trace, mode, force, strategy } = request;
    let session = SessionToSync::find_by_name(host, trace)?;
    let session = std::slice::from_ref(&session);
    let sessions = plan_all(host, session, *mode, *force, *strategy, events)?;
    Ok(SyncTracePreviewReport { sessions })
}

fn plan_all(
    host: &Host,
    sessions: &[SessionToSync],
    mode: SyncMode,
    force: bool,
    strategy: Option<StrategyChoice>,
    events: &Events,
) -> Result<Vec<PlannedSession>> {
    let mut resources = SyncResources::without_lead(host, strategy, events)?;
    let n_of = |project: &Path| sessions.iter().filter(|one| one.project == project).count();
    let shared: BTreeSet<&Path> = sessions
        .iter()
        .map(|one| one.project.as_path())
        .filter(|project| n_of(project) > 1)
        .collect();
    let scope;
    // The copies must remain until the last session is planned.
    let _rehearsal = if shared.is_empty() {
        None
    } else {
        let home = host.home_scope()?;
        scope = WriteScope::create_inside(home.path(), FOLDER, Access::Private)?;
        let mut rehearsal = Rehearsal::begin(host, &scope)?;
        for project in &shared {
            let copy = rehearsal.copy(host, resources.store(host, project)?, project)?;
            resources.put_copy(project, copy);
        }
        Some(rehearsal)
    };
    let mut planned = Vec::new();
    for session in sessions {
        events.check_cancelled()?;
        let order = session.order(host, mode, force, None);
        let is_on_copy = shared.contains(session.project.as_path());
        let (mut report, changes) = resources
            .in_project(host, &session.project, |ctx| preview_session(ctx, &order, is_on_copy))??;
        let store = session.project.join(STORE_FOLDER);
        let path = |name: &str| store.join(name).display().to_string();
        (report.memory_root, report.workspace_root) = (path("memory"), path(WORKSPACE));
        planned.push(PlannedSession { report, changes: select_shared_changes(changes) });
    }
    Ok(planned)
}

/// The directory for copies of stores, inside the global directory. A running preview locks its own
/// directory, so any unlocked directory was left behind by a killed preview.
const FOLDER: &str = "rehearsal";
const COPIES: &str = "stores";

const PARTS: &[&str] =
    &["memory", "meta/evidence", "meta/state", "meta/sessions", "meta/tombstones"];

/// Maximum size of a file to copy. Files in a store are never larger.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// The directory with the copies, which is removed when this value is dropped.
struct Rehearsal<'s> {
    writer: Writer<'s>,
    copies: RelPath,
    n_copied: usize,
}

impl<'s> Rehearsal<'s> {
    pub(super) fn begin(host: &Host, scope: &'s WriteScope) -> Result<Self> {
        let writer = scope.lock(&host.owner("sync"), host.settings().lock.wait)?;
        let copies = RelPath::new(COPIES)?;
        writer.remove_scratch(&copies)?;
        Ok(Self { writer, copies, n_copied: 0 })
    }

    pub(super) fn copy(&mut self, host: &Host, of: &Store, project: &Path) -> Result<Store> {
        let scope = self.writer.scope();
        let folder = WriteScope::create_inside(scope.path(), COPIES, Access::Private)?;
        let name = self.n_copied.to_string();
        self.n_copied += 1;
        let copy = WriteScope::create_inside(folder.path(), &name, Access::Private)?;
        // The copy must also recognize memories that were written on this machine.
        let copy = host.seal_scope(copy);
        for part in PARTS {
            copy.copy_from(of.scope(), &RelPath::new(part)?, MAX_FILE_BYTES)?;
        }
        if let Some(around) = index_scope(of) {
            copy.copy_from(&around, &RelPath::new(INDEX_FOLDER)?, MAX_FILE_BYTES)?;
        }
        host.copy_of_store(of, copy, &host.settings_for(project)?)
    }
}

impl Drop for Rehearsal<'_> {
    fn drop(&mut self) {
        // Anything that cannot be removed now is removed by the next preview.
        let _ = self.writer.remove_scratch(&self.copies);
    }
}
