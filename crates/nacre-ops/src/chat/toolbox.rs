//! The resources available to the chat agent: models, the workspace, tools and memories.

use std::sync::atomic::AtomicU32;

use nacre_base::config::StrategyChoice;
use nacre_engine::agents::{
    AgentDeps, CHAT_BUDGETS, Orientation, chat, delegate_tool, find_unchecked_mentions,
};
use nacre_engine::confine::{Launcher, OutputCaps, Quotas};
use nacre_engine::lifecycle::{AgentSpec, Outcome};
use nacre_engine::model::{Cancel, ModelRef, Models, Role, RoleSettings};
use nacre_engine::record::state::{SessionRecord, State};
use nacre_engine::record::{Events as AgentEvents, Fault, SessionId, TaskId};
use nacre_engine::tools::{
    ActiveSkills, AddressGuard, AnyTool, Area, Budgets, Checklist, ChecklistSet, EffectRunner,
    Exec, MemoryHandle, MemoryRecall, MemoryRecord, MemoryRemove, MemorySearch, MemoryUse,
    Permissions, Programs, ProjectEffects, RecordClaim, Seen, ShellJobs, ShellPoll, ShellRun,
    ShellStart, ShellStop, ToolError, WebFetch, tool, toolkits,
};
use nacre_memory::{Actor, Draft, Speaker, Status};
use nacre_traces::agents::trace_at;
use nacre_traces::transcript::injected::{BRIEF_TAG, wrap_in_tag};
use nacre_types::{BriefRequest, MemoryChange, MemoryRecordRequest, MemoryType, RunMode};

use super::{CallOrigin, ChatShared, LiveTurn, open_state, sessions};
use crate::agent::agent_deps;
use crate::brief::brief;
use crate::host::{SESSIONS_FOLDER, ask_rules, load_script, model_settings, open_charged_models};
use crate::memory::{record, said_already};
use crate::prelude::*;
use crate::recording::CommandChange;
use crate::run::change::Reversal;
use crate::sync::SessionModels;
use crate::sync::candidate::{Candidate, Extraction};
use crate::sync::extract::Rules;
use crate::sync::strategy::read_session;

pub(super) struct Toolbox {
    pub(super) deps: Arc<AgentDeps>,
    pub(super) spec: AgentSpec,
    pub(super) skills: Arc<ActiveSkills>,
    pub(super) children: Arc<AtomicU32>,
    pub(super) checklist: Checklist,
    pub(super) effects: Option<Arc<dyn EffectRunner>>,
    /// Background programs, which are killed at the end of the turn.
    pub(super) jobs: ShellJobs,
    programs: Arc<Programs>,
    /// The stores to search for memories. The project's store comes first.
    memories: Arc<Vec<MemoryHandle>>,
    remember: Arc<RecordClaim>,
}

impl Toolbox {
    pub(super) fn find_unchecked(&self, outcome: &Outcome) -> Vec<String> {
        let memories = self.memories.first().map(|memories| memories.store.as_ref());
        find_unchecked_mentions(&outcome.text, &self.deps.workspace, memories, &outcome.effects)
    }

    pub(super) fn open(
        chats: &Arc<ChatShared>,
        host: &Host,
        home: &WriteScope,
        turn: &LiveTurn,
    ) -> Result<Self> {
        let models = models(chats, host, turn)?;
        let deps = Arc::new(agent_deps(host, home, models)?);
        let spec = spec(host, &deps, turn);
        let mut toolbox = Self {
            deps,
            spec,
            skills: Arc::default(),
            children: Arc::default(),
            checklist: Checklist::default(),
            effects: None,
            jobs: ShellJobs::default(),
            programs: Arc::new(programs(host)?),
            memories: Arc::new(memories(host)?),
            remember: memory_add(chats, turn.origin(), &turn.session.id),
        };
        // Remove unavailable tools from the agent, such as memory search if there is no store.
        let tools = toolbox.tools(&AgentEvents::silent(TaskId::from_random(0)));
        toolbox.spec.tools.retain(|name| tools.iter().any(|tool| tool.spec().name == *name));
        let effects = ProjectEffects::new(Arc::clone(&toolbox.programs), &toolbox.spec.permissions);
        toolbox.effects = effects.map(|effects| Arc::new(effects) as Arc<dyn EffectRunner>);
        Ok(toolbox)
    }

