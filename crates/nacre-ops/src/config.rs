//! Shows and changes settings.

pub use nacre_base::config::is_like;
use nacre_base::config::{
    self, AtRest, ConfigEntry, FAMILIES, FromRepo, KEYS, NACRE_CONFIG, ROLES, Value, edit,
};
use nacre_engine::model::ModelRef;
use nacre_types::{
    ConfigFile, ConfigGetReport, ConfigLayer, ConfigPathReport, ConfigSetReport, ConfigSetRequest,
    ConfigShowReport, ConfigShowRequest, RunMode, Setting, SettingValue,
};

use crate::host::{AUTO, STORE_FOLDER, TextEdit, settle_map_cache};
use crate::prelude::*;
use crate::recording::{CommandChange, own_store, text_record};
use crate::run::change::{Reversal, TextRoot};

const DEFAULT_MODEL: &str = "roles.default.model";

pub fn show(host: &Host, request: &ConfigShowRequest) -> Result<ConfigShowReport> {
    let prefix = request.prefix.as_deref().unwrap_or_default();
    let resolved = &host.resolved;
    let keys = resolved.entries.iter().map(|(key, entry)| (*key, entry));
    let tables = resolved.tables.iter().map(|(key, entry)| (key.as_str(), entry));
    let shown = keys.chain(tables).filter(|(key, _)| key.starts_with(prefix));
    let report = ConfigShowReport {
        settings: shown.map(|(key, entry)| (key.to_owned(), setting(key, entry))).collect(),
        not_set: roles_not_set(host, prefix),
    };
    if report.settings.is_empty() && report.not_set.is_empty() {
        return Err(OpError::usage(format!("No setting starts with `{prefix}`"))
            .hint("`nacre config` lists every key"));
    }
    Ok(report)
}

/// Lists the model keys that are not set. Without a prefix, lists only the default key, because
/// every hint mentions it.
fn roles_not_set(host: &Host, prefix: &str) -> Vec<String> {
    let keys = ROLES.iter().map(|role| format!("roles.{role}.model"));
    let keys = keys.filter(|key| !host.resolved.tables.contains_key(key));
    let shown = |key: &String| match prefix {
        "" => key == DEFAULT_MODEL,
        prefix => key.starts_with(prefix),
    };
    keys.filter(shown).collect()
}

fn setting(key: &str, entry: &ConfigEntry) -> Setting {
    let places: Vec<String> = entry.origins.iter().map(|origin| origin.place.to_string()).collect();
    let value = without_password(key, wire_value(&entry.value));
    Setting { value, origin: places.join(", ") }
}

fn wire_value(value: &Value) -> SettingValue {
    match value {
        Value::Text(text) => SettingValue::Text(text.clone()),
        Value::Int(number) => SettingValue::Int(*number),
        Value::Decimal(thousandths) => SettingValue::Decimal(*thousandths as f64 / 1000.0),
        Value::Flag(flag) => SettingValue::Flag(*flag),
        Value::Texts(texts) => SettingValue::Texts(texts.clone()),
    }
}

/// Formats a value for display: strings without quotes, and lists as in TOML.
pub fn value_text(value: &SettingValue) -> String {
    let value = match value {
        SettingValue::Text(text) => Value::Text(text.clone()),
        SettingValue::Int(number) => Value::Int(*number),
        SettingValue::Decimal(number) => Value::Decimal((number * 1000.0).round() as i64),
        SettingValue::Flag(flag) => Value::Flag(*flag),
        SettingValue::Texts(texts) => Value::Texts(texts.clone()),
    };
    value.to_string()
}

pub fn get(host: &Host, key: &str) -> Result<ConfigGetReport> {
    let resolved = &host.resolved;
    let Some(entry) = resolved.entries.get(key).or_else(|| resolved.tables.get(key)) else {
        return Err(not_set(key));
    };
    let found = setting(key, entry);
    Ok(ConfigGetReport {
        key: key.to_owned(),
        value: found.value,
        origin: found.origin,
        doc: doc_of(key).unwrap_or_default().to_owned(),
    })
}

