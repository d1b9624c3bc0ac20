//! The resources needed for a sync: the session, its project's store and settings, the models for
//! reading, and the lead for unclear cases.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use nacre_base::config::{Settings, StrategyChoice};
use nacre_engine::agents::{AgentDeps, LEAD_DENIED, Lead, LeadReport, LeadRequest, LeadStep};
use nacre_engine::lifecycle::RunHandle;
use nacre_engine::model::{Cancel, ErrorKind, Models, Role};
use nacre_engine::record::state::SpentOn;
use nacre_engine::record::{NewTask, TaskClass, TaskId};
use nacre_engine::tools::{
    MemoryHandle, MemorySearch, Permissions, SkillRegistry, Workspace, tool, toolkits,
};
use nacre_memory::Store;
use nacre_traces::catalog::key_of;
use nacre_traces::transcript::Trace;
use nacre_types::{ErrorCode, RunMode, SyncMode};

use crate::error::{OpError, Result};
use crate::events::Events;
use crate::host::{
    AskError, AskRules, FlowModels, Host, ModelClient, ProjectModels, ScopedStore, ask_rules,
    clock, empty_spill, find_trace, limit_hint, model_settings, new_task, no_answer, open_models,
    patience, record, seed, short, spill, trace_file, until_end,
};
use crate::run::folder;
use crate::sync::pipeline::RemarkIndex;
use crate::sync::pipeline::{AskLead, FlowContext, SessionRequest, SyncError, bring_up_to_date};
use crate::sync::strategy::ReadingStrategy;

pub(super) struct SyncResources {
    lead: Option<FlowModels>,
    n_asked: Cell<u32>,
    projects: BTreeMap<PathBuf, ProjectResources>,
    /// Copies to use instead of the projects' own stores.
    copies: BTreeMap<PathBuf, Arc<Store>>,
    reading: SessionModels,
    cancel: Cancel,
}

struct ProjectResources {
    settings: Settings,
    store: Arc<Store>,
    rules: AskRules,
    remarks: RemarkIndex,
}

impl ProjectResources {
    fn open(host: &Host, project: &Path) -> Result<Self> {
        let ScopedStore { store, settings, .. } = host.store_at(project)?;
        Ok(Self {
            store: Arc::new(store),
            rules: ask_rules(&settings),
            remarks: RemarkIndex::default(),
            settings,
        })
    }
}

impl SyncResources {
    /// Opens the resources. If a lead is configured but unavailable, reports this and continues
    /// without it.
    pub(super) fn open(
        host: &Host,
        strategy: Option<StrategyChoice>,
        events: &Events,
    ) -> Result<Self> {
        let is_offline = strategy == Some(StrategyChoice::Offline);
        let lead = if is_offline { None } else { lead_models(host, events)? };
        Ok(Self { lead, ..Self::without_lead(host, strategy, events)? })
    }

    pub(super) fn without_lead(
        host: &Host,
        strategy: Option<StrategyChoice>,
        events: &Events,
    ) -> Result<Self> {
        Ok(Self {
            reading: SessionModels::open(host, strategy, events.cancel())?,
            cancel: events.cancel().clone(),
            lead: None,
            n_asked: Cell::new(0),
            projects: BTreeMap::new(),
            copies: BTreeMap::new(),
        })
    }

    pub(super) fn store(&mut self, host: &Host, project: &Path) -> Result<&Store> {
        Ok(&*self.project(host, project)?.store)
    }

    /// Reopens the resources if the project's settings have changed, because a sync can take hours.
    fn project(&mut self, host: &Host, project: &Path) -> Result<&ProjectResources> {
        let now = host.settings_for(project)?;
        if self.projects.get(project).is_none_or(|opened| opened.settings != now) {
            let mut opened = ProjectResources::open(host, project)?;
            if let Some(copy) = self.copies.get(project) {
                opened.store = Arc::clone(copy);
            }
            self.projects.insert(project.to_owned(), opened);
        }
        Ok(&self.projects[project])
    }

    pub(super) fn put_copy(&mut self, project: &Path, copy: Store) {
        self.copies.insert(project.to_owned(), Arc::new(copy));
        self.projects.remove(project);
    }

