//! What code is made of, by grammar.
//!
//! The only crate that knows tree-sitter. It is handed texts and returns what is in them; it reads no file.

pub mod artifact;
pub mod languages;
pub mod resolve;
