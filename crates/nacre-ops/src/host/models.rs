//! The configured models, and the installed agents.

use std::sync::OnceLock;

use nacre_base::config::{ProviderTable, RoleTable};
use nacre_engine::lifecycle::RunError;
use nacre_engine::model::{
    AsyncRuntime, ErrorKind, InstalledProgram, KNOWN_PROGRAMS, KNOWN_PROVIDERS, KnownProgram,
    ModelError, ModelRef, ModelSettings, NextStep, ProgramSettings, ProviderSettings, Role,
    RoleSettings, RolesError, Scripted, Secret, find_installed_programs,
};
use tokio::runtime::Handle;

use super::{git_root, read_plain};
use crate::prelude::*;

const MAX_SCRIPT_BYTES: u64 = 8 << 20;

pub fn model_settings(host: &Host) -> Result<ModelSettings> {
    let mut settings =
        ModelSettings { programs: program_settings(host), ..ModelSettings::default() };
    for name in provider_names(host) {
        let table = host.settings().providers.get(&name).cloned().unwrap_or_default();
        let ProviderTable { api, base_url, key_variable: _, plain_http } = table;
        let variable = key_variable(host, &name);
        let key = variable.and_then(|name| host.environment.var(&name).and_then(Secret::new));
        let provider = ProviderSettings { kind: api, base_url, key, plain_http };
        settings.providers.insert(name, provider);
    }
    for (name, table) in &host.settings().roles {
        let Some(role) = role(host, name, table)? else { continue };
        match Role::from_name(name) {
            Some(known) => {
                settings.roles.insert(known, role);
            }
            None => settings.default = Some(role),
        }
    }
    if settings.default.is_none() && host.allowed.get().is_some() {
        // The user has only just allowed this agent, so it is not in the settings yet.
        settings.default = auto_model(host).map(RoleSettings::of_model);
    }
    Ok(settings)
}

/// Returns settings for tests, in which a script supplies the answers for every role.
pub fn load_script(host: &Host, file: &Path) -> Result<ModelSettings> {
    host.check_user("script the answers of a model")?;
    let path = host.environment.absolute(file);
    let cannot = |cause: String| {
        OpError::failed(format!("Cannot read the script `{}`", path.display())).because(cause)
    };
    let size = std::fs::metadata(&path).map_err(|error| cannot(error.to_string()))?.len();
    if MAX_SCRIPT_BYTES < size {
        return Err(cannot(format!("it is {size} bytes long")));
    }
    let text = read_plain(&path).map_err(|error| cannot(error.to_string()))?;
    let script = Scripted::parse(&text).map_err(|error| OpError::wrap(&error))?;
    Ok(ModelSettings {
        default: Some(RoleSettings::of_model(ModelRef::for_script())),
        script: Some(Arc::new(script)),
        ..ModelSettings::default()
    })
}

pub fn provider_names(host: &Host) -> Vec<String> {
    let known = KNOWN_PROVIDERS.iter().map(|known| known.name.to_owned());
    let set = host.settings().providers.keys().cloned();
    known.chain(set).collect::<BTreeSet<_>>().into_iter().collect()
}

pub fn key_variable(host: &Host, provider: &str) -> Option<String> {
    let set = host.settings().providers.get(provider);
    let known = KNOWN_PROVIDERS.iter().find(|known| known.name == provider);
    set.and_then(|table| table.key_variable.clone())
        .or_else(|| known.and_then(|known| known.key_variable).map(str::to_owned))
}

/// Returns the model that `auto` refers to, or `None` if no agent is allowed.
pub fn auto_model(host: &Host) -> Option<ModelRef> {
    find_allowed_agent(host).and_then(|agent| agent.reader_name().parse().ok())
}

fn role(host: &Host, name: &str, table: &RoleTable) -> Result<Option<RoleSettings>> {
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
    Ok(Some(RoleSettings {
        model,
        fallbacks: fallbacks.iter().map(|text| parsed(text)).collect::<Result<_, _>>()?,
        max_tokens: *max_tokens,
        context_tokens: *context_tokens,
        temperature: temperature.map(|thousandths| thousandths as f32 / 1000.0),
        effort: *effort,
    }))
}

impl From<RolesError> for OpError {
    fn from(error: RolesError) -> Self {
        let hint = match &error {
            RolesError::NotSet(_) => {
                Some("nacre config set roles.default.model ollama/qwen3".to_owned())
            }
            RolesError::UnknownProvider(name) => Some(format!(
                "nacre config set providers.{name}.base_url http://127.0.0.1:8080/v1, and also set \
                 its api"
            )),
            RolesError::NoKey(name) => {
                let known = KNOWN_PROVIDERS.iter().find(|known| known.name == name);
                let variable = known.and_then(|known| known.key_variable);
                variable.map(|variable| format!("Set it in the environment variable {variable}"))
            }
            RolesError::NotInstalled(_) => {
                Some("`nacre model` lists the installed agents".to_owned())
            }
            RolesError::Recursion(_) | RolesError::NoScript | RolesError::Endpoint(_) => {
                return Self::wrap(&error);
            }
        };
        Self::from_error(ErrorCode::NotSet, &error, hint)
    }
}

