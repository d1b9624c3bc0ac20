//! Everything that the agent of a chat works with: models, the workspace, its tools, and what happens after a change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use nacre_api::wire::BriefRequest;
use nacre_core::memory::Actor;
use nacre_core::safefs::WriteScope;
use nacre_core::transcript::injected::{BRIEF_TAG, marked};
use nacre_engine::agents::{
    AgentDeps, CHAT_BUDGETS, Delegate, Orientation, chat, unchecked_mentions,
};
use nacre_engine::confine::{Launcher, Metadata, OutputCaps, Quotas, Reach};
use nacre_engine::lifecycle::{AgentSpec, Outcome};
use nacre_engine::model::{ModelRef, Models, Role, RoleSettings};
use nacre_engine::record::{Events as AgentEvents, TaskId};
use nacre_engine::tools::toolkits;
use nacre_engine::tools::{
    ActiveSkills, AddressGuard, AnyTool, Area, Budgets, Checklist, ChecklistSet, ChecklistUpdate,
    EffectRunner, ExecPolicy, MemoryHandle, MemoryRecall, MemoryRecord, MemoryRemove, MemorySearch,
    MemoryUse, NetworkPolicy, Permissions, Programs, ProjectEffects, RepositoryTrust, Seen,
    ShellJobs, ShellPoll, ShellRun, ShellStart, ShellStop, WebFetch,
};

use super::asked::Asked;
use super::asking::engine_policy;
use super::remember::memory_add;
use super::shared::ChatShared;
use crate::error::OpError;
use crate::host::{Host, ScopedStore, charged_models, model_settings, scripted};
use crate::operations::agent::agent_deps;
use crate::operations::brief::brief;

/// See the module.
pub(super) struct Toolbox {
    pub(super) deps: Arc<AgentDeps>,
    pub(super) spec: AgentSpec,
    pub(super) skills: Arc<ActiveSkills>,
    pub(super) children: Arc<AtomicU32>,
    pub(super) checklist: Checklist,
    pub(super) effects: Option<Arc<dyn EffectRunner>>,
    /// Programs in the background; they end with the turn.
    pub(super) jobs: ShellJobs,
    programs: Arc<Programs>,
    /// Where something is remembered: the project's first.
    memories: Arc<Vec<MemoryHandle>>,
    remember: MemoryRecord,
}

impl Toolbox {
    /// The places and memories that an answer names and nobody looked up in its turn.
    pub(super) fn unchecked(&self, outcome: &Outcome) -> Vec<String> {
        let memories = self.memories.first().map(|memories| memories.store.as_ref());
        unchecked_mentions(&outcome.text, &self.deps.workspace, memories, &outcome.effects)
    }

    pub(super) fn open(
        chats: &Arc<ChatShared>,
        host: &Host,
        home: &WriteScope,
        asked: &Asked,
    ) -> Result<Self, OpError> {
        let folder = asked.session.workspace.as_ref().map(PathBuf::from);
        let models = models(chats, host, asked)?;
        let deps = Arc::new(agent_deps(host, home, models)?);
        let spec = spec(host, &deps, asked);
        let mut toolbox = Self {
            deps,
            spec,
            skills: Arc::default(),
            children: Arc::default(),
            checklist: Checklist::default(),
            effects: None,
            jobs: ShellJobs::default(),
            programs: Arc::new(programs(host)),
            memories: Arc::new(memories(host)?),
            remember: memory_add(chats, folder, &asked.session.id),
        };
        toolbox.offer_what_there_is();
        let effects = ProjectEffects::new(
            Arc::clone(&toolbox.programs),
            &toolbox.spec.permissions,
            &toolbox.spec.effects,
            RepositoryTrust::Stranger,
        );
        toolbox.effects = effects.map(|effects| Arc::new(effects) as Arc<dyn EffectRunner>);
        Ok(toolbox)
    }

    /// Takes away the tools of the agent that are not here: where nothing is remembered, there is nothing to search.
    fn offer_what_there_is(&mut self) {
        let tools = self.tools(&AgentEvents::silent(TaskId::from_random(0)));
        self.spec.tools.retain(|name| tools.iter().any(|tool| tool.spec().name == *name));
    }

    /// Every tool of the agent.
    pub(super) fn tools(&self, events: &AgentEvents) -> Vec<Arc<dyn AnyTool>> {
        let mut tools = self.plain_tools();
        tools.extend(toolkits::skill::tools(&self.deps.skills, &self.skills, events));
        let (deps, children) = (Arc::clone(&self.deps), Arc::clone(&self.children));
        if let Some(delegate) = Delegate::new(self.spec.spawn, deps, events.clone(), children) {
            tools.push(Arc::new(delegate));
        }
        tools
    }

