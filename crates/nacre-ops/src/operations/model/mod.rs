//! Models: those that answer, by role, and those that search by meaning.

mod install;
mod list;
mod remove;
mod test;

pub use install::install;
pub use list::list;
pub use remove::remove;
pub use test::test;
