//! Models: those that answer, by role, and those that search by meaning.

mod list;
mod reader;
mod test;

pub use list::list;
pub use reader::{ReaderQuestion, answer_reader, reader_question};
pub use test::test;
