//! Sets or unsets one key. Comments and the order of the file stay.

use nacre_api::wire::{ConfigSetReport, ConfigSetRequest, ErrorCode};
use nacre_core::config::{self, AtRest, FAMILIES, FromRepo, KEYS, edit};
use nacre_core::safefs::WriteScope;
use nacre_engine::flows::change::{Reversal, TextRoot};
use nacre_engine::flows::run::RunMode;
use nacre_engine::model::ModelRef;

use super::password::check_password;
use crate::error::OpError;
use crate::host::{AUTO, Host, TextEdit, settle_map_cache};
use crate::operations::recording::{OutsideChange, own_store, record_outside, text_record};

/// The key that says how maps are stored; those stored in another way are removed when it changes.
const AT_REST: &str = "map.at_rest";

pub fn set(host: &Host, request: &ConfigSetRequest) -> Result<ConfigSetReport, OpError> {
    let ConfigSetRequest { key, value, repo } = request;
    if !repo {
        host.check_user("change settings; an agent can with `--repo`")?;
    }
    check_models(key, value.as_deref().unwrap_or_default())?;
    check_password(key, value.as_deref().unwrap_or_default())?;
    let scope = if *repo { repo_scope(host, key)? } else { host.home_scope()? };
    let edited = host.edit_text(&scope, "config.toml", "config set", |text, origin| {
        Ok(match value {
            Some(value) => edit::set(text, origin, key, value)?,
            None => {
                let without = edit::unset(text, origin, key)?;
                if without == text {
                    let error = OpError::failed(format!("`{key}` is not set in this file"));
                    let error = OpError { code: ErrorCode::NotSet, ..error };
                    return Err(error.hint(format!("nacre config get {key}")));
                }
                without
            }
        })
    })?;
    if key == AT_REST {
        settle_map_cache(host, "config set", at_rest(value.as_deref())?)?;
    }
    let path = scope.path().join("config.toml").display().to_string();
    let change = record(host, request, &edited);
    Ok(ConfigSetReport { key: key.clone(), value: value.clone(), path, change })
}

/// Writes down what undoes it. Best effort: settings can be changed also where no store can be opened.
fn record(host: &Host, request: &ConfigSetRequest, edited: &TextEdit) -> Option<String> {
    let ConfigSetRequest { key, value, repo } = request;
    if edited.before.as_deref() == Some(&edited.after) {
        return None;
    }
    let command = match value {
        // A value may be a secret, and the list of changes is shown.
        Some(_) => format!("config set {key}"),
        None => format!("config set --unset {key}"),
    };
    let before = edited.before.as_deref().map(str::as_bytes);
    let scoped = if *repo { host.project_store().ok()?? } else { own_store(host).ok()? };
    let text =
        text_record(TextRoot::Store, "config.toml", before, Some(edited.after.as_bytes())).ok()?;
    let (mode, reversal) = (RunMode::Config, Reversal::Text { text });
    let change = OutsideChange { mode, command: &command, undoes: None, reversal, before };
    record_outside(host, &scoped, change).ok()
}

/// The same for a page: only settings by which nothing is sent anywhere, run or written elsewhere.
pub fn set_harmless(host: &Host, request: &ConfigSetRequest) -> Result<ConfigSetReport, OpError> {
    let ConfigSetRequest { key, value, .. } = request;
    check_password(key, value.as_deref().unwrap_or_default())?;
    if !is_harmless(key) {
        let message = format!("`{key}` is not set from a page");
        let value = value.as_deref().unwrap_or("VALUE");
        return Err(OpError { code: ErrorCode::Refused, ..OpError::failed(message) }
            .hint(format!("Type it: nacre config set {key} {value}")));
    }
    set(host, request)
}

/// Whether a stranger's repository might set it, too.
fn is_harmless(key: &str) -> bool {
    let spec = KEYS.iter().find(|spec| spec.name == key);
    // A key that is not known is refused by name.
    !is_in_family(key) && spec.is_none_or(|spec| spec.from_repo != FromRepo::Refused)
}

fn is_in_family(key: &str) -> bool {
    let belongs = |name: &str| key.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    FAMILIES.iter().any(|family| belongs(family.name))
}

/// Refuses a model without a provider: the first question would fail.
fn check_models(key: &str, value: &str) -> Result<(), OpError> {
    let field = key.strip_prefix("roles.").and_then(|rest| rest.rsplit_once('.'));
    let Some((_, "model" | "fallbacks")) = field else { return Ok(()) };
    for name in value.split(',').map(str::trim).filter(|name| !name.is_empty() && *name != AUTO) {
        if name.parse::<ModelRef>().is_err() {
            return Err(OpError::usage(format!("`{name}` names no provider"))
                .hint(format!("Write `provider/model`: nacre config set {key} openai/{name}"))
                .hint("`nacre model list` shows the installed agents that can answer"));
        }
    }
    Ok(())
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
    if !is_harmless(key) {
        return Err(OpError::usage(format!("A repository may not set `{key}`"))
            .hint(format!("Set it for yourself: nacre config set {key} VALUE")));
    }
    let Some(project) = &host.project else {
        let error = OpError::failed("There is no project here");
        return Err(OpError { code: ErrorCode::NoProject, ..error }.hint("Run `nacre init`"));
    };
    Ok(host.project_scope(&project.path)?)
}
