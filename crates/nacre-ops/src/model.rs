//! Configures and tests the models, their roles, and the agent that reads sessions.

use nacre_base::config::{ConfigEntry, NACRE_CHILD, ROLES, edit};
use nacre_engine::model::{
    Control, Cost, InstalledProgram, KNOWN_PROVIDERS, Limits, ModelEvent, Models, Request,
    RetryPolicy, Role, Usage, generate,
};
use nacre_memory::search::Builtin;
use nacre_types::{
    EmbedderEntry, EmptyRequest, InstalledAgent, ModelListReport, ModelReaderReport,
    ModelTestReport, ModelTestRequest, ProviderEntry, RoleEntry, TokenCounts,
};

use crate::host::{
    AUTO, auto_model, first_installed, key_variable, list_installed, millis, model_settings,
    no_answer, provider_names,
};
use crate::prelude::*;

pub fn list(host: &Host, _: &EmptyRequest) -> Result<ModelListReport> {
    let roles = roles(host)?;
    let is_used = |name: &String| {
        let prefix = format!("{name}/");
        roles.iter().flat_map(|role| &role.models).any(|model| model.starts_with(&prefix))
    };
    let providers = provider_names(host).into_iter().filter(is_used);
    let providers = providers.map(|name| provider(host, name)).collect();
    let model = Builtin::shipped();
    let builtin = EmbedderEntry {
        name: "builtin".to_owned(),
        state: "ready".to_owned(),
        id: Some(model.id().to_owned()),
        dims: Some(model.dims()),
        about: "built into Nacre".to_owned(),
    };
    Ok(ModelListReport { roles, providers, agents: agents(host)?, models: vec![builtin] })
}

fn roles(host: &Host) -> Result<Vec<RoleEntry>> {
    let models = Models::new(model_settings(host)?);
    let set = &host.settings().roles;
    let mut roles = Vec::new();
    for name in ROLES {
        let Some(table) = set.get(*name) else { continue };
        let Some(model) = &table.model else { continue };
        let known = Role::from_name(name);
        let is_unset = |role: &Role| !set.contains_key(role.as_str());
        let role = known.or_else(|| Role::ALL.into_iter().find(is_unset));
        let problem = role.and_then(|role| models.route(role).err());
        let auto = Some(host).filter(|_| model == AUTO).map(auto_model);
        let problem = match auto {
            Some(None) => {
                Some("no installed agent is allowed to answer; nacre init --yes".to_owned())
            }
            Some(Some(_)) | None => problem.map(|error| error.to_string()),
        };
        let first = auto.flatten().map_or_else(|| model.clone(), |found| found.to_string());
        roles.push(RoleEntry {
            role: (*name).to_owned(),
            models: std::iter::once(first).chain(table.fallbacks.iter().cloned()).collect(),
            origin: origin(host.resolved.tables.get(&format!("roles.{name}.model"))),
            problem,
        });
    }
    Ok(roles)
}

fn provider(host: &Host, name: String) -> ProviderEntry {
    let set = host.settings().providers.get(&name).and_then(|table| table.base_url.clone());
    let known = KNOWN_PROVIDERS.iter().find(|known| known.name == name);
    let address = set.or_else(|| known.map(|known| known.base_url.to_owned()));
    let key = match key_variable(host, &name) {
        None => "no key needed".to_owned(),
        Some(variable) if host.environment.var(&variable).is_some() => format!("key in {variable}"),
        Some(variable) => format!("no key in {variable}"),
    };
    let entry = host.resolved.tables.get(&format!("providers.{name}.base_url"));
    ProviderEntry { name, address: address.unwrap_or_default(), key, origin: origin(entry) }
}

fn agents(host: &Host) -> Result<Vec<InstalledAgent>> {
    let entry = |installed: &InstalledProgram| InstalledAgent {
        name: installed.known.provider.to_owned(),
        label: installed.known.label.to_owned(),
        version: installed.version.clone(),
        path: installed.path.display().to_string(),
        model: installed.known.reader_name(),
    };
    Ok(list_installed(host)?.iter().map(entry).collect())
}

fn origin(entry: Option<&ConfigEntry>) -> String {
    let place = entry.and_then(|entry| entry.origins.last()).map(|origin| origin.place.to_string());
    place.unwrap_or_else(|| "built in".to_owned())
}

const AGENT: &str = "reading.agent";

const MODEL: &str = "roles.default.model";

