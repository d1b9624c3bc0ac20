//! The configuration system: keys, layers, edits, and the project register.
//!
//! This module does no I/O. Callers pass in file contents and variables, and write the results to
//! disk, so one process can serve many projects.

pub mod agents;
pub mod edit;
pub mod foreign;
pub mod projects;

mod document;
mod error;
mod families;
mod keys;
mod layers;
mod settings;
mod value;

pub use error::nearest::is_like;
pub use error::{BadValue, ConfigError, ConfigPlace, ConfigWarning};
pub use families::{FAMILIES, Family, Field, ROLES};
pub use keys::{
    EDITOR, FromRepo, KEYS, KeySpec, NACRE_CHILD, NACRE_CONFIG, NACRE_DATABASE_PASSWORD,
    NACRE_HOME, NACRE_HOOKS_DEADLINE_MS, NACRE_MODEL, NACRE_NOW, NACRE_PAGER, NACRE_PUSH_TOKEN,
    NACRE_UI_THEME, NO_COLOR, PAGER, VARS, VISUAL, ValueKind, VarSpec,
};
pub use layers::{ConfigEntry, ConfigSource, Layer, Resolved, ValueOrigin, resolve};
pub use settings::{
    ApiChoice, AtRest, ColorChoice, EffortChoice, HookSettings, LimitSettings, LockSettings,
    MapSettings, MemorySettings, PlainHttpChoice, ProviderTable, PushSettings, RedactSettings,
    RoleTable, RunSettings, SafeSettings, ScopeMode, ServerSettings, Settings, StrategyChoice,
    TelemetrySettings, ThemeChoice, UiSettings,
};
pub use value::Value;

pub const DEFAULTS: &str = include_str!("defaults.toml");