fn not_set(key: &str) -> OpError {
    // Unsetting an unknown key in an empty file produces the right error.
    if let Err(error) = edit::unset("", Path::new("config.toml"), key) {
        return error.into();
    }
    let mut error = OpError::new(ErrorCode::NotSet, format!("`{key}` is not set"));
    error.hints.extend(doc_of(key).map(str::to_owned));
    error.hint(format!("nacre config set {key} VALUE"))
}

fn doc_of(key: &str) -> Option<&'static str> {
    if let Some(spec) = KEYS.iter().find(|spec| spec.name == key) {
        return Some(spec.doc());
    }
    let (family, rest) = key.split_once('.')?;
    let (_, field) = rest.rsplit_once('.')?;
    FAMILIES.iter().find(|known| known.name == family)?.doc_of(field)
}

pub fn path(host: &Host) -> Result<ConfigPathReport> {
    let mut files = vec![(ConfigLayer::Home, host.home()?.join("config.toml"))];
    if let Some(project) = &host.project {
        files.push((ConfigLayer::Repo, project.path.join(STORE_FOLDER).join("config.toml")));
    }
    if let Some(file) = host.environment.var(NACRE_CONFIG) {
        files.push((ConfigLayer::File, host.environment.absolute(file.as_ref())));
    }
    let files = files.into_iter().map(|(layer, path)| ConfigFile {
        layer,
        path: path.display().to_string(),
        exists: path.is_file(),
    });
    Ok(ConfigPathReport { files: files.collect() })
}

/// Selects how maps are stored. Changing this setting removes maps stored in the old form.
const AT_REST: &str = "map.at_rest";

pub fn set(host: &Host, request: &ConfigSetRequest) -> Result<ConfigSetReport> {
    let ConfigSetRequest { key, value, repo } = request;
    if !repo {
        host.check_user("change their own settings")?;
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
                    let message = format!("`{key}` is not set in this file");
                    return Err(OpError::new(ErrorCode::NotSet, message)
                        .hint(format!("nacre config get {key}")));
                }
                without
            }
        })
    })?;
    if key == AT_REST {
        let default = || Ok::<_, OpError>(config::resolve(&[], &[], &[])?.settings.map.at_rest);
        let at_rest = value.as_deref().and_then(|value| value.parse::<AtRest>().ok());
        settle_map_cache(host, "config set", at_rest.map_or_else(default, Ok)?)?;
    }
    let path = scope.path().join("config.toml").display().to_string();
    let change = record(host, request, &edited);
    Ok(ConfigSetReport { key: key.clone(), value: value.clone(), path, change })
}

/// Records the change for undo. Errors are ignored, because changing settings must also work if no
/// store can be opened.
fn record(host: &Host, request: &ConfigSetRequest, edited: &TextEdit) -> Option<String> {
    let ConfigSetRequest { key, value, repo } = request;
    if edited.before.as_deref() == Some(&edited.after) {
        return None;
    }
    let command = match value {
        // The value is omitted from the list of changes, because it could be a secret.
        Some(_) => format!("config set {key}"),
        None => format!("config set --unset {key}"),
    };
    let before = edited.before.as_deref().map(str::as_bytes);
    let scoped = if *repo { host.project_store().ok()?? } else { own_store(host).ok()? };
    let text =
        text_record(TextRoot::Store, "config.toml", before, Some(edited.after.as_bytes())).ok()?;
    let reversal = Reversal::Text { text };
    CommandChange::new(RunMode::Config, &command).record(host, &scoped, reversal, before).ok()
}

/// Like `set`, but for requests from a web page. Refuses keys that could make Nacre send data, run
/// programs or write elsewhere.
pub fn set_harmless(host: &Host, request: &ConfigSetRequest) -> Result<ConfigSetReport> {
    let ConfigSetRequest { key, value, .. } = request;
    check_password(key, value.as_deref().unwrap_or_default())?;
    if !is_harmless(key) {
        let message = format!("`{key}` cannot be set from a web page");
        let value = value.as_deref().unwrap_or("VALUE");
        return Err(OpError::new(ErrorCode::Refused, message)
            .hint(format!("Set it in a terminal: nacre config set {key} {value}")));
    }
    set(host, request)
}

