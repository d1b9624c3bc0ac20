//! Whether a statement follows from the words that it cites, as far as words can tell.
//!
//! Meaning is not understood here. What is said about code must name what stands in the cited lines, in their order, with their
//! numbers, and deny nothing that they do not deny. What passes may still be wrong, so the lines are shown beside it. What a
//! model says about memories is not shown at all: `flows::ask` shows the memories.

mod invented;
mod marks;
mod names;
mod polarity;
mod sentences;
mod source;
mod support;
mod tables;
mod verbatim;
mod words;

pub use self::invented::{has_invented, names_another};
pub use self::marks::{Clause, Marks, marks};
pub use self::polarity::contradicts;
pub use self::sentences::{Sentence, Sentences};
pub use self::source::Source;
pub use self::support::{Flaw, check_statement};
pub use self::words::says_something;