    pub(super) fn in_project<T>(
        &mut self,
        host: &Host,
        project: &Path,
        work: impl FnOnce(&FlowContext<'_>) -> Result<T, SyncError>,
    ) -> Result<Result<T, SyncError>> {
        self.project(host, project)?;
        let ProjectResources { settings, store, rules, remarks } = &self.projects[project];
        let owner = host.owner("sync");
        let clock = host.stopwatch();
        let context = self.lead.as_ref().map(|flow| LeadContext {
            host,
            models: ProjectModels { flow, rules },
            store: Arc::clone(store),
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
            owner: &owner,
            patience: settings.lock.wait,
            now: host.now(),
            reader: self.reading.reader(rules),
            clock: &clock,
            lead: lead.as_ref().map(|lead| lead as &AskLead<'_>),
            remarks,
        };
        Ok(work(&ctx))
    }

    pub(super) fn finish(mut self, host: &Host) -> Result<()> {
        let projects: Vec<PathBuf> = self.projects.keys().cloned().collect();
        for project in &projects {
            self.in_project(host, project, bring_up_to_date)??;
        }
        for ProjectResources { store, settings, .. } in self.projects.values() {
            let writer = store.scope().lock(&host.owner("sync"), settings.lock.wait)?;
            folder::prune(store, &writer, settings.runs.keep)?;
        }
        Ok(())
    }
}

pub struct SessionModels {
    choice: StrategyChoice,
    models: Option<FlowModels>,
}

impl SessionModels {
    /// Opens the models. Returns an error if a configured model is unavailable.
    pub fn open(host: &Host, strategy: Option<StrategyChoice>, cancel: &Cancel) -> Result<Self> {
        let set = host.settings().roles.get(Role::Extract.as_str());
        let choice = strategy.or(set.and_then(|table| table.strategy)).unwrap_or_default();
        if choice == StrategyChoice::Offline {
            return Ok(Self { choice, models: None });
        }
        let models = Models::new(model_settings(host)?);
        if !choice.demands_a_model() && models.settings_of(Role::Extract).is_err() {
            return Ok(Self { choice, models: None });
        }
        models.route(Role::Extract)?;
        Ok(Self { choice, models: Some(open_models(host, models, cancel)?) })
    }

    pub fn reader<'a>(&'a self, rules: &'a AskRules) -> ReadingStrategy<'a> {
        let models = self.models.as_ref().map(|flow| ProjectModels { flow, rules });
        ReadingStrategy { choice: self.choice, models }
    }

    /// Returns a client that charges its costs to the current project.
    pub fn asker<'a>(
        &'a self,
        host: &Host,
        rules: &'a AskRules,
        trace: &Trace,
    ) -> Result<Option<ModelClient<'a>>> {
        let project = host.project.as_ref().map(|project| project.path.display().to_string());
        let on = SpentOn { project, session: key_of(trace) };
        let asker = self.reader(rules).asker(on, host.now());
        asker.map_err(|error| OpError::from_error(ErrorCode::Failed, &error, None))
    }
}

impl From<AskError> for OpError {
    fn from(error: AskError) -> Self {
        match error {
            AskError::Roles(error) => error.into(),
            AskError::Model(error) if error.kind == ErrorKind::Cancelled => Self::cancelled(),
            AskError::Model(error) => no_answer(&error),
            AskError::OverLimit(reached) => {
                let hint = limit_hint(&reached);
                Self::from_error(ErrorCode::LimitReached, &AskError::OverLimit(reached), Some(hint))
            }
            AskError::Answer(_) | AskError::Lost => {
                let hint = "Set another model, or read by rules: --strategy offline";
                Self::from_error(ErrorCode::Failed, &error, Some(hint.to_owned()))
            }
        }
    }
}

pub(super) struct SessionToSync {
    pub(super) key: String,
    pub(super) trace: Trace,
    pub(super) project: PathBuf,
}

impl SessionToSync {
    pub(super) fn find_by_name(host: &Host, name: &str) -> Result<Self> {
        if trace_file(host, name).is_some() {
            host.check_user("specify a session by its file")?;
        }
        let trace = find_trace(host, name)?;
        let Some(project) = &host.project else {
            let message = "No project to add memories to";
            return Err(OpError::new(ErrorCode::NoProject, message)
                .hint("Change to a repository and run `nacre init`"));
        };
        Ok(Self { key: key_of(&trace), trace, project: project.path.clone() })
    }

    pub(super) fn order<'s>(
        &'s self,
        host: &Host,
        mode: SyncMode,
        force: bool,
        change: Option<&'s str>,
    ) -> SessionRequest<'s> {
        let Self { key, trace, project } = self;
        SessionRequest {
            trace,
            key,
            trace_name: short(host, &trace.source.path),
            repo_name: host.name_of(project),
            mode: RunMode::from_name(mode.as_str()).unwrap_or(RunMode::Sync),
            force,
            change,
        }
    }
}