pub fn run_failed(error: &RunError) -> OpError {
    if let RunError::Model(error) = error { no_answer(error) } else { OpError::wrap(error) }
}

pub fn no_answer(error: &ModelError) -> OpError {
    let program = KnownProgram::of_provider(error.model.provider());
    let hint = match (error.kind.next_step(), program) {
        (_, Some(program)) if error.kind == ErrorKind::NotLoggedIn => {
            format!("Log in: {}", program.login)
        }
        (_, Some(program)) if error.kind == ErrorKind::Quota => {
            format!("Add credit to the {} account, or use: --strategy offline", program.label)
        }
        _ if error.kind == ErrorKind::OverLimit => {
            "`nacre status` shows your spending; `nacre config limits` shows the limits".to_owned()
        }
        (NextStep::Retry, _) => "Try again later, or set another model: nacre model".to_owned(),
        (NextStep::Fallback, _) => {
            "`nacre model` lists the models, their addresses and keys".to_owned()
        }
        (NextStep::Stop, _) => {
            "`nacre model test` sends a short test request to the model".to_owned()
        }
    };
    OpError::from_error(ErrorCode::Failed, error, Some(hint))
}

impl Host {
    /// Uses a server's runtime instead of creating a new one.
    #[must_use]
    pub fn with_runtime(self, handle: Handle) -> Self {
        Self { runtime: OnceLock::from(AsyncRuntime::Shared(handle)), ..self }
    }

    pub(crate) fn async_runtime(&self) -> Result<AsyncRuntime> {
        if let Some(runtime) = self.runtime.get() {
            return Ok(runtime.clone());
        }
        let made = AsyncRuntime::new()
            .map_err(|error| OpError::failed("Cannot start the async runtime").because(error))?;
        // If another thread was faster, use its runtime.
        Ok(self.runtime.get_or_init(|| made).clone())
    }

    pub fn allow_agent(&self, name: &str) {
        // Only the first answer counts, because the user is not asked twice.
        let _ = self.allowed.set(name.to_owned());
    }

    pub fn block_on<T>(&self, work: impl Future<Output = T>) -> Result<T> {
        Ok(self.async_runtime()?.block_on(work))
    }
}

/// Returns the settings for finding and starting agents. Uses the user's own `PATH`, without
/// directories inside repositories.
fn program_settings(host: &Host) -> ProgramSettings {
    let environment = &host.environment;
    let path = environment.var("PATH").unwrap_or_default();
    let mut settings = ProgramSettings::new(path, &repositories(host));
    settings.variables.clone_from(&environment.vars);
    settings.home.clone_from(&environment.home);
    settings.data.clone_from(&host.home);
    settings.is_child = environment.is_child();
    settings
}

/// Returns the known repositories, except those that contain the home directory, because the user's
/// own programs are inside it.
fn repositories(host: &Host) -> Vec<PathBuf> {
    let known = host.repositories().into_iter().map(Path::to_owned);
    let git = git_root(&host.person, &host.environment.folder);
    let holds_home =
        |root: &PathBuf| host.environment.home.as_ref().is_some_and(|home| home.starts_with(root));
    known.chain(git).filter(|root| !holds_home(root)).collect()
}

/// Returns the path of an agent's command in the user's `PATH`, skipping directories inside
/// repositories.
pub fn program_path(host: &Host, command: &str) -> Option<PathBuf> {
    let known = KNOWN_PROGRAMS.iter().find(|known| known.command == command)?;
    known.find(&program_settings(host))
}

pub const AUTO: &str = "auto";

pub fn first_installed(host: &Host) -> Option<&'static KnownProgram> {
    let settings = program_settings(host);
    KNOWN_PROGRAMS.iter().find(|known| known.find(&settings).is_some())
}

/// Returns the agent that `auto` refers to: the first installed agent, provided that the user has
/// allowed it.
pub fn find_allowed_agent(host: &Host) -> Option<&'static KnownProgram> {
    // The user's answer in this process overrides the setting.
    let allowed = host.allowed.get().map_or(host.own.reading.agent.as_str(), String::as_str);
    first_installed(host).filter(|known| known.provider == allowed)
}

/// Returns the installed agents with their versions. The versions are determined once per process.
pub fn list_installed(host: &Host) -> Result<&[InstalledProgram]> {
    if let Some(installed) = host.installed.get() {
        return Ok(installed);
    }
    let settings = program_settings(host);
    let found = host.block_on(find_installed_programs(&settings))?;
    Ok(host.installed.get_or_init(|| found))
}
