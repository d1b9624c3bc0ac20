//! Keeps memories few and true: in the project around, or in all of them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use nacre_api::wire::{
    ErrorCode, MaintainReport, MaintainRequest, MaintainState, MaintainedStore, PlannedChange,
    StoreScope,
};
use nacre_core::config::Settings;
use nacre_core::memory::Store;
use nacre_core::search::{Builtin, prune_indexes};
use nacre_engine::flows::maintain::{
    self as flow, Checkout, MaintainOptions, MaintainOutcome, MaintainStep,
};
use nacre_engine::flows::models::{FlowModels, ModelClient, ProjectModels};
use nacre_engine::flows::run;
use nacre_engine::flows::strategy::Reader;
use nacre_engine::flows::sync::FlowContext;
use nacre_engine::model::{Models, Role};

use super::changes::shared_changes;
use super::run::store_maintenance;
use crate::error::OpError;
use crate::events::Events;
use crate::host::{
    Host, ScopedStore, as_task, ask_rules, asker_of_run, model_settings, open_models, scripted,
};

/// A store to maintain.
struct NamedStore {
    name: String,
    store: Store,
    /// Those of the store.
    settings: Settings,
    /// The checkout around it.
    repository: Option<PathBuf>,
}

type FoundStore = Result<NamedStore, (String, OpError)>;

/// What was done in a store, and what would change there.
type Maintained = (flow::MaintainReport, Option<Vec<PlannedChange>>);

/// What every store is maintained with.
struct Maintenance<'a> {
    host: &'a Host,
    request: &'a MaintainRequest,
    events: &'a Events,
    builtin: Builtin,
    /// The models that may write.
    writers: Option<FlowModels>,
}

/// Maintains the project around, or all of them; written down as a task unless nothing is to change.
pub fn maintain(
    host: &Host,
    request: &MaintainRequest,
    events: &Events,
) -> Result<MaintainReport, OpError> {
    if request.dry_run {
        return maintain_stores(host, request, events);
    }
    as_task(host, ("maintain", "Keep memories few and true"), events, |events| {
        maintain_stores(host, request, events)
    })
}

fn maintain_stores(
    host: &Host,
    request: &MaintainRequest,
    events: &Events,
) -> Result<MaintainReport, OpError> {
    let writers = if request.rewrite { Some(writers(host, request, events)?) } else { None };
    let maintenance = Maintenance { host, request, events, builtin: Builtin::shipped()?, writers };
    let mut projects = Vec::new();
    let found = stores(host, request.all)?;
    let n_stores = found.len() as u64;
    for (number, found) in found.into_iter().enumerate() {
        if n_stores > 1 {
            events.progress(number as u64, n_stores, 0);
        }
        let took = host.stopwatch();
        let (name, result) = match found {
            Ok(named) => {
                let result = maintenance.maintain(&named);
                (named.name, result)
            }
            Err((name, error)) => (name, Err(error)),
        };
        match result {
            Err(error) if !request.all || error.code == ErrorCode::Cancelled => return Err(error),
            result => projects.push(maintained(name, result, took())),
        }
    }
    if !request.dry_run {
        prune(host);
    }
    Ok(MaintainReport { dry_run: request.dry_run, projects })
}

/// What is being done, and to how many memories.
fn step_text(store: &str, step: MaintainStep) -> String {
    match step {
        MaintainStep::Compare(1) => format!("{store}: compare 1 memory"),
        MaintainStep::Compare(n) => format!("{store}: compare {n} memories"),
        MaintainStep::Read | MaintainStep::Write | MaintainStep::Commit | MaintainStep::Index => {
            format!("{store}: {}", step.as_str())
        }
    }
}

/// Removes indexes of stores that are gone. Best effort: the next run tries again.
fn prune(host: &Host) {
    let (owner, wait) = (host.owner("maintain"), host.settings().lock.wait);
    if let Ok(home) = host.home() {
        let _ = prune_indexes(home, &owner, wait, host.now().into());
    }
}

/// The models that may write; the role must have one.
fn writers(host: &Host, request: &MaintainRequest, events: &Events) -> Result<FlowModels, OpError> {
    let models = Models::new(match &request.scripted {
        Some(file) => scripted(host, file.as_ref())?,
        None => model_settings(host)?,
    });
    models.route(Role::Lead)?;
    open_models(host, models, events.cancel())
}

