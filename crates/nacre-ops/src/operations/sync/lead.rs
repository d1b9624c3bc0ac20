//! The lead of a sync, put together where its models, the store and the record of tasks are known.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use nacre_api::wire::ErrorCode;
use nacre_core::config::LeadRuntime;
use nacre_core::memory::Store;
use nacre_core::search::Embedder;
use nacre_engine::agents::{
    AgentDeps, LEAD_DENIED, Lead, LeadReport, LeadRequest, LeadRunner, LeadStep, LeadTask,
};
use nacre_engine::flows::models::{FlowModels, ProjectModels};
use nacre_engine::lifecycle::RunHandle;
use nacre_engine::model::{Models, Role};
use nacre_engine::record::state::SpentOn;
use nacre_engine::record::{CancelledBy, Heartbeat, Recording, TaskClass, TaskId};
use nacre_engine::tools::{
    AnyTool, Cache, ClaimSearch, MemoryHandle, Permissions, SkillPlaces, SkillRegistry, Workspace,
    toolkits,
};

use super::lead_claude::LeadProgram;
use crate::cancel::Cancel;
use crate::error::OpError;
use crate::events::Events;
use crate::host::{
    Host, Planned, cancelled_elsewhere, clock, empty_spill, model_settings, open_models, patience,
    record, seed, spill,
};

/// What a lead of one store is made of.
pub(super) struct LeadContext<'a> {
    pub(super) host: &'a Host,
    /// Under the rules of the store's project.
    pub(super) models: ProjectModels<'a>,
    /// The program that it is run with, where it is not our own engine.
    pub(super) program: Option<&'a LeadProgram>,
    pub(super) store: Arc<Store>,
    pub(super) embedder: Arc<dyn Embedder>,
    pub(super) project: &'a Path,
    /// How many leads this process asked.
    pub(super) n_asked: &'a Cell<u32>,
    pub(super) cancel: &'a Cancel,
}

/// The models that leads of one sync are run with.
pub(super) struct LeadModels {
    pub(super) flow: FlowModels,
    pub(super) program: Option<LeadProgram>,
}

/// The models of the role `lead`, where they are set and can be asked.
pub(super) fn lead_models(
    host: &Host,
    runtime: LeadRuntime,
    events: &Events,
) -> Result<Option<LeadModels>, OpError> {
    let models = Models::new(model_settings(host)?);
    let program = match runtime {
        LeadRuntime::Nacre => models.route(Role::Lead).map(|_| None).map_err(OpError::from),
        LeadRuntime::Claude => LeadProgram::open(host, &models).map(Some),
    };
    match program {
        Ok(program) => {
            let flow = open_models(host, models, events.cancel())?;
            Ok(Some(LeadModels { flow, program }))
        }
        Err(_) if runtime == LeadRuntime::Nacre && models.settings_of(Role::Lead).is_err() => {
            Ok(None)
        }
        Err(OpError { message, hints, .. }) => {
            let hint = hints.first().map(String::as_str);
            events.warning(
                format!("No lead is asked, unclear cases are settled by rule: {message}"),
                hint,
            );
            Ok(None)
        }
    }
}

