//! Sets or unsets one key. Comments and the order of the file stay.

use nacre_api::wire::{ConfigSetReport, ConfigSetRequest, ErrorCode};
use nacre_core::config::{self, AtRest, FAMILIES, FromRepo, KEYS, edit};
use nacre_core::safefs::WriteScope;

use crate::error::OpError;
use crate::host::{Host, settle_map_cache};

/// The key that says how maps are stored; those stored in another way are removed when it changes.
const AT_REST: &str = "map.at_rest";

pub fn set(host: &Host, request: &ConfigSetRequest) -> Result<ConfigSetReport, OpError> {
    let ConfigSetRequest { key, value, repo } = request;
    let scope = if *repo { repo_scope(host, key)? } else { host.home_scope()? };
    host.edit_text(&scope, "config.toml", "config set", |text, origin| {
        Ok(match value {
            Some(value) => edit::set(text, origin, key, value)?,
            None => edit::unset(text, origin, key)?,
        })
    })?;
    if key == AT_REST {
        settle_map_cache(host, "config set", at_rest(value.as_deref())?)?;
    }
    let path = scope.path().join("config.toml").display().to_string();
    Ok(ConfigSetReport { key: key.clone(), value: value.clone(), path })
}

/// How maps are stored from now on; without a value, as the built-in defaults say.
fn at_rest(value: Option<&str>) -> Result<AtRest, OpError> {
    match value.map(str::parse) {
        Some(Ok(at_rest)) => Ok(at_rest),
        Some(Err(_)) | None => Ok(config::resolve(&[], &[], &[])?.settings.map.at_rest),
    }
}

/// The repository's store, for a key that a repository may set.
fn repo_scope(host: &Host, key: &str) -> Result<WriteScope, OpError> {
    let spec = KEYS.iter().find(|spec| spec.name == key);
    let is_in_family = FAMILIES
        .iter()
        .any(|family| key.strip_prefix(family.name).is_some_and(|rest| rest.starts_with('.')));
    if is_in_family || spec.is_some_and(|spec| spec.from_repo == FromRepo::Refused) {
        return Err(OpError::usage(format!("A repository may not set `{key}`"))
            .hint(format!("Set it for yourself: nacre config set {key} VALUE")));
    }
    let Some(project) = &host.project else {
        let error = OpError::failed("There is no project here");
        return Err(OpError { code: ErrorCode::NoProject, ..error }.hint("Run `nacre init`"));
    };
    Ok(host.project_scope(&project.path)?)
}