struct LeadContext<'a> {
    pub(super) host: &'a Host,
    /// The models, restricted by the rules of the store's project.
    pub(super) models: ProjectModels<'a>,
    pub(super) store: Arc<Store>,
    pub(super) project: &'a Path,
    pub(super) n_asked: &'a Cell<u32>,
    pub(super) cancel: &'a Cancel,
}

fn lead_models(host: &Host, events: &Events) -> Result<Option<FlowModels>> {
    let models = Models::new(model_settings(host)?);
    if models.settings_of(Role::Lead).is_err() {
        return Ok(None);
    }
    match models.route(Role::Lead) {
        Ok(_) => open_models(host, models, events.cancel()).map(Some),
        Err(error) => {
            let OpError { message, hints, .. } = error.into();
            let hint = hints.first().map(String::as_str);
            events.warning(
                format!("Unclear cases are decided by rule instead of by a lead: {message}"),
                hint,
            );
            Ok(None)
        }
    }
}

/// Decides about the candidates. If the lead cannot run, gives the reason in the report.
fn settle(
    context: &LeadContext<'_>,
    order: &LeadRequest,
    watch: &mut dyn FnMut(LeadStep),
) -> LeadReport {
    let number = context.n_asked.get();
    context.n_asked.set(number + 1);
    // Leads that start at the same moment need distinct task ids, which must also differ from their
    // explorers' ids.
    let seed = seed(context.host).wrapping_add(u64::from(number) << 24);
    let task = TaskId::from_random(seed);
    let project = Some(context.project.display().to_string());
    let settled = context.host.home_scope().and_then(|home| {
        // The lead's cost counts toward the session's limits.
        let on = SpentOn { project: project.clone(), session: order.session.clone() };
        let asker = context.models.asker(on, context.host.now());
        let asker = asker.map_err(|error| OpError::from_error(ErrorCode::Failed, &error, None))?;
        let deps = deps(context, asker.models(), seed, spill(&home)?.path())?;
        let lead = Lead { deps, memories: memories(context) };
        let n_open = order.cases.len();
        let candidates = if n_open == 1 { "candidate" } else { "candidates" };
        let title = format!("Settle {n_open} {candidates} of {}", order.run_id);
        let words = context.store.words();
        let new = new_task(context.host, &task, "lead", TaskClass::Background, &title, words);
        let new = NewTask { project, ..new };
        // The task record is optional, because no decision depends on it.
        let recording = record(context.host, &home, &new, words.clone());
        let (recording, heartbeat) = recording.ok().unzip();
        let listeners = recording.iter().map(|recorder| Arc::clone(recorder) as _).collect();
        let settled = asker.wait(async {
            let handle = RunHandle::new();
            let control = handle.control();
            let settling = lead.settle(order, task.clone(), listeners, &control, watch);
            let settled = until_end(settling, &handle, heartbeat, context.cancel).await;
            if let Some(recording) = recording {
                recording.close();
            }
            settled
        });
        empty_spill(context.host, &home);
        Ok(settled)
    });
    settled.unwrap_or_else(|error| LeadReport::from_failure(task, error.message))
}

/// Runs the lead until it ends, another process cancels its task, or the sync is cancelled. A
/// cancelled session is processed again by the next sync.
fn memories(LeadContext { host, store, .. }: &LeadContext<'_>) -> MemoryHandle {
    MemoryHandle {
        store: Arc::clone(store),
        owner: host.owner("sync"),
        patience: host.settings().lock.wait,
        source: "lead".to_owned(),
        is_claims_only: true,
    }
}

fn deps(
    context: &LeadContext<'_>,
    models: &Arc<Models>,
    seed: u64,
    spill: &Path,
) -> Result<Arc<AgentDeps>> {
    let LeadContext { host, store, .. } = context;
    let denied: Vec<String> = LEAD_DENIED.iter().map(|name| (*name).to_owned()).collect();
    let workspace = Workspace::open(&store.path().join("memory"), &denied)
        .map_err(|error| OpError::from_error(ErrorCode::Failed, &error, None))?;
    let workspace = Arc::new(workspace);
    let (policy, limits) = patience(host);
    let mut tools = toolkits::file::tools(&workspace);
    tools.push(tool::<MemorySearch>(memories(context)));
    Ok(Arc::new(AgentDeps {
        models: Arc::clone(models),
        policy,
        limits,
        clock: clock(host),
        tools,
        skills: Arc::new(SkillRegistry { workspace: None, home: None }),
        spill: spill.to_owned(),
        permissions: Permissions::read_only(),
        seed,
        started: AtomicU32::new(1),
        workspace,
    }))
}
