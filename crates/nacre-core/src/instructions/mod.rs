//! The instruction files that agents read in a repository (`AGENTS.md`, `CLAUDE.md`, rules of editors): Nacre's own block in
//! them, and the statements that people wrote there.
//!
//! Bytes in, bytes out: it reads no file and writes none. Such a file may be a stranger's, so that nothing in it is trusted.

mod block;
#[cfg(test)]
mod block_tests;
mod pieces;
mod split;
#[cfg(test)]
mod split_tests;
mod statement;

pub use block::{BEGIN, Block, BlockFault, END, blank_out, find, put, take_out};
pub use split::{LeftOut, Split, split};
pub use statement::{NotTaken, Statement};