const NONE: &str = "none";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReaderQuestion {
    pub label: &'static str,
    pub sessions_per_day: u64,
}

/// Returns the question that asks the user whether the installed agent may read sessions. Returns
/// `None` if the user has already answered it, has configured a model, or has no agent installed.
pub fn reader_question(host: &Host) -> Option<ReaderQuestion> {
    // Only the user's own settings count, because a repository must not make this decision.
    let roles = &host.own.roles;
    let is_set = |role: &str| {
        let model = roles.get(role).and_then(|table| table.model.as_deref());
        model.is_some_and(|model| model != AUTO)
    };
    let is_child = host.environment.var(NACRE_CHILD).is_some();
    if is_child || is_set("default") || is_set("extract") {
        return None;
    }
    let agent = first_installed(host)?;
    let answer = host.own.reading.agent.as_str();
    let is_answered = answer == NONE || answer == agent.provider;
    let sessions_per_day = host.own.reading.sessions_per_day;
    (!is_answered).then_some(ReaderQuestion { label: agent.label, sessions_per_day })
}

/// Returns whether sessions are read without a model.
pub fn reads_by_rules(host: &Host) -> bool {
    let roles = &host.settings().roles;
    let model = |role: &str| roles.get(role).and_then(|table| table.model.as_deref());
    let model = model("extract").or_else(|| model("default"));
    model.is_none_or(|model| model == AUTO && auto_model(host).is_none())
}

pub fn answer_reader(host: &Host, is_allowed: bool) -> Result<ModelReaderReport> {
    let Some(agent) = first_installed(host) else {
        return Err(OpError::failed("No installed agent can read sessions")
            .hint("nacre config set roles.default.model ollama/qwen3"));
    };
    let answer = if is_allowed { agent.provider } else { NONE };
    let has_model = host.own.roles.get("default").is_some_and(|table| table.model.is_some());
    host.edit_home_text("config.toml", "model reader", |text, origin| {
        let text = edit::set(text, origin, AGENT, answer)?;
        if is_allowed && !has_model { Ok(edit::set(&text, origin, MODEL, AUTO)?) } else { Ok(text) }
    })?;
    host.allow_agent(answer);
    Ok(ModelReaderReport {
        agent: agent.provider.to_owned(),
        label: agent.label.to_owned(),
        model: agent.reader_name(),
        allowed: is_allowed,
    })
}

const MAX_WAIT: Duration = Duration::from_secs(60);

/// Large enough for a reasoning model, which produces tokens before its answer.
const MAX_TOKENS: u32 = 128;

pub fn test(host: &Host, request: &ModelTestRequest, events: &Events) -> Result<ModelTestReport> {
    let role = request.role;
    let models = Models::new(model_settings(host)?);
    let set = models.settings_of(role)?.clone();
    let route = models.route(role)?;
    events.step(format!("Asking {}", set.model));
    let passed = host.stopwatch();
    let mut first_word = None;
    let mut sink = |event: ModelEvent| {
        if matches!(event, ModelEvent::Text(_) | ModelEvent::Reasoning(_)) {
            first_word.get_or_insert_with(&passed);
        }
    };
    let mut question = Request::new(role, "Answer with one word.", "Say the word: pearl");
    question.max_tokens = set.max_tokens.unwrap_or(MAX_TOKENS).min(MAX_TOKENS);
    (question.temperature, question.effort) = (set.temperature, set.effort);
    let deadline = MAX_WAIT.min(host.settings().limits.model_time);
    let control = Control {
        policy: RetryPolicy { attempts: 2, deadline, ..RetryPolicy::default() },
        limits: Limits::default(),
        seed: u64::from(host.environment.pid),
        cancel: events.cancel().clone(),
    };
    let answered = host.block_on(generate(&route, &question, &control, &mut sink))?;
    let took = passed();
    events.check_cancelled()?;
    let response = answered.map_err(|error| no_answer(&error))?;
    let cost = response.usage.cost(&response.model);
    let Usage { input, cache_read, cache_write, output, .. } = response.usage;
    Ok(ModelTestReport {
        role: request.role,
        model: response.model.to_string(),
        text: response.text(),
        first_word_ms: first_word.map(millis),
        total_ms: millis(took),
        tokens: TokenCounts { input: input + cache_read + cache_write, output },
        cost_usd: cost.map(Cost::dollars),
    })
}
