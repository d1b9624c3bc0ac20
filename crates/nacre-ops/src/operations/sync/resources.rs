//! What a sync works with: models, and for each project its store, embedder and rules.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nacre_core::config::{LeadRuntime, Settings, StrategyChoice};
use nacre_core::memory::Store;
use nacre_core::search::{Builtin, Embedder};
use nacre_engine::agents::{LeadRequest, LeadStep};
use nacre_engine::flows::models::{AskRules, ProjectModels};
use nacre_engine::flows::run;
use nacre_engine::flows::sync::{AskLead, FlowContext, SyncError, bring_up_to_date};
use nacre_engine::model::Role;

use super::lead::{LeadContext, LeadModels, lead_models, settle};
use crate::cancel::Cancel;
use crate::error::OpError;
use crate::events::Events;
use crate::host::{Host, Reading, ScopedStore, ask_rules};

/// What a sync works with, opened once.
pub(super) struct SyncResources {
    builtin: Builtin,
    /// Those of the lead, where one is set.
    lead: Option<LeadModels>,
    n_asked: Cell<u32>,
    projects: BTreeMap<PathBuf, ProjectResources>,
    /// Stores that are worked on instead of those of their projects.
    copies: BTreeMap<PathBuf, Arc<Store>>,
    reading: Reading,
    cancel: Cancel,
}

/// What the sessions of one project are worked on with, all of it under the project's own settings.
struct ProjectResources {
    settings: Settings,
    store: Arc<Store>,
    embedder: Arc<dyn Embedder>,
    rules: AskRules,
}

impl ProjectResources {
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

impl SyncResources {
    /// Everything that a sync needs. A lead that is set and cannot be asked is reported, and done without.
    pub(super) fn open(
        host: &Host,
        (strategy, runtime): (Option<StrategyChoice>, LeadRuntime),
        events: &Events,
    ) -> Result<Self, OpError> {
        let is_offline = strategy == Some(StrategyChoice::Offline);
        let lead = if is_offline { None } else { lead_models(host, runtime, events)? };
        Ok(Self { lead, ..Self::without_lead(host, strategy, events)? })
    }

    /// The same for a preview, which asks no lead.
    pub(super) fn without_lead(
        host: &Host,
        strategy: Option<StrategyChoice>,
        events: &Events,
    ) -> Result<Self, OpError> {
        Ok(Self {
            reading: Reading::open(host, strategy, Role::Extract, events.cancel())?,
            cancel: events.cancel().clone(),
            builtin: Builtin::shipped()?,
            lead: None,
            n_asked: Cell::new(0),
            projects: BTreeMap::new(),
            copies: BTreeMap::new(),
        })
    }

    /// The store of `project`, under its settings as they are now.
    pub(super) fn store(&mut self, host: &Host, project: &Path) -> Result<&Store, OpError> {
        Ok(&*self.project(host, project)?.store)
    }

    /// Opens what the sessions of `project` need; again where its settings changed since, as a sync may take hours.
    fn project(&mut self, host: &Host, project: &Path) -> Result<&ProjectResources, OpError> {
        let now = host.settings_for(project)?;
        if self.projects.get(project).is_none_or(|opened| opened.settings != now) {
            let mut opened = ProjectResources::open(host, project)?;
            if let Some(copy) = self.copies.get(project) {
                opened.store = Arc::clone(copy);
            }
            self.projects.insert(project.to_owned(), opened);
        }
        self.projects.get(project).ok_or_else(store_gone)
    }

    /// Works on a copy instead of the store of `project`.
    pub(super) fn put_copy(&mut self, project: &Path, copy: Store) {
        self.copies.insert(project.to_owned(), Arc::new(copy));
        self.projects.remove(project);
    }

    /// Does `work` on the store of `project`.
    pub(super) fn in_project<T>(
        &mut self,
        host: &Host,
        project: &Path,
        work: impl FnOnce(&FlowContext<'_>) -> Result<T, SyncError>,
    ) -> Result<Result<T, SyncError>, OpError> {
        self.project(host, project)?;
        let opened = self.projects.get(project).ok_or_else(store_gone)?;
        let ProjectResources { settings, store, embedder, rules } = opened;
        let owner = host.owner("sync");
        let clock = host.stopwatch();
        let context = self.lead.as_ref().map(|lead| LeadContext {
            host,
            models: ProjectModels { flow: &lead.flow, rules },
            program: lead.program.as_ref(),
            store: Arc::clone(store),
            embedder: Arc::clone(embedder),
            project,
            n_asked: &self.n_asked,
            cancel: &self.cancel,
        });
        let lead = context.as_ref().map(|context| {
            move |order: &LeadRequest, watch: &mut dyn FnMut(LeadStep)| {
                settle(context, order, watch)
            }
        });
        let ctx = FlowContext {
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
        Ok(work(&ctx))
    }

    /// Tidies every store that was worked on: its index, and the folders of old runs.
    pub(super) fn finish(mut self, host: &Host) -> Result<(), OpError> {
        let projects: Vec<PathBuf> = self.projects.keys().cloned().collect();
        for project in &projects {
            self.in_project(host, project, bring_up_to_date)??;
        }
        for ProjectResources { store, settings, .. } in self.projects.values() {
            let writer = store.scope().lock(&host.owner("sync"), settings.lock.wait)?;
            run::prune(store, &writer, settings.runs.keep)?;
        }
        Ok(())
    }
}

fn store_gone() -> OpError {
    OpError::failed("The store is gone")
}