    /// Those that need nothing of the turn.
    fn plain_tools(&self) -> Vec<Arc<dyn AnyTool>> {
        let mut tools = self.deps.tools.clone();
        let (programs, jobs) = (|| Arc::clone(&self.programs), || self.jobs.clone());
        tools.push(Arc::new(ShellRun { programs: programs() }));
        tools.push(Arc::new(ShellStart { programs: programs(), jobs: jobs() }));
        tools.push(Arc::new(ShellPoll { jobs: jobs() }));
        tools.push(Arc::new(ShellStop { jobs: jobs() }));
        tools.push(Arc::new(WebFetch { guard: AddressGuard::default() }));
        tools.push(Arc::new(ChecklistSet { checklist: self.checklist.clone() }));
        tools.push(Arc::new(ChecklistUpdate { checklist: self.checklist.clone() }));
        if let Some(memories) = self.memories.first() {
            let stores = Arc::clone(&self.memories);
            tools.push(Arc::new(MemoryRecall { stores, seen: Seen::default() }));
            tools.push(Arc::new(MemorySearch { memories: memories.clone() }));
            tools.push(Arc::new(self.remember.clone()));
            tools.push(Arc::new(MemoryRemove { memories: memories.clone() }));
        }
        tools
    }
}

/// The agent, told where it is.
fn spec(host: &Host, deps: &AgentDeps, asked: &Asked) -> AgentSpec {
    let permissions = Permissions {
        reads: vec![Area::Tree(None)],
        writes: vec![Area::Tree(None)],
        denied: host.settings().map.deny.clone(),
        exec: ExecPolicy::Confined,
        network: NetworkPolicy::Public,
        memory: MemoryUse::Changes,
    };
    let today = host.now().strftime("%Y-%m-%d").to_string();
    let orientation = Orientation {
        brief: remembered(host),
        policy: Some(engine_policy(asked.policy())),
        ..Orientation::look(&deps.workspace, &today)
    };
    let set = deps.models.settings_of(Role::Chat).ok().and_then(|settings| settings.context_tokens);
    let context_tokens = set.unwrap_or(CHAT_BUDGETS.context_tokens);
    chat(&permissions, &orientation, Budgets { context_tokens, ..CHAT_BUDGETS })
}

/// What the next session should know, as a hook would tell another agent.
fn remembered(host: &Host) -> Option<String> {
    let budget = host.settings().hooks.start_tokens;
    if budget == 0 {
        return None;
    }
    let request = BriefRequest { budget: Some(budget), ..BriefRequest::default() };
    let report = brief(host, &request).ok()?;
    (!report.text.is_empty()).then(|| marked(BRIEF_TAG, &report.text))
}

/// The models that are set, with the session's own in the place of chat's.
fn models(chats: &ChatShared, host: &Host, asked: &Asked) -> Result<Arc<Models>, OpError> {
    let mut settings = match &chats.script {
        Some(file) => match chats.read_script.get() {
            Some(read) => read.clone(),
            None => {
                let read = scripted(host, file)?;
                chats.read_script.get_or_init(|| read).clone()
            }
        },
        None => model_settings(host)?,
    };
    if let (Some(model), None) = (&asked.session.model, &chats.script) {
        let model: ModelRef = model
            .parse()
            .map_err(|error: nacre_engine::model::BadModelRef| OpError::usage(error.to_string()))?;
        settings.roles.insert(Role::Chat, RoleSettings::of_model(model));
    }
    let models = Models::new(settings);
    // What cannot be asked at all is said before anything is made for it.
    models.route(Role::Chat)?;
    charged_models(host, models, "chat")
}

/// How programs are started: as the person, within walls, without their secrets and without the network.
fn programs(host: &Host) -> Programs {
    let environment: BTreeMap<String, String> = host.environment.vars.iter().cloned().collect();
    let program = host.environment.program.clone().unwrap_or_else(|| PathBuf::from("nacre"));
    Programs {
        launcher: Launcher::new(program),
        environment,
        home: host.home().ok().map(Path::to_owned),
        reach: Reach::Nothing,
        metadata: Metadata::Kept,
        quotas: Quotas::default(),
        output: OutputCaps::default(),
    }
}

/// The memories of the project and the person's own, in this order. New ones go to the first.
fn memories(host: &Host) -> Result<Vec<MemoryHandle>, OpError> {
    let handle = |scoped: ScopedStore| {
        Ok(MemoryHandle {
            embedder: host.embedder(&scoped.settings)?,
            store: Arc::new(scoped.store.acting_as(Actor::Agent)),
            owner: host.owner("chat"),
            patience: host.settings().lock.wait,
            source: "nacre".to_owned(),
        })
    };
    host.stores_to_read(None)?.into_iter().map(handle).collect()
}
