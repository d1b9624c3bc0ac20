//! Models: those that answer, by role, and those that search by meaning.

mod list;
mod test;

pub use list::list;
pub use test::test;
