//! What only this shell has: settings and keys in its variables, which another process of the same person does not know.

use nacre_core::config::{
    NACRE_HOME, NACRE_HOOKS_DEADLINE_MS, NACRE_NOW, NACRE_PAGER, NACRE_UI_THEME,
};

use super::{Environment, Host, key_variable, provider_names};

/// Variables of ours that set nothing of an operation, or are the same for every process of this home.
const SHARED: &[&str] =
    &[NACRE_HOME, NACRE_HOOKS_DEADLINE_MS, NACRE_NOW, NACRE_PAGER, NACRE_UI_THEME];

/// Whether a variable of ours changes what an operation does.
pub fn has_own_settings(host: &Host) -> bool {
    // So does what the person answered for this time.
    host.allowed.get().is_some() || has_own_variables(&host.environment)
}

/// The same by the variables alone.
pub fn has_own_variables(environment: &Environment) -> bool {
    let is_ours = |name: &str| name.starts_with("NACRE_") && !SHARED.contains(&name);
    let mut garbled = environment.garbled_vars.iter();
    environment.vars.iter().any(|(name, _)| is_ours(name)) || garbled.any(|name| is_ours(name))
}

/// Whether a key of a model is in the variables.
pub fn has_own_key(host: &Host) -> bool {
    let mut variables =
        provider_names(host).into_iter().filter_map(|name| key_variable(host, &name));
    variables.any(|variable| host.environment.var(&variable).is_some())
}
