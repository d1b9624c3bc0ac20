//! From settings to the models of a role.
//!
//! Settings are plain values that somebody else read. A provider is connected when a role that names it is resolved,
//! so that a mistake in one provider's settings does not stand in the way of another's.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use nacre_core::base::redact::ExtraWords;

use super::anthropic::Anthropic;
use super::guard::Guarded;
use super::hosted::{Dialect, Hosted};
use super::http::{Address, Endpoint, EndpointError, PlainHttp};
use super::names::{ModelRef, Role};
use super::openai::OpenAi;
use super::price::PriceTable;
use super::programs::{
    FolderReader, FolderReading, KnownProgram, ProgramProvider, ProgramSettings,
};
use super::provider::Provider;
use super::request::Effort;
use super::retry::{Route, ServedModel};
use super::scripted::Scripted;
use super::secret::Secret;
use super::spending_budget::{Metered, SpendingBudget};

/// Which API a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderKind {
    Anthropic,
    OpenAi,
}

/// A provider whose address is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownProvider {
    pub name: &'static str,
    pub kind: ProviderKind,
    pub base_url: &'static str,
    /// The variable that holds the key, for whoever reads the environment; none where no key is needed.
    pub key_variable: Option<&'static str>,
}

/// The providers that need no address.
pub const KNOWN_PROVIDERS: &[KnownProvider] = &[
    KnownProvider {
        name: "anthropic",
        kind: ProviderKind::Anthropic,
        base_url: "https://api.anthropic.com",
        key_variable: Some("ANTHROPIC_API_KEY"),
    },
    KnownProvider {
        name: "openai",
        kind: ProviderKind::OpenAi,
        base_url: "https://api.openai.com/v1",
        key_variable: Some("OPENAI_API_KEY"),
    },
    KnownProvider {
        name: "openrouter",
        kind: ProviderKind::OpenAi,
        base_url: "https://openrouter.ai/api/v1",
        key_variable: Some("OPENROUTER_API_KEY"),
    },
    KnownProvider {
        name: "zai",
        kind: ProviderKind::OpenAi,
        base_url: "https://api.z.ai/api/paas/v4",
        key_variable: Some("ZAI_API_KEY"),
    },
    KnownProvider {
        name: "ollama",
        kind: ProviderKind::OpenAi,
        base_url: "http://127.0.0.1:11434/v1",
        key_variable: None,
    },
    KnownProvider {
        name: "llamacpp",
        kind: ProviderKind::OpenAi,
        base_url: "http://127.0.0.1:8080/v1",
        key_variable: None,
    },
    KnownProvider {
        name: "vllm",
        kind: ProviderKind::OpenAi,
        base_url: "http://127.0.0.1:8000/v1",
        key_variable: None,
    },
];

/// What is set about a provider; a known one needs at most its key.
#[derive(Clone, Debug, Default)]
pub struct ProviderSettings {
    /// Needed for a provider that is not known.
    pub kind: Option<ProviderKind>,
    pub base_url: Option<String>,
    pub key: Option<Secret>,
    pub plain_http: PlainHttp,
    /// An address, which may hold a password.
    pub proxy: Option<Secret>,
}

/// What is set about a role.
#[derive(Clone, Debug, PartialEq)]
pub struct RoleSettings {
    pub model: ModelRef,
    pub fallbacks: Vec<ModelRef>,
    pub max_tokens: Option<u32>,
    /// What the model may be sent at once; its window less what a person wants to keep free.
    pub context_tokens: Option<usize>,
    pub temperature: Option<f32>,
    pub effort: Effort,
}

impl RoleSettings {
    pub fn of_model(model: ModelRef) -> Self {
        let (fallbacks, effort) = (Vec::new(), Effort::Unset);
        Self { model, fallbacks, max_tokens: None, context_tokens: None, temperature: None, effort }
    }
}

/// Everything that is set about models.
#[derive(Clone, Debug, Default)]
pub struct ModelSettings {
    pub providers: BTreeMap<String, ProviderSettings>,
    pub roles: BTreeMap<Role, RoleSettings>,
    /// For roles that are not set.
    pub default: Option<RoleSettings>,
    pub prices: PriceTable,
    /// What the model `scripted` says.
    pub script: Option<Arc<Scripted>>,
    /// How the commands of installed agents are found and started.
    pub programs: ProgramSettings,
}