/// Lets the lead settle what is open. Where it cannot be run at all, the report says why.
pub(super) fn settle(
    context: &LeadContext<'_>,
    order: &LeadRequest,
    watch: &mut dyn FnMut(LeadStep),
) -> LeadReport {
    let number = context.n_asked.get();
    context.n_asked.set(number + 1);
    // Two leads of one moment are two tasks, and no helper has the number of its lead.
    let seed = seed(context.host).wrapping_add(u64::from(number) << 24);
    let task = TaskId::from_random(seed);
    let project = Some(context.project.display().to_string());
    let settled = context.host.home_scope().and_then(|home| {
        // What it costs is counted with all else that is asked about the session.
        let on = SpentOn { project: project.clone(), session: order.session.clone() };
        let asker = context.models.asker(on, context.host.now());
        let asker = asker.map_err(|error| OpError::from_error(ErrorCode::Failed, &error, None))?;
        let runner = match context.program {
            Some(program) => LeadRunner::Claude(Box::new(program.lead(
                (context.host, &context.store),
                &asker,
                seed,
            )?)),
            None => deps(context, asker.models(), (seed, spill(&home)?.path()))?,
        };
        let lead = Lead { runner, memories: memories(context) };
        let n_open = order.cases.len();
        let candidates = if n_open == 1 { "candidate" } else { "candidates" };
        let planned = Planned {
            id: &task,
            agent: "lead",
            class: TaskClass::Background,
            project,
            title: format!("Settle {n_open} {candidates} of {}", order.run_id),
            words: context.store.words().clone(),
        };
        // A state that cannot be used does not stand in the way of a decision.
        let (recording, heartbeat) = record(context.host, &home, planned).ok().unzip();
        let listeners = recording.as_ref().map(Recording::listeners).unwrap_or_default();
        let heard = LeadTask { id: task.clone(), listeners };
        let settled = asker.wait(async {
            let settled =
                until_end(&lead, order, (heard, heartbeat), (watch, context.cancel)).await;
            if let Some(recording) = recording {
                recording.close().await;
            }
            settled
        });
        empty_spill(context.host, &home);
        Ok(settled)
    });
    let runtime = if context.program.is_some() { LeadRuntime::Claude } else { LeadRuntime::Nacre };
    settled
        .unwrap_or_else(|error| LeadReport { runtime, ..LeadReport::failed(task, error.message) })
}

/// Runs the lead until it ends, another process wants it stopped, or the whole sync is cancelled, which takes up the session
/// again the next time.
async fn until_end(
    lead: &Lead,
    order: &LeadRequest,
    (task, heartbeat): (LeadTask, Option<Heartbeat>),
    (watch, cancel): (&mut dyn FnMut(LeadStep), &Cancel),
) -> LeadReport {
    let handle = RunHandle::new();
    let control = handle.control();
    let mut work = std::pin::pin!(lead.settle(order, task, &control, watch));
    tokio::select! {
        report = &mut work => return report,
        by = cancelled_elsewhere(heartbeat) => handle.cancel(by),
        () = cancel.cancelled() => handle.cancel(CancelledBy::Person),
    }
    work.await
}

/// The memories that a lead decides about.
fn memories(LeadContext { host, store, embedder, .. }: &LeadContext<'_>) -> MemoryHandle {
    MemoryHandle {
        store: Arc::clone(store),
        embedder: Arc::clone(embedder),
        owner: host.owner("sync"),
        patience: host.settings().lock.wait,
        source: "lead".to_owned(),
    }
}

/// Agents of Nacre's own engine.
fn deps(
    context: &LeadContext<'_>,
    models: &Arc<Models>,
    (seed, spill): (u64, &Path),
) -> Result<LeadRunner, OpError> {
    let LeadContext { host, store, .. } = context;
    let denied: Vec<String> = LEAD_DENIED.iter().map(|name| (*name).to_owned()).collect();
    let workspace = Workspace::open(&store.path().join("memory"), &denied)
        .map_err(|error| OpError::from_error(ErrorCode::Failed, &error, None))?;
    let workspace = Arc::new(workspace);
    let (policy, limits) = patience(host);
    let mut tools = toolkits::file::tools(&workspace);
    tools.push(Arc::new(ClaimSearch { memories: memories(context) }) as Arc<dyn AnyTool>);
    let deps = AgentDeps {
        models: Arc::clone(models),
        policy,
        limits,
        clock: clock(host),
        tools,
        skills: Arc::new(SkillRegistry::new(SkillPlaces { workspace: None, home: None })),
        spill: spill.to_owned(),
        cache: Arc::new(Cache::default()),
        permissions: Permissions::read_only(),
        seed,
        started: AtomicU32::new(1),
        workspace,
    };
    Ok(LeadRunner::Agent(Arc::new(deps)))
}
