//! `nacre model list`: what answers, who serves it, and what search goes by.
//!
//! It asks nobody: whether a model really answers is said by `nacre model test` alone.

use clap::Args;
use nacre_core::config::{Entry, ROLES};
use nacre_core::safefs::{Access, WriteScope};
use nacre_core::search::{Builtin, Embedder, minilm};
use nacre_engine::model::{KNOWN_PROVIDERS, Models, Role as ModelRole, RolesError};
use serde::Serialize;
use serde_json::json;

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};
use super::Installable;
use nacre_ops::Host;
use nacre_ops::OpError;
use nacre_ops::host::{key_variable, model_settings, provider_names};

/// List the models that are set, who serves them, and those that search can go by
#[derive(Debug, Args)]
pub(crate) struct ListArgs {}

#[derive(Serialize)]
struct ModelOutput {
    name: &'static str,
    state: &'static str,
    /// The name and the content: vectors of another id cannot be compared with its own.
    id: Option<String>,
    dims: Option<usize>,
    about: &'static str,
}

impl ModelOutput {
    fn ready(name: &'static str, model: &dyn Embedder, about: &'static str) -> Self {
        let (id, dims) = (Some(model.model().to_string()), Some(model.dims()));
        Self { name, state: "ready", id, dims, about }
    }
}

/// A role and the models that do its job.
#[derive(Serialize)]
struct RoleOutput {
    role: &'static str,
    /// In the order in which they are asked.
    models: Vec<String>,
    origin: String,
    /// Why the role cannot be used, as far as the settings tell.
    problem: Option<String>,
}

/// Who serves models.
#[derive(Serialize)]
struct ProviderOutput {
    name: String,
    address: String,
    key: String,
    origin: String,
}

pub(crate) fn cmd_list(ui: &mut Ui, host: &Host, args: &ListArgs) -> Result<Exit, OpError> {
    let ListArgs {} = args;
    let roles = roles(host)?;
    let providers = providers(host, &roles);
    let builtin = Builtin::shipped()?;
    let about = "part of the program";
    let models = [ModelOutput::ready("builtin", &builtin, about), minilm_output(ui, host)?];
    if ui.is_json() {
        ui.json(&json!({ "roles": roles, "providers": providers, "models": models }))?;
        return Ok(Exit::Done);
    }
    print_roles(ui, &roles, &providers)?;
    ui.line("")?;
    ui.line("Search by meaning:")?;
    let rows: Vec<_> = models
        .iter()
        .map(|model| {
            let role = if model.state == "ready" { Role::Good } else { Role::Faint };
            vec![
                (Role::Id, format!("  {}", model.name)),
                (role, model.state.to_owned()),
                (Role::Faint, model.about.to_owned()),
            ]
        })
        .collect();
    ui.table(&rows)?;
    Ok(Exit::Done)
}

fn print_roles(
    ui: &mut Ui,
    roles: &[RoleOutput],
    providers: &[ProviderOutput],
) -> Result<(), OpError> {
    ui.line("Answers:")?;
    if roles.is_empty() {
        ui.line("  no model is set, and none is needed; nacre config set roles.default.model ollama/qwen3")?;
        return Ok(());
    }
    let rows: Vec<_> = roles
        .iter()
        .map(|role| {
            let (kind, about) = match &role.problem {
                Some(problem) => (Role::Bad, problem.clone()),
                None => (Role::Faint, role.origin.clone()),
            };
            vec![
                (Role::Id, format!("  {}", role.role)),
                (Role::Title, role.models.join(", then ")),
                (kind, about),
            ]
        })
        .collect();
    ui.table(&rows)?;
    ui.line("")?;
    ui.line("Served by:")?;
    let rows: Vec<_> = providers
        .iter()
        .map(|provider| {
            vec![
                (Role::Id, format!("  {}", provider.name)),
                (Role::Title, provider.address.clone()),
                (Role::Faint, format!("{}; {}", provider.key, provider.origin)),
            ]
        })
        .collect();
    ui.table(&rows)
}

/// The roles that have a model of their own, and `default` for the others.
fn roles(host: &Host) -> Result<Vec<RoleOutput>, OpError> {
    let models = Models::new(model_settings(host)?);
    let mut roles = Vec::new();
    for name in ROLES {
        let Some(table) = host.settings().roles.get(*name) else { continue };
        let Some(model) = &table.model else { continue };
        let known = ModelRole::ALL.into_iter().find(|role| role.as_str() == *name);
        // Any role that is not set goes by the default.
        let role = known.or_else(|| {
            let is_unset = |role: &ModelRole| !host.settings().roles.contains_key(role.as_str());
            ModelRole::ALL.into_iter().find(is_unset)
        });
        let problem = role.and_then(|role| models.route(role).err());
        let listed = std::iter::once(model).chain(&table.fallbacks);
        roles.push(RoleOutput {
            role: name,
            models: listed.map(|model| nacre_core::base::Shown(model).one_line()).collect(),
            origin: origin(host.resolved.tables.get(&format!("roles.{name}.model"))),
            problem: problem.map(|error: RolesError| error.to_string()),
        });
    }
    Ok(roles)
}

/// The providers of the models that are set.
fn providers(host: &Host, roles: &[RoleOutput]) -> Vec<ProviderOutput> {
    let used = |name: &str| {
        let prefix = format!("{name}/");
        roles.iter().flat_map(|role| &role.models).any(|model| model.starts_with(&prefix))
    };
    let mut providers = Vec::new();
    for name in provider_names(host).into_iter().filter(|name| used(name)) {
        let set = host.settings().providers.get(&name).and_then(|table| table.base_url.clone());
        let known = KNOWN_PROVIDERS.iter().find(|known| known.name == name);
        let address = set.or_else(|| known.map(|known| known.base_url.to_owned()));
        let key = match key_variable(host, &name) {
            None => "no key needed".to_owned(),
            Some(variable) if host.environment.var(&variable).is_some() => {
                format!("key in {variable}")
            }
            Some(variable) => format!("no key in {variable}"),
        };
        let entry = host.resolved.tables.get(&format!("providers.{name}.base_url"));
        providers.push(ProviderOutput {
            address: nacre_core::base::Shown(&address.unwrap_or_default()).one_line(),
            key,
            origin: origin(entry),
            name,
        });
    }
    providers
}

fn origin(entry: Option<&Entry>) -> String {
    let place = entry.and_then(|entry| entry.origins.last()).map(|origin| origin.place.to_string());
    place.unwrap_or_else(|| "built in".to_owned())
}

fn minilm_output(ui: &mut Ui, host: &Host) -> Result<ModelOutput, OpError> {
    let name = Installable::Minilm.as_str();
    let about = "all-MiniLM-L6-v2, slower and better; nacre model install minilm";
    let home = host.home()?;
    let scope = match WriteScope::open(home, Access::Private) {
        Err(error) if error.is_missing() => None,
        scope => Some(scope?),
    };
    let state = |state| ModelOutput { name, state, id: None, dims: None, about };
    let Some(scope) = scope else { return Ok(state("not installed")) };
    match minilm::installed(&scope) {
        Ok(Some(model)) => Ok(ModelOutput::ready(name, &model, "all-MiniLM-L6-v2")),
        Ok(None) => Ok(state("not installed")),
        Err(error) => {
            let error = OpError::from(error);
            ui.warning(&error.message, error.hints.first().map(String::as_str));
            Ok(state("damaged"))
        }
    }
}
