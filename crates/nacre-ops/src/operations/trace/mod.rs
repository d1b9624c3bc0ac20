//! The sessions that agents left behind: one operation a file.

mod find;
mod import;
mod list;
mod search;
mod show;
mod wire;

pub use find::NameSource;
pub use import::import;
pub use list::list;
pub use search::search;
pub use show::show;
