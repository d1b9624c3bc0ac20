//! Projects: a repository gets a store, and a name in the register.

mod add;
mod init;
mod list;
mod prepare;
mod record;
mod remove;

pub use add::add;
pub use init::init;
pub(crate) use list::entries;
pub use list::list;
pub use remove::remove;
