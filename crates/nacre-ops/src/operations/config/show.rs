//! Shows settings with their values and where they were set.

use nacre_api::wire::{ConfigShowReport, ConfigShowRequest, Setting, SettingValue};
use nacre_core::config::{Entry, ROLES, Value};

use super::password::without_password;
use crate::error::OpError;
use crate::host::Host;

/// The role that stands in for all others.
const DEFAULT_MODEL: &str = "roles.default.model";

pub fn show(host: &Host, request: &ConfigShowRequest) -> Result<ConfigShowReport, OpError> {
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
        return Err(OpError::usage(format!("No setting begins with `{prefix}`"))
            .hint("`nacre config show` lists every key"));
    }
    Ok(report)
}

/// The model that every hint names; for who asks for roles, that of each.
fn roles_not_set(host: &Host, prefix: &str) -> Vec<String> {
    let keys = ROLES.iter().map(|role| format!("roles.{role}.model"));
    let keys = keys.filter(|key| !host.resolved.tables.contains_key(key));
    match prefix.is_empty() {
        true => keys.filter(|key| key == DEFAULT_MODEL).collect(),
        false => keys.filter(|key| key.starts_with(prefix)).collect(),
    }
}

pub(super) fn setting(key: &str, entry: &Entry) -> Setting {
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

/// A value as a person reads it: a text without quotes, a list as in TOML.
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

#[cfg(test)]
mod tests {
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
