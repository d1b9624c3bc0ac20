//! Operations on memories, one per file.

mod add;
mod add_lines;
mod change;
pub mod cited;
mod list;
#[cfg(test)]
mod tests;

pub(crate) use add::said_already;
pub use add::{DEFAULT_CONFIDENCE, add, record};
pub use add_lines::{MAX_LINES_BYTES, add_lines};
pub use change::{archive, edit, feedback, forget, reset, restore, write};
pub(crate) use change::{change_each, warn_redacted};
pub use list::{complete, graph, list, list_related, search, short_ids, show};
pub use nacre_memory::ShortIds;

pub(crate) use list::{label, label_entry, to_broken_file};
