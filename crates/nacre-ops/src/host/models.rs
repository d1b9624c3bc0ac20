//! The models that are set, from the configuration and the environment.
//!
//! A key is looked up here, by the name of its variable, and handed on as a `Secret`: it is in no file, no error and no
//! output.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use nacre_api::wire::ErrorCode;
use nacre_core::config::{ApiChoice, EffortChoice, PlainHttpChoice, ProviderTable, RoleTable};
use nacre_engine::model::{
    AsyncRuntime, Effort, ErrorKind, KNOWN_PROVIDERS, KnownProgram, ModelError, ModelRef,
    ModelSettings, NextStep, PlainHttp, ProviderKind, ProviderSettings, Role, RoleSettings,
    RolesError, Scripted, Secret,
};
use tokio::runtime::Handle;

use super::programs::{AUTO, allowed_agent, program_settings};
use super::{Host, read_plain};
use crate::error::OpError;

/// A larger script is no script.
const MAX_SCRIPT_BYTES: u64 = 8 << 20;

/// Everything that is set about models.
pub fn model_settings(host: &Host) -> Result<ModelSettings, OpError> {
    let mut settings =
        ModelSettings { programs: program_settings(host), ..ModelSettings::default() };
    for name in provider_names(host) {
        let table = host.settings().providers.get(&name);
        settings.providers.insert(name.clone(), provider(host, &name, table));
    }
    for (name, table) in &host.settings().roles {
        let Some(role) = role(host, name, table)? else { continue };
        match Role::ALL.into_iter().find(|known| known.as_str() == name) {
            Some(known) => {
                settings.roles.insert(known, role);
            }
            None => settings.default = Some(role),
        }
    }
    if settings.default.is_none() && host.has_answered() {
        // The settings that this process began with do not have the answer yet.
        settings.default = auto_model(host).map(RoleSettings::of_model);
    }
    Ok(settings)
}

/// Every role answered from a script.
pub fn scripted(host: &Host, file: &Path) -> Result<ModelSettings, OpError> {
    let path = host.environment.absolute(file);
    let cannot = |cause: String| OpError {
        causes: vec![cause],
        ..OpError::failed(format!("Cannot read the script `{}`", path.display()))
    };
    let size = std::fs::metadata(&path).map_err(|error| cannot(error.to_string()))?.len();
    if MAX_SCRIPT_BYTES < size {
        return Err(cannot(format!("it has {size} bytes")));
    }
    let text = read_plain(&path).map_err(|error| cannot(error.to_string()))?;
    let script = Scripted::parse(&text)
        .map_err(|error| OpError::from_error(ErrorCode::Failed, &error, None))?;
    Ok(ModelSettings {
        default: Some(RoleSettings::of_model(ModelRef::scripted())),
        script: Some(Arc::new(script)),
        ..ModelSettings::default()
    })
}

/// The providers that are known or set.
pub fn provider_names(host: &Host) -> Vec<String> {
    let known = KNOWN_PROVIDERS.iter().map(|known| (known.name.to_owned(), ()));
    let set = host.settings().providers.keys().map(|name| (name.clone(), ()));
    known.chain(set).collect::<BTreeMap<_, _>>().into_keys().collect()
}

/// The variable that holds a provider's key, where it has one.
pub fn key_variable(host: &Host, provider: &str) -> Option<String> {
    let set = host.settings().providers.get(provider);
    let known = KNOWN_PROVIDERS.iter().find(|known| known.name == provider);
    set.and_then(|table| table.key_variable.clone())
        .or_else(|| known.and_then(|known| known.key_variable).map(str::to_owned))
}

fn provider(host: &Host, name: &str, table: Option<&ProviderTable>) -> ProviderSettings {
    let unset = ProviderTable::default();
    let ProviderTable { api, base_url, key_variable: _, plain_http } = table.unwrap_or(&unset);
    let kind = api.map(|api| match api {
        ApiChoice::Anthropic => ProviderKind::Anthropic,
        ApiChoice::OpenAi => ProviderKind::OpenAi,
    });
    let plain_http = match plain_http {
        Some(PlainHttpChoice::Anywhere) => PlainHttp::Allowed,
        Some(PlainHttpChoice::ThisMachine) | None => PlainHttp::ThisMachineOnly,
    };
    let variable = key_variable(host, name);
    let key = variable.and_then(|name| host.environment.var(&name).and_then(Secret::new));
    ProviderSettings { kind, base_url: base_url.clone(), key, plain_http, proxy: None }
}

/// The model that `auto` stands for; nothing where no agent may answer.
pub fn auto_model(host: &Host) -> Option<ModelRef> {
    allowed_agent(host).and_then(|agent| agent.reader_name().parse().ok())
}