    pub(super) fn tools(&self, events: &AgentEvents) -> Vec<Arc<dyn AnyTool>> {
        let mut tools = self.deps.tools.clone();
        let (programs, jobs) = (|| Arc::clone(&self.programs), || self.jobs.clone());
        tools.push(tool::<ShellRun>(programs()));
        tools.push(tool::<ShellStart>((programs(), jobs())));
        tools.push(tool::<ShellPoll>(jobs()));
        tools.push(tool::<ShellStop>(jobs()));
        tools.push(tool::<WebFetch>(AddressGuard::default()));
        tools.push(tool::<ChecklistSet>(self.checklist.clone()));
        if let Some(memories) = self.memories.first() {
            let stores = Arc::clone(&self.memories);
            tools.push(tool::<MemoryRecall>((stores, Seen::default())));
            tools.push(tool::<MemorySearch>(memories.clone()));
            tools.push(tool::<MemoryRecord>(Arc::clone(&self.remember)));
            tools.push(tool::<MemoryRemove>(memories.clone()));
        }
        tools.extend(toolkits::skill::tools(&self.deps.skills, &self.skills, events));
        let (deps, children) = (Arc::clone(&self.deps), Arc::clone(&self.children));
        tools.push(delegate_tool(deps, events.clone(), children));
        tools
    }
}

fn spec(host: &Host, deps: &AgentDeps, turn: &LiveTurn) -> AgentSpec {
    let permissions = Permissions {
        reads: vec![Area::Tree(None)],
        writes: vec![Area::Tree(None)],
        denied: host.settings().map.deny.clone(),
        exec: Exec::Anything,
        network: true,
        memory: MemoryUse::Changes,
    };
    let today = host.now().strftime("%Y-%m-%d").to_string();
    let orientation = Orientation {
        brief: load_briefing(host),
        policy: Some(turn.policy()),
        ..Orientation::look(&deps.workspace, &today)
    };
    let set = deps.models.settings_of(Role::Chat).ok().and_then(|settings| settings.context_tokens);
    let context_tokens = set.unwrap_or(CHAT_BUDGETS.context_tokens);
    chat(&permissions, &orientation, Budgets { context_tokens, ..CHAT_BUDGETS })
}

/// Returns the brief that other agents receive from a hook.
fn load_briefing(host: &Host) -> Option<String> {
    let budget = host.settings().hooks.start_tokens;
    if budget == 0 {
        return None;
    }
    let request = BriefRequest { budget: Some(budget), ..BriefRequest::default() };
    let report = brief(host, &request).ok()?;
    (!report.text.is_empty()).then(|| wrap_in_tag(BRIEF_TAG, &report.text))
}

fn models(chats: &ChatShared, host: &Host, turn: &LiveTurn) -> Result<Arc<Models>> {
    let mut settings = match &chats.script {
        Some(file) => match chats.read_script.get() {
            Some(read) => read.clone(),
            None => {
                let read = load_script(host, file)?;
                chats.read_script.get_or_init(|| read).clone()
            }
        },
        None => model_settings(host)?,
    };
    if let (Some(model), None) = (&turn.session.model, &chats.script) {
        let model: ModelRef = model
            .parse()
            .map_err(|error: nacre_engine::model::BadModelRef| OpError::usage(error.to_string()))?;
        settings.roles.insert(Role::Chat, RoleSettings::of_model(model));
    }
    let models = Models::new(settings);
    // Fails before any file is created if no model is configured.
    models.route(Role::Chat)?;
    open_charged_models(host, models, "chat")
}

/// The agent's programs run as the user, in a sandbox without network access, and with no secrets
/// in their environment.
fn programs(host: &Host) -> Result<Programs> {
    let environment: BTreeMap<String, String> = host.environment.vars.iter().cloned().collect();
    let program = host.environment.program.clone().unwrap_or_else(|| PathBuf::from("nacre"));
    Ok(Programs {
        launcher: Launcher::new(program),
        environment,
        home: host.home()?.to_owned(),
        random: host.environment.random,
        quotas: Quotas::default(),
        output: OutputCaps::default(),
    })
}

/// Returns the project's store and the user's store. New memories are added to the first store.
fn memories(host: &Host) -> Result<Vec<MemoryHandle>> {
    let handle = |scoped: ScopedStore| {
        Ok(MemoryHandle {
            store: Arc::new(scoped.store.acting_as(Actor::Agent)),
            owner: host.owner("chat"),
            patience: host.settings().lock.wait,
            source: "nacre".to_owned(),
            is_claims_only: false,
        })
    };
    host.stores_to_read(None)?.into_iter().map(handle).collect()
}

/// Sessions with larger traces are left to `sync`.
const MAX_TRACE_BYTES: u64 = 4 << 20;

const MAX_CLAIMS: usize = 8;

/// Extracts memories from a finished turn in which the user wrote `said`. Errors are ignored,
/// because the next turn or sync tries again.
pub(super) fn remember(host: &Host, state: &State, session: &SessionRecord, said: &str) {
    // `sync` attributes everything in a trace to the owner.
    if host.actor != Actor::Person {
        let _ = sessions::keep(host, state, session);
    }
    let _ = add_claims(host, session, said);
}

