//! Resolves roles to models according to the settings.
//!
//! A provider is connected only when a role that uses it is resolved, so that an error in one
//! provider's settings does not affect the others.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use nacre_base::config::{ApiChoice, EffortChoice, PlainHttpChoice};
use nacre_base::redact::ExtraWords;
use nacre_types::ModelRole as Role;
use serde::{Deserialize, Serialize};

use crate::model::anthropic::Anthropic;
use crate::model::hosted::{Dialect, Hosted};
use crate::model::http::{Endpoint, EndpointError};
use crate::model::openai::OpenAi;
use crate::model::programs::{KnownProgram, ProgramProvider, ProgramSettings};
use crate::model::provider::{Guarded, Provider};
use crate::model::retry::{Route, ServedModel};
use crate::model::scripted::Scripted;
use crate::model::secret::Secret;
use crate::model::spending_budget::{Metered, SpendingBudget};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownProvider {
    pub name: &'static str,
    pub kind: ApiChoice,
    pub base_url: &'static str,
    pub key_variable: Option<&'static str>,
}

pub const KNOWN_PROVIDERS: &[KnownProvider] = &[
    KnownProvider {
        name: "anthropic",
        kind: ApiChoice::Anthropic,
        base_url: "https://api.anthropic.com",
        key_variable: Some("ANTHROPIC_API_KEY"),
    },
    KnownProvider::open_ai("openai", "https://api.openai.com/v1", Some("OPENAI_API_KEY")),
    KnownProvider::open_ai(
        "openrouter",
        "https://openrouter.ai/api/v1",
        Some("OPENROUTER_API_KEY"),
    ),
    KnownProvider::open_ai("zai", "https://api.z.ai/api/paas/v4", Some("ZAI_API_KEY")),
    KnownProvider::open_ai("ollama", "http://127.0.0.1:11434/v1", None),
    KnownProvider::open_ai("llamacpp", "http://127.0.0.1:8080/v1", None),
    KnownProvider::open_ai("vllm", "http://127.0.0.1:8000/v1", None),
];

impl KnownProvider {
    const fn open_ai(
        name: &'static str,
        base_url: &'static str,
        key_variable: Option<&'static str>,
    ) -> Self {
        Self { name, kind: ApiChoice::OpenAi, base_url, key_variable }
    }
}

