//! JSON with comments and trailing commas: where everything stands, and changes by cutting the text itself.

mod change;
mod parse;
#[cfg(test)]
mod tests;

pub(super) use change::{ChangeError, append, parsed, put, remove_entry, tidy, without_child};
pub(super) use parse::{Node, value_at};
