//! Settings: what is set, by which file, and how one is changed.

mod get;
mod password;
mod path;
mod set;
mod show;

pub use nacre_core::config::docs::reference_markdown;

pub use get::get;
pub use path::path;
pub use set::{set, set_harmless};
pub use show::{show, value_text};
