//! Whether a statement follows from the words that it cites, as far as words can tell.
//!
//! Meaning is not understood here. A statement must be made of its source's words, its numbers and commands must stand
//! where they stand there, and it must not deny what the source affirms. What passes may still twist the source, so
//! whoever shows a statement that does not repeat its source shows the words of the source in its place.

mod invented;
mod marks;
mod names;
mod numbers;
mod polarity;
mod sentences;
mod source;
mod support;
mod tables;
mod verbatim;
mod wording;
mod words;

pub use self::invented::{has_invented, names_another};
pub use self::marks::{Clause, Marks, marks};
pub use self::sentences::{Sentence, Sentences};
pub use self::source::Source;
pub use self::support::{Flaw, SourceKind, check_statement};
pub use self::wording::repeats;
pub use self::words::says_something;
