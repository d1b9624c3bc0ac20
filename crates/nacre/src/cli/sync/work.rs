//! The queue, worked off: one claimed session after the other, oldest first.
//!
//! Order matters: what a later session says overturns an earlier one. Only one sync runs at a time, so a job that is
//! held when one starts was held by a sync that died.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use nacre_api::wire::ErrorCode;
use nacre_core::catalog::{
    Catalog, Claim, ClaimOrder, Outcome as JobOutcome, RetryPolicy, SessionRow,
};
use nacre_core::config::Settings;
use nacre_core::memory::Store;
use nacre_core::search::{Builtin, Embedder};
use nacre_core::transcript::Trace;
use nacre_engine::agents::{LeadOrder, LeadStep};
use nacre_engine::flows::models::{AskRules, FlowModels, ProjectModels};
use nacre_engine::flows::run::{self, RunMode};
use nacre_engine::flows::sync::{
    AskLead, Desk, Order, Pause, RunReport, Step, SyncError, bring_up_to_date, sync_session,
};
use nacre_engine::model::Role;

use super::super::strategy::StrategyArgs;
use super::super::traces;
use super::super::ui::Ui;
use super::lead::{LeadPlace, lead_models, settle};
use nacre_ops::Host;
use nacre_ops::OpError;
use nacre_ops::host::Reading;
use nacre_ops::host::ScopedStore;
use nacre_ops::host::ask_rules;

/// By rules a session takes seconds, by a slow model hours; whoever needs longer than this is gone.
const LEASE: Duration = Duration::from_secs(12 * 3600);

/// What the tokens of a sync begin with.
const TOKEN: &str = "sync-";

/// A session that was worked off.
#[derive(Debug)]
pub(super) struct Worked {
    pub(super) key: String,
    pub(super) agent: String,
    pub(super) title: String,
    pub(super) result: Result<RunReport, String>,
    pub(super) took: Duration,
}

impl Worked {
    /// Whether it was done, and no limit stood in the way.
    pub(super) fn is_whole(&self) -> bool {
        self.result.as_ref().is_ok_and(|report| report.limit.is_none())
    }
}

/// A session that waits for a model.
#[derive(Debug)]
pub(super) struct Paused {
    pub(super) key: String,
    pub(super) why: Pause,
    pub(super) reason: String,
}

/// What a run works with, opened once.
pub(super) struct Tools {
    builtin: Builtin,
    /// Those of the lead, where one is set.
    lead: Option<FlowModels>,
    n_asked: Cell<u32>,
    benches: BTreeMap<PathBuf, Bench>,
    /// Stores that are worked on instead of those of their projects.
    copies: BTreeMap<PathBuf, Arc<Store>>,
    reading: Reading,
}

/// What the sessions of one project are worked on with, all of it under the project's own settings.
struct Bench {
    settings: Settings,
    store: Arc<Store>,
    embedder: Arc<dyn Embedder>,
    rules: AskRules,
}

impl Bench {
    fn open(host: &Host, project: &Path) -> Result<Self, OpError> {
        let ScopedStore { store, settings, .. } = host.store_at(project)?;
        Ok(Self {
            store: Arc::new(store),
            embedder: host.embedder(&settings)?,
            rules: ask_rules(&settings),
            settings,
        })
    }
}

impl Tools {
    /// Everything that a run needs. A lead that is set and cannot be asked is told, and done without.
    pub(super) fn open(ui: &mut Ui, host: &Host, strategy: StrategyArgs) -> Result<Self, OpError> {
        let lead = if strategy.is_offline() { None } else { lead_models(ui, host)? };
        Ok(Self { lead, ..Self::without_lead(host, strategy)? })
    }

    /// The same for whoever only looks.
    pub(super) fn without_lead(host: &Host, strategy: StrategyArgs) -> Result<Self, OpError> {
        Ok(Self {
            reading: Reading::open(host, strategy.choice(), Role::Extract)?,
            builtin: Builtin::shipped()?,
            lead: None,
            n_asked: Cell::new(0),
            benches: BTreeMap::new(),
            copies: BTreeMap::new(),
        })
    }

