//! Edits Nacre's block in instruction files such as `AGENTS.md` and `CLAUDE.md`, and extracts the
//! statements that users wrote in them. The functions operate on text and never access files. The
//! text is untrusted.

mod block;
#[cfg(test)]
mod block_tests;
mod pieces;
mod split;
#[cfg(test)]
mod split_tests;
mod statement;

pub use block::{BEGIN, BlockFault, END, InstructionBlock, blank_out, find, put, take_out};
pub use split::{LeftOut, Split, split};
pub use statement::{NotTaken, Statement};
