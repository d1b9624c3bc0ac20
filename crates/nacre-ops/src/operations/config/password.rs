//! Keeps passwords out of settings, and out of what is shown of them where a person wrote one into a file by hand.

use nacre_api::wire::{ErrorCode, SettingValue};

use crate::error::OpError;

/// The key of the database's address.
const DATABASE: &str = "server.database";

/// Refuses an address with a password in it.
pub(super) fn check_password(key: &str, value: &str) -> Result<(), OpError> {
    if key != DATABASE || !has_password(value) {
        return Ok(());
    }
    let error = OpError::failed("A password does not belong into the settings");
    Err(OpError { code: ErrorCode::Refused, ..error }.hint(
        "Write postgres://USER@HOST/NAME; put the password into NACRE_DATABASE_PASSWORD, or into a file that \
         `server.database_password_file` names",
    ))
}

/// The value as it may be shown.
pub(super) fn without_password(key: &str, value: SettingValue) -> SettingValue {
    if key == DATABASE && matches!(&value, SettingValue::Text(text) if has_password(text)) {
        return SettingValue::Text("[redacted:url-password]".to_owned());
    }
    value
}

/// Whether a password stands in the user part of an address, or among its parameters.
fn has_password(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let user = place.rsplit_once('@').map_or("", |(user, _)| user);
    let is_password = |pair: &str| pair.trim_start().to_lowercase().starts_with("password");
    user.contains(':') || parameters.split('&').any(is_password)
}

#[cfg(test)]
mod tests {
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
        check_password("search.endpoint_url", "http://u:p@h").unwrap();
    }
}
