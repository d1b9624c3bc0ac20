//! Lists the models that are set, who serves them, and those that search by meaning.
//!
//! It asks none of them: only `test` says whether a model really answers. Agents that are installed are asked for their version.

use nacre_api::wire::{
    EmbedderEntry, EmbedderState, InstalledAgent, ModelListReport, ModelListRequest, ProviderEntry,
    RoleEntry,
};
use nacre_core::config::{Entry, ROLES};
use nacre_core::search::{Builtin, Embedder};
use nacre_engine::model::{InstalledProgram, KNOWN_PROVIDERS, Models, Role};

use crate::error::OpError;
use crate::host::{
    AUTO, Host, auto_model, installed, key_variable, model_settings, provider_names,
};

pub fn list(host: &Host, request: &ModelListRequest) -> Result<ModelListReport, OpError> {
    let ModelListRequest {} = request;
    let roles = roles(host)?;
    let providers = providers(host, &roles);
    let builtin = ready("builtin", &Builtin::shipped()?, "part of the program");
    Ok(ModelListReport { roles, providers, agents: agents(host)?, models: vec![builtin] })
}

/// The roles that have a model of their own, and `default` for the others.
fn roles(host: &Host) -> Result<Vec<RoleEntry>, OpError> {
    let models = Models::new(model_settings(host)?);
    let set = &host.settings().roles;
    let mut roles = Vec::new();
    for name in ROLES {
        let Some(table) = set.get(*name) else { continue };
        let Some(model) = &table.model else { continue };
        let known = Role::ALL.into_iter().find(|role| role.as_str() == *name);
        // Any role that is not set goes by the default.
        let is_unset = |role: &Role| !set.contains_key(role.as_str());
        let role = known.or_else(|| Role::ALL.into_iter().find(is_unset));
        let problem = role.and_then(|role| models.route(role).err());
        let auto = Some(host).filter(|_| model == AUTO).map(auto_model);
        let problem = match auto {
            Some(None) => {
                Some("no installed agent was allowed to answer; nacre init --yes".to_owned())
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

/// The providers of the models that are set.
fn providers(host: &Host, roles: &[RoleEntry]) -> Vec<ProviderEntry> {
    let is_used = |name: &String| {
        let prefix = format!("{name}/");
        roles.iter().flat_map(|role| &role.models).any(|model| model.starts_with(&prefix))
    };
    provider_names(host).into_iter().filter(is_used).map(|name| provider(host, name)).collect()
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

/// The agents that are installed.
fn agents(host: &Host) -> Result<Vec<InstalledAgent>, OpError> {
    let entry = |installed: &InstalledProgram| InstalledAgent {
        name: installed.known.provider.to_owned(),
        label: installed.known.label.to_owned(),
        version: installed.version.clone(),
        path: installed.path.display().to_string(),
        model: installed.known.reader_name(),
    };
    Ok(installed(host)?.iter().map(entry).collect())
}

fn origin(entry: Option<&Entry>) -> String {
    let place = entry.and_then(|entry| entry.origins.last()).map(|origin| origin.place.to_string());
    place.unwrap_or_else(|| "built in".to_owned())
}

fn ready(name: &str, model: &dyn Embedder, about: &str) -> EmbedderEntry {
    EmbedderEntry {
        name: name.to_owned(),
        state: EmbedderState::Ready,
        id: Some(model.model().to_string()),
        dims: Some(model.dims()),
        about: about.to_owned(),
    }
}
