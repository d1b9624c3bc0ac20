//! A parser and editor for JSON with comments and trailing commas. The parser reports each value's
//! position, so that edits change only the affected bytes.

mod change;
mod parse;
#[cfg(test)]
mod tests;

pub(crate) use change::{
    ChangeError, Result, append, parse_object, put, remove_entry, tidy, without_child,
};
pub use parse::parse_jsonc;
pub(crate) use parse::{Node, value_at};
