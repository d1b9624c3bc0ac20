//! Settings: every key, where its value came from, and how one is changed; and the register of projects.
//!
//! Texts and pairs in, values and texts out: this room reads no file and no variable and writes none. Its caller hands
//! them in, so one process can serve many projects, and each rule here is tested as a function.

pub mod agents;
pub mod docs;
pub mod edit;
pub mod foreign;
pub mod projects;

mod choices;
mod document;
mod error;
mod families;
mod keys;
mod layers;
mod nearest;
mod origin;
mod settings;
mod splice;
mod value;
mod vars;

pub use choices::{
    ApiChoice, AtRest, ColorChoice, EffortChoice, EmbeddingChoice, LeadRuntime, PlainHttpChoice,
    ScopeMode, StrategyChoice, ThemeChoice, UnknownChoice,
};
pub use error::{BadValue, ConfigError, ConfigPlace, ConfigWarning};
pub use families::{FAMILIES, Family, Field, ROLES};
pub use keys::{FromRepo, KEYS, KeySpec, Kind};
pub use layers::{Resolved, Source, resolve};
pub use origin::{Entry, Layer, Origin};
pub use settings::{
    HookSettings, LeadSettings, LimitSettings, LockSettings, MapSettings, MemorySettings,
    ProviderTable, PushSettings, RedactSettings, RoleTable, RunSettings, SafeSettings,
    SearchSettings, ServerSettings, Settings, TelemetrySettings, UiSettings,
};
pub use value::Value;
pub use vars::*;

/// The shipped, commented defaults; also what a new user copies from.
pub const DEFAULTS: &str = include_str!("defaults.toml");