/// Why a role has no models.
#[derive(Debug, thiserror::Error)]
pub enum RolesError {
    #[error("No model is set for `{0}`")]
    NotSet(Role),
    #[error("Provider `{0}` is not known, and its address and API are not set")]
    UnknownProvider(String),
    #[error("Provider `{0}` needs a key, and none is set")]
    NoKey(String),
    #[error("{} is not installed: there is no `{}` in PATH", .0.label, .0.command)]
    NotInstalled(&'static KnownProgram),
    #[error("An agent that answers for Nacre may not let Nacre ask {}", .0.label)]
    Recursion(&'static KnownProgram),
    #[error("The model `scripted` has no script")]
    NoScript,
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
}

/// The models that are set, connected as they are needed.
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

    /// Returns the same models over the same connections, all of them paid for from one budget.
    #[must_use]
    pub fn paid_from(&self, budget: &Arc<SpendingBudget>) -> Self {
        Self { budget: Some(Arc::clone(budget)), ..self.shared() }
    }

    /// Returns the same models over the same connections; no request to them contains a word of the list.
    #[must_use]
    pub fn without_words(&self, words: &Arc<ExtraWords>) -> Self {
        Self { words: Arc::clone(words), ..self.shared() }
    }

    fn shared(&self) -> Self {
        Self {
            settings: Arc::clone(&self.settings),
            connected: Arc::clone(&self.connected),
            budget: self.budget.clone(),
            words: Arc::clone(&self.words),
        }
    }

    /// The words that no request contains.
    pub fn words(&self) -> &Arc<ExtraWords> {
        &self.words
    }

    pub fn prices(&self) -> &PriceTable {
        &self.settings.prices
    }

    /// Returns what is set for a role, by itself or by default.
    pub fn settings_of(&self, role: Role) -> Result<&RoleSettings, RolesError> {
        let own = self.settings.roles.get(&role);
        own.or(self.settings.default.as_ref()).ok_or(RolesError::NotSet(role))
    }

    /// Returns the models of a role in the order in which they are asked.
    pub fn route(&self, role: Role) -> Result<Route, RolesError> {
        let settings = self.settings_of(role)?;
        let first = self.serve(&settings.model)?;
        let fallbacks: Result<Vec<_>, _> =
            settings.fallbacks.iter().map(|model| self.serve(model)).collect();
        Ok(Route::new(first, fallbacks?))
    }

    /// Returns one model and who serves it.
    pub fn serve(&self, model: &ModelRef) -> Result<ServedModel, RolesError> {
        Ok(self.served(model, self.provider(model)?))
    }

    /// Returns Claude Code as an agent that looks at files before it answers: paid for and sent no word of the list, as all are.
    pub fn folder_reader(
        &self,
        model: &ModelRef,
        reading: FolderReading,
    ) -> Result<ServedModel, RolesError> {
        let program = self.installed(KnownProgram::claude())?;
        let settings = self.settings.programs.clone();
        Ok(self.served(model, Arc::new(FolderReader::new(program, settings, reading))))
    }

    /// Puts between a provider and its caller what holds for all of them.
    fn served(&self, model: &ModelRef, mut provider: Arc<dyn Provider>) -> ServedModel {
        if !self.words.is_empty() {
            provider = Arc::new(Guarded::new(provider, Arc::clone(&self.words)));
        }
        let provider = match &self.budget {
            Some(budget) => Arc::new(Metered::new(provider, Arc::clone(budget))),
            None => provider,
        };
        ServedModel { model: model.clone(), provider }
    }

    fn provider(&self, model: &ModelRef) -> Result<Arc<dyn Provider>, RolesError> {
        if model.is_scripted() {
            let script = self.settings.script.clone().ok_or(RolesError::NoScript)?;
            return Ok(script);
        }
        let mut connected = self.connected.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(provider) = connected.get(model.provider()) {
            return Ok(Arc::clone(provider));
        }
        let provider: Arc<dyn Provider> = match self.known_program(model.provider()) {
            Some(known) => Arc::new(self.program(known)?),
            None => Arc::new(self.connect(model.provider())?),
        };
        connected.insert(model.provider().to_owned(), Arc::clone(&provider));
        Ok(provider)
    }

    /// The agent of that name, unless the person has a service of that name.
    fn known_program(&self, name: &str) -> Option<&'static KnownProgram> {
        let is_service =
            self.settings.providers.get(name).is_some_and(|set| set.base_url.is_some());
        KnownProgram::of_provider(name).filter(|_| !is_service)
    }

    fn program(&self, known: &'static KnownProgram) -> Result<ProgramProvider, RolesError> {
        let program = self.installed(known)?;
        Ok(ProgramProvider::new(known, program, self.settings.programs.clone()))
    }

    /// Where the command of an agent lies, for a Nacre that no agent started to answer.
    pub fn installed(&self, known: &'static KnownProgram) -> Result<PathBuf, RolesError> {
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
        // A known provider at another address may be a proxy that has the key itself.
        let needs_key =
            known.is_some_and(|known| known.key_variable.is_some()) && own_url.is_none();
        if needs_key && settings.key.is_none() {
            return Err(RolesError::NoKey(name.to_owned()));
        }
        let dialect: Box<dyn Dialect> = match kind {
            ProviderKind::Anthropic => Box::new(Anthropic),
            ProviderKind::OpenAi => Box::new(OpenAi::of_provider(name)),
        };
        let base_url = match kind {
            // The path of this API holds the version, which people tend to add to the address as well.
            ProviderKind::Anthropic => base_url.trim_end_matches('/').trim_end_matches("/v1"),
            ProviderKind::OpenAi => base_url,
        };
        let endpoint = Endpoint::new(&Address {
            provider: name,
            base_url,
            key: settings.key.as_ref(),
            plain_http: settings.plain_http,
            proxy: settings.proxy.as_ref(),
        })?;
        Ok(Hosted::new(endpoint, dialect))
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
        assert_eq!(outcome(settings.clone(), Role::Ask), "The model `scripted` has no script");
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
        let kind = Some(ProviderKind::OpenAi);
        for (settings, expected) in [
            (with("anthropic", none.clone()), "Provider `anthropic` needs a key, and none is set"),
            (with("anthropic", url("http://127.0.0.1:1/v1")), "anthropic/m"),
            (
                with("own", url("http://127.0.0.1:1")),
                "Provider `own` is not known, and its address and API are not set",
            ),
            (
                with("own", ProviderSettings { kind, ..none.clone() }),
                "Provider `own` is not known, and its address and API are not set",
            ),
            (with("own", ProviderSettings { kind, ..url("http://127.0.0.1:1") }), "own/m"),
            (
                with("ollama", url("http://me:hunter2@127.0.0.1")),
                "The address of provider `ollama` holds a user name, password, query or fragment",
            ),
        ] {
            assert_eq!(outcome(settings, Role::Lead), expected);
        }
    }
}
