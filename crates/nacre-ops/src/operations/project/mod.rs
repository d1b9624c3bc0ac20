//! Projects: a repository gets a store, and a name in the register.

mod add;
mod init;
mod list;
mod register;
mod remove;

pub use add::add;
pub use init::init;
pub use list::list;
pub use remove::remove;