#[derive(Clone, Debug, Default)]
pub struct ProviderSettings {
    /// Required for providers that are not in `KNOWN_PROVIDERS`.
    pub kind: Option<ApiChoice>,
    pub base_url: Option<String>,
    pub key: Option<Secret>,
    pub plain_http: Option<PlainHttpChoice>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RoleSettings {
    pub model: ModelRef,
    pub fallbacks: Vec<ModelRef>,
    pub max_tokens: Option<u32>,
    /// Maximum input tokens: the model's context window minus a reserve that the user chose.
    pub context_tokens: Option<usize>,
    pub temperature: Option<f32>,
    pub effort: Option<EffortChoice>,
}

impl RoleSettings {
    pub fn of_model(model: ModelRef) -> Self {
        Self {
            model,
            fallbacks: Vec::new(),
            max_tokens: None,
            context_tokens: None,
            temperature: None,
            effort: None,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct ModelSettings {
    pub providers: BTreeMap<String, ProviderSettings>,
    pub roles: BTreeMap<Role, RoleSettings>,
    pub default: Option<RoleSettings>,
    pub script: Option<Arc<Scripted>>,
    pub programs: ProgramSettings,
}

#[derive(Debug, thiserror::Error)]
pub enum RolesError {
    #[error("No model is set for `{0}`")]
    NotSet(Role),
    #[error("Provider `{0}` is unknown, and its address and API are not set")]
    UnknownProvider(String),
    #[error("Provider `{0}` needs a key, but none is set")]
    NoKey(String),
    #[error("{} is not installed: `{}` not found in PATH", .0.label, .0.command)]
    NotInstalled(&'static KnownProgram),
    #[error("Nacre is running inside an agent that it started, so it cannot call {}", .0.label)]
    Recursion(&'static KnownProgram),
    #[error("No script is set for the model `scripted`")]
    NoScript,
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
}

/// The configured models, connected on first use. Clones share the connections.
#[derive(Clone)]
pub struct Models {
    settings: Arc<ModelSettings>,
    connected: Arc<Mutex<BTreeMap<String, Arc<dyn Provider>>>>,
    budget: Option<Arc<SpendingBudget>>,
    words: Arc<ExtraWords>,
}

impl Models {
    pub fn new(settings: ModelSettings) -> Self {
        Self {
            settings: Arc::new(settings),
            connected: Arc::default(),
            budget: None,
            words: Arc::default(),
        }
    }

    /// Returns the same models and connections, but charges all calls to this budget.
    #[must_use]
    pub fn paid_from(&self, budget: &Arc<SpendingBudget>) -> Self {
        Self { budget: Some(Arc::clone(budget)), ..self.clone() }
    }

    /// Returns the same models and connections, but redacts these words from every request.
    #[must_use]
    pub fn without_words(&self, words: &Arc<ExtraWords>) -> Self {
        Self { words: Arc::clone(words), ..self.clone() }
    }

    pub fn words(&self) -> &Arc<ExtraWords> {
        &self.words
    }

    pub fn settings_of(&self, role: Role) -> Result<&RoleSettings, RolesError> {
        let own = self.settings.roles.get(&role);
        own.or(self.settings.default.as_ref()).ok_or(RolesError::NotSet(role))
    }

    pub fn route(&self, role: Role) -> Result<Route, RolesError> {
        let settings = self.settings_of(role)?;
        let first = self.serve(&settings.model)?;
        let fallbacks: Result<Vec<_>, _> =
            settings.fallbacks.iter().map(|model| self.serve(model)).collect();
        Ok(Route::new(first, fallbacks?))
    }

    pub fn serve(&self, model: &ModelRef) -> Result<ServedModel, RolesError> {
        let mut provider = self.provider(model)?;
        if !self.words.is_empty() {
            provider = Arc::new(Guarded { provider, words: Arc::clone(&self.words) });
        }
        let provider = match &self.budget {
            Some(budget) => Arc::new(Metered { provider, budget: Arc::clone(budget) }),
            None => provider,
        };
        Ok(ServedModel { model: model.clone(), provider })
    }

    fn provider(&self, model: &ModelRef) -> Result<Arc<dyn Provider>, RolesError> {
        if model.is_scripted() {
            return Ok(self.settings.script.clone().ok_or(RolesError::NoScript)?);
        }
        let mut connected = self.connected.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(provider) = connected.get(model.provider()) {
            return Ok(Arc::clone(provider));
        }
        let provider: Arc<dyn Provider> = match self.find_known_program(model.provider()) {
            Some(known) => {
                let (program, settings) =
                    (self.find_installed(known)?, self.settings.programs.clone());
                Arc::new(ProgramProvider { known, program, settings })
            }
            None => Arc::new(self.connect(model.provider())?),
        };
        connected.insert(model.provider().to_owned(), Arc::clone(&provider));
        Ok(provider)
    }

    /// Returns the known agent program with that name, unless the user has configured a service
    /// with the same name.
    fn find_known_program(&self, name: &str) -> Option<&'static KnownProgram> {
        let is_service =
            self.settings.providers.get(name).is_some_and(|set| set.base_url.is_some());
        KnownProgram::of_provider(name).filter(|_| !is_service)
    }

    pub fn find_installed(&self, known: &'static KnownProgram) -> Result<PathBuf, RolesError> {
        let settings = &self.settings.programs;
        if settings.is_child {
            return Err(RolesError::Recursion(known));
        }
        known.find(settings).ok_or(RolesError::NotInstalled(known))
    }

    fn connect(&self, name: &str) -> Result<Hosted, RolesError> {
        let unset = ProviderSettings::default();
        let settings = self.settings.providers.get(name).unwrap_or(&unset);
        let known = KNOWN_PROVIDERS.iter().find(|known| known.name == name);
        let unknown = || RolesError::UnknownProvider(name.to_owned());
        let kind = settings.kind.or(known.map(|known| known.kind)).ok_or_else(unknown)?;
        let own_url = settings.base_url.as_deref();
        let base_url = own_url.or(known.map(|known| known.base_url)).ok_or_else(unknown)?;
        // A known provider at a custom address may be a proxy that adds the key.
        let needs_key =
            known.is_some_and(|known| known.key_variable.is_some()) && own_url.is_none();
        if needs_key && settings.key.is_none() {
            return Err(RolesError::NoKey(name.to_owned()));
        }
        let dialect: Box<dyn Dialect> = match kind {
            ApiChoice::Anthropic => Box::new(Anthropic),
            ApiChoice::OpenAi => Box::new(OpenAi::of_provider(name)),
        };
        let base_url = match kind {
            // API paths already include the version, which users often add to the address as well.
            ApiChoice::Anthropic => base_url.trim_end_matches('/').trim_end_matches("/v1"),
            ApiChoice::OpenAi => base_url,
        };
        let ProviderSettings { key, plain_http, .. } = settings;
        let endpoint = Endpoint::new(name, base_url, key.as_ref(), *plain_http)?;
        Ok(Hosted::new(endpoint, dialect))
    }
}

const SCRIPTED: &str = "scripted";

/// A provider and one of its models, such as `anthropic/claude-sonnet-4-6`,
/// `openrouter/qwen/qwen3-coder` or `scripted`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ModelRef {
    provider: String,
    model: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a model name; write `provider/model`")]
pub struct BadModelRef(String);

impl ModelRef {
    pub fn for_script() -> Self {
        Self { provider: SCRIPTED.to_owned(), model: String::new() }
    }

    pub fn provider(&self) -> &str {
        &self.provider
    }

    /// Returns the provider's name for the model, or an empty string for a script.
    pub fn model(&self) -> &str {
        &self.model
    }

    pub fn is_scripted(&self) -> bool {
        self.provider == SCRIPTED
    }
}

impl FromStr for ModelRef {
    type Err = BadModelRef;

    fn from_str(text: &str) -> Result<Self, BadModelRef> {
        if text == SCRIPTED {
            return Ok(Self::for_script());
        }
        let is_plain = |part: &str| {
            !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || c.is_control())
        };
        match text.split_once('/') {
            Some((provider, model))
                if is_plain(provider) && is_plain(model) && provider != SCRIPTED =>
            {
                Ok(Self { provider: provider.to_owned(), model: model.to_owned() })
            }
            Some(_) | None => Err(BadModelRef(text.escape_debug().collect())),
        }
    }
}

nacre_types::text_in_json!(ModelRef);

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_scripted() {
            return f.write_str(SCRIPTED);
        }
        write!(f, "{}/{}", self.provider, self.model)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(model: &str, fallbacks: &[&str]) -> RoleSettings {
        let fallbacks = fallbacks.iter().map(|model| model.parse().unwrap()).collect();
        RoleSettings { fallbacks, ..RoleSettings::of_model(model.parse().unwrap()) }
    }

    fn outcome(settings: ModelSettings, role: Role) -> String {
        match Models::new(settings).route(role) {
            Ok(route) => {
                route.models().iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_role_has_its_models_or_the_default_ones() {
        let mut settings = ModelSettings {
            default: Some(role("ollama/qwen", &["llamacpp/qwen", "vllm/qwen"])),
            ..ModelSettings::default()
        };
        assert_eq!(outcome(settings.clone(), Role::Ask), "ollama/qwen llamacpp/qwen vllm/qwen");
        settings.roles.insert(Role::Ask, role("scripted", &[]));
        assert_eq!(
            outcome(settings.clone(), Role::Ask),
            "No script is set for the model `scripted`"
        );
        settings.script = Some(Arc::new(Scripted::parse("{\"turns\":[]}").unwrap()));
        assert_eq!(outcome(settings, Role::Ask), "scripted");
        assert_eq!(outcome(ModelSettings::default(), Role::Chat), "No model is set for `chat`");
    }

    #[test]
    fn providers_are_known_or_fully_set() {
        let with = |name: &str, provider: ProviderSettings| ModelSettings {
            default: Some(role(&format!("{name}/m"), &[])),
            providers: BTreeMap::from([(name.to_owned(), provider)]),
            ..ModelSettings::default()
        };
        let none = ProviderSettings::default();
        let url = |url: &str| ProviderSettings { base_url: Some(url.to_owned()), ..none.clone() };
        let kind = Some(ApiChoice::OpenAi);
        for (settings, expected) in [
            (with("anthropic", none.clone()), "Provider `anthropic` needs a key, but none is set"),
            (with("anthropic", url("http://127.0.0.1:1/v1")), "anthropic/m"),
            (
                with("own", url("http://127.0.0.1:1")),
                "Provider `own` is unknown, and its address and API are not set",
            ),
            (
                with("own", ProviderSettings { kind, ..none.clone() }),
                "Provider `own` is unknown, and its address and API are not set",
            ),
            (with("own", ProviderSettings { kind, ..url("http://127.0.0.1:1") }), "own/m"),
            (
                with("ollama", url("http://me:hunter2@127.0.0.1")),
                "The address for provider `ollama` contains a user name, password, query or fragment",
            ),
        ] {
            assert_eq!(outcome(settings, Role::Lead), expected);
        }
    }
}

#[cfg(test)]
mod names_tests {
    use super::*;

    #[test]
    fn names_are_read_and_written_alike() {
        for text in ["anthropic/claude-sonnet-4-6", "openrouter/qwen/qwen3-coder:free", "scripted"]
        {
            assert_eq!(text.parse::<ModelRef>().unwrap().to_string(), text);
        }
        let model: ModelRef = "openrouter/qwen/qwen3".parse().unwrap();
        assert_eq!((model.provider(), model.model()), ("openrouter", "qwen/qwen3"));
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for text in ["", "gpt", "/x", "x/", "a b/c", "a/b\nc", "scripted/x"] {
            assert!(text.parse::<ModelRef>().is_err(), "{text:?}");
        }
    }
}