fn is_harmless(key: &str) -> bool {
    let spec = KEYS.iter().find(|spec| spec.name == key);
    let belongs = |name: &str| key.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    let is_in_family = FAMILIES.iter().any(|family| belongs(family.name));
    // For an unknown key, `set` reports a better error.
    !is_in_family && spec.is_none_or(|spec| spec.from_repo != FromRepo::Refused)
}

/// Refuses a model that has no provider, because it would fail on first use.
fn check_models(key: &str, value: &str) -> Result<()> {
    let field = key.strip_prefix("roles.").and_then(|rest| rest.rsplit_once('.'));
    let Some((_, "model" | "fallbacks")) = field else { return Ok(()) };
    for name in value.split(',').map(str::trim).filter(|name| !name.is_empty() && *name != AUTO) {
        if name.parse::<ModelRef>().is_err() {
            return Err(OpError::usage(format!("`{name}` does not include a provider"))
                .hint(format!("Use `provider/model`: nacre config set {key} openai/{name}"))
                .hint("`nacre model` lists the installed agents that can answer"));
        }
    }
    Ok(())
}

fn repo_scope(host: &Host, key: &str) -> Result<WriteScope> {
    if !is_harmless(key) {
        return Err(OpError::usage(format!("A repository cannot set `{key}`"))
            .hint(format!("Set it for yourself: nacre config set {key} VALUE")));
    }
    let Some(project) = &host.project else {
        return Err(
            OpError::new(ErrorCode::NoProject, "No project found here").hint("Run `nacre init`")
        );
    };
    Ok(host.project_scope(&project.path)?)
}

const DATABASE: &str = "server.database";

fn check_password(key: &str, value: &str) -> Result<()> {
    if key != DATABASE || !has_password(value) {
        return Ok(());
    }
    Err(OpError::new(ErrorCode::Refused, "The settings must not contain a password").hint(
        "Use postgres://USER@HOST/NAME, and set the password in NACRE_DATABASE_PASSWORD or in a \
         file named by `server.database_password_file`",
    ))
}

fn without_password(key: &str, value: SettingValue) -> SettingValue {
    if key == DATABASE && matches!(&value, SettingValue::Text(text) if has_password(text)) {
        return SettingValue::Text("[redacted:url-password]".to_owned());
    }
    value
}

fn has_password(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let user = place.rsplit_once('@').map_or("", |(user, _)| user);
    let is_password = |pair: &str| pair.trim_start().to_lowercase().starts_with("password");
    user.contains(':') || parameters.split('&').any(is_password)
}

#[cfg(test)]
mod show_tests {
    use super::*;

    #[test]
    fn a_value_reads_the_same_after_the_wire() {
        let values = [
            Value::Text("vim".to_owned()),
            Value::Int(7),
            Value::Decimal(10_000),
            Value::Decimal(250),
            Value::Flag(true),
            Value::Texts(vec!["a, b".to_owned(), "c".to_owned()]),
        ];
        for value in values {
            assert_eq!(value_text(&wire_value(&value)), value.to_string());
        }
    }
}

#[cfg(test)]
mod password_tests {
    use super::*;

    #[test]
    fn an_address_with_a_password_is_neither_taken_nor_shown() {
        for url in ["postgres://u:s3cret@h/d", "postgres://u@h/d?password=s3cret", "u:s/3cret@h"] {
            assert!(check_password(DATABASE, url).is_err(), "{url}");
            let shown = without_password(DATABASE, SettingValue::Text(url.to_owned()));
            assert!(!format!("{shown:?}").contains("3cret"));
        }
        for url in ["", "postgres://u@h:5432/d?sslmode=disable", "postgres://u@%2Frun%2Fpg/d"] {
            check_password(DATABASE, url).unwrap();
        }
        check_password("push.to", "http://u:p@h").unwrap();
    }
}
