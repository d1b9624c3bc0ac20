//! Merges duplicates, resolves contradictions and archives stale memories, in one store or in all
//! stores.

mod gather;
mod gone;
mod pairs;
mod plan;
mod rewrite;
mod store;
#[cfg(test)]
mod tests;

use nacre_base::config::Settings;
use nacre_engine::model::{Models, Role};
use nacre_memory::search::prune_indexes;
use nacre_types::{
    MaintainReport, MaintainRequest, MaintainState, MaintainedStore, PlannedChange,
    StoreMaintenance, StoreScope,
};

pub(crate) use self::gather::Ledger;
pub use self::gone::Checkout;
use self::store::preview_store;
pub use self::store::{MaintainOptions, MaintainStep, maintain_store};
use crate::host::{
    FlowModels, ModelClient, ProjectModels, as_task, ask_rules, asker_of_run, load_script, millis,
    model_settings, open_models,
};
use crate::prelude::*;
use crate::run::change::select_shared_changes;
use crate::run::folder;
use crate::sync::pipeline::FlowContext;
use crate::sync::strategy::ReadingStrategy;

struct NamedStore {
    name: String,
    store: Store,
    settings: Settings,
    repository: Option<PathBuf>,
}

type FoundStore = Result<NamedStore, (String, OpError)>;

type Maintained = (StoreMaintenance, Option<Vec<PlannedChange>>);

struct Maintenance<'a> {
    host: &'a Host,
    request: &'a MaintainRequest,
    events: &'a Events,
    writers: Option<FlowModels>,
}

/// Maintains the current project or all projects. Unless this is a dry run, the run is recorded as
/// a task.
pub fn maintain(host: &Host, request: &MaintainRequest, events: &Events) -> Result<MaintainReport> {
    if request.dry_run {
        return maintain_stores(host, request, events);
    }
    let title = "Merge duplicates, resolve contradictions and archive stale memories";
    as_task(host, "maintain", title, events, |events| maintain_stores(host, request, events))
}

fn maintain_stores(
    host: &Host,
    request: &MaintainRequest,
    events: &Events,
) -> Result<MaintainReport> {
    let writers = if request.rewrite { Some(writers(host, request, events)?) } else { None };
    let maintenance = Maintenance { host, request, events, writers };
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
            result => projects.push(store_result(name, result, took())),
        }
    }
    if !request.dry_run {
        prune(host);
    }
    Ok(MaintainReport { dry_run: request.dry_run, projects })
}

/// Removes the indexes of deleted stores. Errors are ignored, because the next run tries again.
fn prune(host: &Host) {
    let (owner, wait) = (host.owner("maintain"), host.settings().lock.wait);
    if let Ok(home) = host.home() {
        let _ = prune_indexes(home, &owner, wait, host.now().into());
    }
}

/// Returns the models for rewriting. Returns an error if no model is configured for this role.
fn writers(host: &Host, request: &MaintainRequest, events: &Events) -> Result<FlowModels> {
    let models = Models::new(match &request.scripted {
        Some(file) => load_script(host, file.as_ref())?,
        None => model_settings(host)?,
    });
    models.route(Role::Lead)?;
    open_models(host, models, events.cancel())
}

/// Returns the store of the current project, or the stores of all projects and the global store.
fn stores(host: &Host, all: bool) -> Result<Vec<FoundStore>> {
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

fn store_around(host: &Host) -> Result<NamedStore> {
    let ScopedStore { scope, store, settings } = host.store_to_write(None)?;
    let project = host.project.as_ref().filter(|_| scope == StoreScope::Project);
    let repository = project.map(|project| project.path.clone());
    let name = repository.as_ref().map_or_else(global_name, |root| host.name_of(root));
    Ok(NamedStore { name, store, settings, repository })
}

fn global_name() -> String {
    StoreScope::Global.as_str().to_owned()
}

impl Maintenance<'_> {
    fn maintain(&self, named: &NamedStore) -> Result<Maintained> {
        self.events.check_cancelled()?;
        let Self { host, request, .. } = self;
        let NamedStore { store, settings, repository, .. } = named;
        let owner = host.owner("maintain");
        let clock = host.stopwatch();
        let rules = ask_rules(settings);
        let ctx = FlowContext {
            store,
            owner: &owner,
            patience: settings.lock.wait,
            now: host.now(),
            clock: &clock,
            lead: None,
            reader: ReadingStrategy::offline(),
            remarks: &crate::sync::RemarkIndex::default(),
        };
        let project = repository.as_ref().map(|path| path.display().to_string());
        let asker = self.writers.as_ref().map(|flow| ProjectModels { flow, rules: &rules });
        let asker = asker.map(|models| asker_of_run(host, models, "maintain", project));
        let asker = asker.transpose()?;
        let checkout = repository.clone().map(|root| Checkout { root, git: host.git() });
        let options = MaintainOptions { checkout, force: request.force };
        let mut n_left_out = 0;
        let mut watch = |step| {
            if let MaintainStep::LeaveOut(n) = step {
                n_left_out = n;
            } else if !request.dry_run {
                let what = match step {
                    MaintainStep::Compare(1) => "compare 1 memory".to_owned(),
                    MaintainStep::Compare(n) => format!("compare {n} memories"),
                    MaintainStep::LeaveOut(_)
                    | MaintainStep::Read
                    | MaintainStep::Write
                    | MaintainStep::Commit
                    | MaintainStep::Index => step.as_str().to_owned(),
                };
                self.events.step(format!("{}: {what}", named.name));
            }
        };
        if request.dry_run {
            let (report, changes) = preview_store(&ctx, &options, asker.as_ref(), watch)?;
            self.warn_of_rest(named, n_left_out);
            return Ok((report, Some(select_shared_changes(changes))));
        }
        let report = maintain_store(&ctx, &options, asker.as_ref(), &mut watch)?;
        self.warn_of_rest(named, n_left_out);
        self.warn_of_limit(named, asker.as_ref());
        if report.outcome == MaintainState::Done {
            let writer = store.scope().lock(&owner, settings.lock.wait)?;
            folder::prune(store, &writer, settings.runs.keep)?;
        }
        Ok((report, None))
    }

    fn warn_of_rest(&self, named: &NamedStore, n_left_out: usize) {
        if n_left_out != 0 {
            let message = format!(
                "{}: {n_left_out} memories were skipped, because one run can compare only a limited \
                 amount of text",
                named.name
            );
            self.events.warning(message, Some("Archive memories that you no longer need"));
        }
    }

    fn warn_of_limit(&self, named: &NamedStore, asker: Option<&ModelClient<'_>>) {
        let Some(reached) = asker.and_then(|asker| asker.budget().limit_reached()) else { return };
        self.events.warning(
            format!("{}: some memories were not rewritten: {reached}", named.name),
            Some(&format!("Raise the limit: nacre config set {} N", reached.key())),
        );
    }
}

fn store_result(project: String, result: Result<Maintained>, took: Duration) -> MaintainedStore {
    let ms = millis(took);
    match result {
        Ok((report, changes)) => MaintainedStore {
            project,
            state: report.outcome,
            report: Some(report),
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