/// What is set about a role; nothing where it has no model.
fn role(host: &Host, name: &str, table: &RoleTable) -> Result<Option<RoleSettings>, OpError> {
    let RoleTable { model, fallbacks, max_tokens, context_tokens, temperature, effort, .. } = table;
    let parsed = |text: &str| {
        text.parse::<ModelRef>().map_err(|error| {
            OpError::from_error(ErrorCode::Usage, &error, None)
                .hint(format!("nacre config set roles.{name}.model ollama/qwen3"))
        })
    };
    let model = match model.as_deref() {
        None => None,
        Some(AUTO) => auto_model(host),
        Some(text) => Some(parsed(text)?),
    };
    let Some(model) = model else { return Ok(None) };
    let effort = match effort {
        None => Effort::Unset,
        Some(EffortChoice::Off) => Effort::Off,
        Some(EffortChoice::Low) => Effort::Low,
        Some(EffortChoice::Medium) => Effort::Medium,
        Some(EffortChoice::High) => Effort::High,
    };
    Ok(Some(RoleSettings {
        model,
        fallbacks: fallbacks.iter().map(|text| parsed(text)).collect::<Result<_, _>>()?,
        max_tokens: *max_tokens,
        context_tokens: *context_tokens,
        temperature: temperature.map(|thousandths| thousandths as f32 / 1000.0),
        effort,
    }))
}

impl From<RolesError> for OpError {
    fn from(error: RolesError) -> Self {
        let hint = match &error {
            RolesError::NotSet(_) => {
                Some("nacre config set roles.default.model ollama/qwen3".to_owned())
            }
            RolesError::UnknownProvider(name) => Some(format!(
                "nacre config set providers.{name}.base_url http://127.0.0.1:8080/v1, and its api"
            )),
            RolesError::NoKey(name) => {
                let known = KNOWN_PROVIDERS.iter().find(|known| known.name == name);
                let variable = known.and_then(|known| known.key_variable);
                variable.map(|variable| format!("Put it into the variable {variable}"))
            }
            RolesError::NotInstalled(_) => {
                Some("`nacre model list` shows which agents are installed".to_owned())
            }
            RolesError::Recursion(_) | RolesError::NoScript | RolesError::Endpoint(_) => None,
        };
        let code = match &error {
            RolesError::NotSet(_)
            | RolesError::UnknownProvider(_)
            | RolesError::NoKey(_)
            | RolesError::NotInstalled(_) => ErrorCode::NotSet,
            RolesError::Recursion(_) | RolesError::NoScript | RolesError::Endpoint(_) => {
                ErrorCode::Failed
            }
        };
        Self::from_error(code, &error, hint)
    }
}

/// A model that did not answer, and what may help.
pub fn no_answer(error: &ModelError) -> OpError {
    let program = KnownProgram::of_provider(error.model.provider());
    let hint = match (error.kind.next_step(), program) {
        (_, Some(program)) if error.kind == ErrorKind::NotLoggedIn => {
            format!("Log in: {}", program.login)
        }
        (_, Some(program)) if error.kind == ErrorKind::Quota => format!(
            "{} works again when its account has credit; until then: --strategy offline",
            program.label
        ),
        _ if error.kind == ErrorKind::OverLimit => {
            "`nacre status` shows what was used; `nacre config show limits` shows what may be"
                .to_owned()
        }
        (NextStep::Retry, _) => {
            "Try again later, or set another model: nacre model list".to_owned()
        }
        (NextStep::Fallback, _) => {
            "`nacre model list` shows the models, their addresses and keys".to_owned()
        }
        (NextStep::Stop, _) => "`nacre model test` asks the model for one word".to_owned(),
    };
    OpError::from_error(ErrorCode::Failed, error, Some(hint))
}

impl Host {
    /// Lets everything that waits for models wait on the runtime of a server.
    #[must_use]
    pub fn with_runtime(self, handle: Handle) -> Self {
        Self { runtime: OnceLock::from(AsyncRuntime::of_server(handle)), ..self }
    }

    /// The runtime that operations wait on; made when the first one waits.
    pub(crate) fn async_runtime(&self) -> Result<AsyncRuntime, OpError> {
        if let Some(runtime) = self.runtime.get() {
            return Ok(runtime.clone());
        }
        let made = AsyncRuntime::new().map_err(|error| OpError {
            causes: vec![error.to_string()],
            ..OpError::failed("Cannot start the async runtime")
        })?;
        // If another thread was faster, its runtime is used.
        Ok(self.runtime.get_or_init(|| made).clone())
    }

    /// Waits for the work on this thread.
    pub fn block_on<T>(&self, work: impl Future<Output = T>) -> Result<T, OpError> {
        Ok(self.async_runtime()?.block_on(work))
    }
}
