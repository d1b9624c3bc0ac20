//! What a person or an agent does with memories: one operation a file.

mod add;
mod archive;
mod changes;
mod edit;
mod everywhere;
mod forget;
mod graph;
mod list;
mod record;
mod related;
mod reset;
mod restore;
mod search;
mod short_ids;
mod show;
#[cfg(test)]
mod tests;
mod wire;
mod write;

pub(crate) use add::said_already;
pub use add::{DEFAULT_CONFIDENCE, add};
pub use archive::archive;
pub(crate) use changes::{Change, change_each, warn_redacted};
pub use edit::edit;
pub use forget::forget;
pub use graph::graph;
pub use list::list;
pub use record::record;
pub use related::related;
pub use reset::{reset, store_to_reset};
pub use restore::restore;
pub(crate) use search::core_mode;
pub use search::search;
pub use short_ids::{ShortIds, short_ids};
pub use show::show;
pub(crate) use wire::{broken, label, labelled, learning_kind, memory_type, quote, speaker};
pub use write::write;