    /// The store of `project`, under its settings as they are now.
    pub(super) fn store(&mut self, host: &Host, project: &Path) -> Result<&Store, OpError> {
        Ok(&*self.bench(host, project)?.store)
    }

    /// Opens what the sessions of `project` need; again where its settings changed since, as a sync may take hours.
    fn bench(&mut self, host: &Host, project: &Path) -> Result<&Bench, OpError> {
        let now = host.settings_for(project)?;
        if self.benches.get(project).is_none_or(|bench| bench.settings != now) {
            let mut bench = Bench::open(host, project)?;
            if let Some(copy) = self.copies.get(project) {
                bench.store = Arc::clone(copy);
            }
            self.benches.insert(project.to_owned(), bench);
        }
        let bench = self.benches.get(project);
        bench.ok_or_else(|| OpError::failed("The store went away"))
    }

    /// Works on a copy instead of the store of `project`.
    pub(super) fn put_copy(&mut self, project: &Path, copy: Store) {
        self.copies.insert(project.to_owned(), Arc::new(copy));
        self.benches.remove(project);
    }

    /// Hands a desk at the store of `project` to `work`.
    pub(super) fn at_desk<T>(
        &mut self,
        host: &Host,
        project: &Path,
        work: impl FnOnce(&Desk<'_>) -> Result<T, SyncError>,
    ) -> Result<Result<T, SyncError>, OpError> {
        self.bench(host, project)?;
        let Some(Bench { settings, store, embedder, rules }) = self.benches.get(project) else {
            return Err(OpError::failed("The store went away"));
        };
        let owner = host.owner("sync");
        let clock = host.stopwatch();
        let place = self.lead.as_ref().map(|flow| LeadPlace {
            host,
            models: ProjectModels { flow, rules },
            store: Arc::clone(store),
            embedder: Arc::clone(embedder),
            project,
            n_asked: &self.n_asked,
        });
        let lead = place.as_ref().map(|place| {
            move |order: &LeadOrder, watch: &mut dyn FnMut(LeadStep)| settle(place, order, watch)
        });
        let desk = Desk {
            store,
            embedder: &**embedder,
            builtin: &self.builtin,
            owner: &owner,
            patience: settings.lock.wait,
            now: host.now(),
            reader: self.reading.reader(rules),
            clock: &clock,
            lead: lead.as_ref().map(|lead| lead as &AskLead<'_>),
        };
        Ok(work(&desk))
    }

    /// Tidies every store that was worked on: its index, and the folders of old runs.
    pub(super) fn finish(mut self, host: &Host) -> Result<(), OpError> {
        let projects: Vec<PathBuf> = self.benches.keys().cloned().collect();
        for project in &projects {
            self.at_desk(host, project, bring_up_to_date)??;
        }
        for Bench { store, settings, .. } in self.benches.values() {
            let writer = store.scope().lock(&host.owner("sync"), settings.lock.wait)?;
            run::prune(store, &writer, settings.runs.keep)?;
        }
        Ok(())
    }
}

/// How a queue was left.
#[derive(Default)]
pub(super) struct Shift {
    pub(super) worked: Vec<Worked>,
    /// The first waiting session of each project; those behind it wait for their turn.
    pub(super) paused: Vec<Paused>,
    /// Another process holds a store.
    pub(super) is_busy: bool,
}

/// What is to be worked off, and how.
pub(super) struct Assignment {
    pub(super) max_sessions: Option<usize>,
    /// No other sync is running.
    pub(super) is_alone: bool,
    pub(super) manner: Manner,
}

/// How each session is read.
#[derive(Clone, Copy)]
pub(super) struct Manner {
    pub(super) mode: RunMode,
    /// Read also what was read before.
    pub(super) force: bool,
}

/// Works off everything that is due. A session that has to wait for a model is held until the end and then given
/// back: what was said later in its project comes after it.
pub(super) fn work(
    ui: &mut Ui,
    host: &Host,
    (catalog, mut tools): (&mut Catalog, Tools),
    assignment: &Assignment,
) -> Result<Shift, OpError> {
    let now = host.now();
    if assignment.is_alone {
        catalog.give_back(TOKEN, now)?;
    }
    let token = format!("{TOKEN}{}", host.environment.pid);
    let (mut shift, mut held) = (Shift::default(), Vec::new());
    while assignment.max_sessions.is_none_or(|max| shift.worked.len() < max) {
        let Some(claim) = catalog.claim(&token, now, LEASE, ClaimOrder::OldestFirst)? else {
            break;
        };
        let session = catalog.session(&claim.key)?;
        let took = host.stopwatch();
        let result = match one(ui, host, &mut tools, (&claim, &session), assignment.manner) {
            Err(Failure::Busy) => {
                shift.is_busy = true;
                held.push(claim);
                break;
            }
            Err(Failure::Paused(why, reason)) => {
                let is_over = why == Pause::Model;
                shift.paused.push(Paused { key: claim.key.clone(), why, reason });
                held.push(claim);
                // Another session would only wait as long for the same model.
                if is_over {
                    break;
                }
                continue;
            }
            Err(Failure::Failed(reason)) => Err(reason),
            Ok(report) => Ok(report),
        };
        let outcome = match &result {
            Ok(report) => JobOutcome::Done { run: report.run_id.as_str().to_owned() },
            Err(reason) => JobOutcome::Failed { reason: reason.clone() },
        };
        catalog.finish(&claim, &outcome, host.now(), &RetryPolicy::default())?;
        shift.worked.push(Worked {
            key: claim.key,
            agent: session.trace.source.agent.as_str().to_owned(),
            title: session.facts.title.unwrap_or_default(),
            result,
            took: took(),
        });
    }
    for claim in &held {
        catalog.finish(claim, &JobOutcome::Released, host.now(), &RetryPolicy::default())?;
    }
    if !shift.is_busy {
        tools.finish(host)?;
    }
    Ok(shift)
}

/// Why a session was not worked off.
enum Failure {
    Failed(String),
    /// Another process holds the store.
    Busy,
    /// It has to wait for a model.
    Paused(Pause, String),
}

impl From<OpError> for Failure {
    fn from(error: OpError) -> Self {
        if error.code == ErrorCode::Busy {
            return Self::Busy;
        }
        Self::Failed([std::slice::from_ref(&error.message), &error.causes].concat().join(": "))
    }
}

fn one(
    ui: &mut Ui,
    host: &Host,
    tools: &mut Tools,
    (claim, session): (&Claim, &SessionRow),
    manner: Manner,
) -> Result<RunReport, Failure> {
    let project = claim.project.as_deref().map(PathBuf::from).unwrap_or_default();
    let order = order(host, (&session.trace, &claim.key), &project, manner);
    let synced = tools.at_desk(host, &project, |desk| {
        sync_session(desk, &order, |step: Step| {
            ui.progress_note(&format!(
                "{} {}: {}",
                claim.key,
                session.trace.source.agent.as_str(),
                step.as_str()
            ));
        })
    });
    match synced? {
        Ok(report) => Ok(report),
        Err(error) => match error.pause() {
            Some(pause) => Err(Failure::Paused(pause, error.to_string())),
            None => Err(OpError::from(error).into()),
        },
    }
}

/// What a run over one trace is to do.
pub(super) fn order<'a>(
    host: &Host,
    (trace, key): (&'a Trace, &'a str),
    project: &Path,
    manner: Manner,
) -> Order<'a> {
    let registered = host.projects.iter().find(|known| known.path == project);
    let folder = project.file_name().map(|name| name.to_string_lossy().into_owned());
    Order {
        trace,
        key,
        trace_name: traces::short(host, &trace.source.path),
        repo_name: registered.map(|known| known.name.clone()).or(folder).unwrap_or_default(),
        mode: manner.mode,
        force: manner.force,
    }
}