/// Adds the user's statements to the project's memories, or to the user's own memories if there is
/// no project.
fn add_claims(host: &Host, session: &SessionRecord, said: &str) -> Result<()> {
    let scoped = match host.project {
        Some(_) => host.project_store()?,
        None => host.stores_to_read(None)?.into_iter().next(),
    };
    let Some(scoped) = scoped else { return Ok(()) };
    let Some(extraction) = read(host, &scoped, session)? else { return Ok(()) };
    let source = format!("{}:{}", extraction.agent.as_str(), extraction.session);
    let is_theirs = |quote: &nacre_memory::Quote| {
        quote.speaker == Speaker::User && said.contains(quote.text.trim())
    };
    let is_stated = |claim: &Candidate| !claim.is_repeated && claim.quotes.iter().any(is_theirs);
    let stated = extraction.candidates.into_iter().filter(is_stated).take(MAX_CLAIMS);
    let drafts = stated.map(|claim| (claim.draft(&source, Vec::new()), claim.status));
    let new: Vec<(Draft, Status)> =
        drafts.filter(|(draft, _)| said_already(host, &scoped, draft).is_none()).collect();
    if new.is_empty() {
        return Ok(());
    }
    let wait = host.settings().lock.wait;
    let mut batch = scoped.store.begin(&host.owner("chat"), wait)?.by_reader();
    for (draft, status) in &new {
        let holds = *status == Status::Active && scoped.store.level_of(draft).is_offered();
        if holds {
            batch.add(draft, host.now())?
        } else {
            batch.add_candidate(draft, host.now())?
        };
    }
    CommandChange::new(RunMode::Memory, "chat").commit(host, &scoped, batch, Reversal::Plan)?;
    Ok(())
}

/// Extracts claims using rules, without a model. Returns `None` if the session is too long.
fn read(host: &Host, scoped: &ScopedStore, session: &SessionRecord) -> Result<Option<Extraction>> {
    let path = host.home()?.join(SESSIONS_FOLDER).join(format!("{}.jsonl", session.id));
    if path.metadata().map_or(true, |file| MAX_TRACE_BYTES < file.len()) {
        return Ok(None);
    }
    let trace = trace_at(&path)?;
    let reading = SessionModels::open(host, Some(StrategyChoice::Offline), &Cancel::new())?;
    let store = &scoped.store;
    let is_forgotten = |title: &str, body: &str| store.is_forgotten(title, body).unwrap_or(false);
    let rules = Rules { is_forgotten: &is_forgotten, ..Rules::default() };
    let ask_rules = ask_rules(&scoped.settings);
    let read = read_session(&trace, &ask_rules.words, rules, reading.reader(&ask_rules), None)?;
    Ok(Some(read.extraction))
}

const BY: &str = "chat";

fn memory_add(
    chats: &Arc<ChatShared>,
    origin: CallOrigin,
    session: &SessionId,
) -> Arc<RecordClaim> {
    let (chats, session) = (Arc::clone(chats), session.clone());
    Arc::new(move |claim| {
        let (chats, session) = (Arc::clone(&chats), session.clone());
        let origin = origin.clone();
        Box::pin(async move {
            let kept = chats.call(origin, move |host| keep(host, &session, claim)).await;
            kept.map_err(|OpError { message, hints, .. }| {
                let hint = hints.into_iter().next().unwrap_or_else(|| "Go on without it.".into());
                ToolError::new(Fault::Denied, message, format!("{hint}."))
            })
        })
    })
}

/// Stores a claim. The session is saved first, because the claim is verified against it.
fn keep(host: &Host, session: &SessionId, claim: MemoryRecord) -> Result<String> {
    let state = open_state(host)?;
    // A trace is attributed to the owner, so it must not contain the words of other callers.
    if host.actor != Actor::Person {
        sessions::keep(host, &state, &state.session(session)?)?;
    }
    let MemoryRecord { title, body, kind, quote, tags, applies, supersedes } = claim;
    let request = MemoryRecordRequest {
        title,
        body,
        r#type: Some(if kind.is_some() { MemoryType::Learning } else { MemoryType::Decision }),
        kind,
        tags,
        applies,
        supersedes,
        quote,
        session: Some(session.to_string()),
        scope: None,
    };
    let report = record(host, &request, BY, &Events::discard())?;
    let id = &report.id;
    Ok(match (report.done, report.status.as_deref()) {
        (MemoryChange::LeftUnchanged, _) => format!("Already known: see `{id}`."),
        (_, Some("candidate")) => {
            format!("Saved as {id}. It needs the user's approval: `nacre review`.")
        }
        (_, _) => format!("Remembered as {id}."),
    })
}
