//! Gets one setting, with what it means.

use std::path::Path;

use nacre_api::wire::{ConfigGetReport, ConfigGetRequest, ErrorCode};
use nacre_core::config::{FAMILIES, KEYS, edit};

use super::show::setting;
use crate::error::OpError;
use crate::host::Host;

pub fn get(host: &Host, request: &ConfigGetRequest) -> Result<ConfigGetReport, OpError> {
    let key = request.key.as_str();
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

/// A key that there is and that has no value, or one that there is not.
fn not_set(key: &str) -> OpError {
    // Taking a key out of an empty file says whether there is such a key.
    if let Err(error) = edit::unset("", Path::new("config.toml"), key) {
        return error.into();
    }
    let error = OpError::failed(format!("`{key}` is not set"));
    let error = OpError { code: ErrorCode::NotSet, ..error };
    let error = match doc_of(key) {
        Some(doc) => error.hint(doc),
        None => error,
    };
    error.hint(format!("nacre config set {key} VALUE"))
}

/// What a key means.
fn doc_of(key: &str) -> Option<&'static str> {
    if let Some(spec) = KEYS.iter().find(|spec| spec.name == key) {
        return Some(spec.doc);
    }
    let (family, rest) = key.split_once('.')?;
    let (_, field) = rest.rsplit_once('.')?;
    let family = FAMILIES.iter().find(|known| known.name == family)?;
    family.fields.iter().find(|known| known.name == field).map(|known| known.doc)
}