/// The project around, or all of them and the global store.
fn stores(host: &Host, all: bool) -> Result<Vec<FoundStore>, OpError> {
    if !all {
        return Ok(vec![Ok(store_around(host)?)]);
    }
    let mut found: Vec<FoundStore> = Vec::new();
    for project in host.projects.iter() {
        let name = project.name.clone();
        found.push(match host.store_at(&project.path) {
            Ok(ScopedStore { store, settings, .. }) => {
                Ok(NamedStore { name, store, settings, repository: Some(project.path.clone()) })
            }
            Err(error) => Err((name, error)),
        });
    }
    let global = host.global_store()?;
    found.extend(global.map(|scoped| {
        let ScopedStore { store, settings, .. } = scoped;
        Ok(NamedStore { name: global_name(), store, settings, repository: None })
    }));
    Ok(found)
}

fn store_around(host: &Host) -> Result<NamedStore, OpError> {
    let ScopedStore { scope, store, settings } = host.store_to_write(None)?;
    let project = host.project.as_ref().filter(|_| scope == StoreScope::Project);
    let repository = project.map(|project| project.path.clone());
    let folder = |path: &Path| {
        path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let name = project.and_then(|project| project.name.clone());
    let name = name.or_else(|| repository.as_deref().map(folder)).unwrap_or_else(global_name);
    Ok(NamedStore { name, store, settings, repository })
}

fn global_name() -> String {
    StoreScope::Global.as_str().to_owned()
}

impl Maintenance<'_> {
    fn maintain(&self, named: &NamedStore) -> Result<Maintained, OpError> {
        self.events.cancel().check()?;
        let Self { host, request, .. } = self;
        let NamedStore { store, settings, repository, .. } = named;
        let owner = host.owner("maintain");
        let clock = host.stopwatch();
        let embedder = host.embedder(settings)?;
        let rules = ask_rules(settings);
        let ctx = FlowContext {
            store,
            embedder: &*embedder,
            builtin: &self.builtin,
            owner: &owner,
            patience: settings.lock.wait,
            now: host.now(),
            clock: &clock,
            lead: None,
            reader: Reader::offline(),
        };
        let project = repository.as_ref().map(|path| path.display().to_string());
        let asker = self.writers.as_ref().map(|flow| ProjectModels { flow, rules: &rules });
        let asker = asker.map(|models| asker_of_run(host, models, "maintain", project));
        let asker = asker.transpose()?;
        let checkout = repository.clone().map(|root| Checkout { root, git: host.git() });
        let options = MaintainOptions { checkout, force: request.force };
        if request.dry_run {
            let (report, changes) = flow::preview(&ctx, &options, asker.as_ref())?;
            self.warn_of_rest(named, report.left_out);
            return Ok((report, Some(shared_changes(changes))));
        }
        let report = flow::maintain(&ctx, &options, asker.as_ref(), |step| {
            self.events.step(step_text(&named.name, step));
        })?;
        self.warn_of_rest(named, report.left_out);
        self.warn_of_limit(named, asker.as_ref());
        if report.outcome == MaintainOutcome::Done {
            let writer = store.scope().lock(&owner, settings.lock.wait)?;
            run::prune(store, &writer, settings.runs.keep)?;
        }
        Ok((report, None))
    }

    fn warn_of_rest(&self, named: &NamedStore, n_left_out: usize) {
        if n_left_out != 0 {
            let message = format!(
                "{}: {n_left_out} memories were not looked at: there is more text than one run compares",
                named.name
            );
            self.events.warning(message, Some("Archive what is no longer of use"));
        }
    }

    fn warn_of_limit(&self, named: &NamedStore, asker: Option<&ModelClient<'_>>) {
        let Some(reached) = asker.and_then(|asker| asker.budget().reached()) else { return };
        self.events.warning(
            format!("{}: not everything was rewritten: {reached}", named.name),
            Some(&format!("Raise it: nacre config set {} N", reached.key())),
        );
    }
}

fn maintained(
    project: String,
    result: Result<Maintained, OpError>,
    took: Duration,
) -> MaintainedStore {
    let ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    match result {
        Ok((report, changes)) => MaintainedStore {
            project,
            state: state(report.outcome),
            report: Some(store_maintenance(report)),
            changes,
            reason: None,
            causes: None,
            hints: None,
            ms,
        },
        Err(error) => MaintainedStore {
            project,
            state: MaintainState::Failed,
            report: None,
            changes: None,
            reason: Some(error.message),
            causes: Some(error.causes),
            hints: Some(error.hints),
            ms,
        },
    }
}

fn state(outcome: MaintainOutcome) -> MaintainState {
    match outcome {
        MaintainOutcome::Done => MaintainState::Done,
        MaintainOutcome::Clean => MaintainState::Clean,
        MaintainOutcome::Skipped => MaintainState::Skipped,
    }
}
