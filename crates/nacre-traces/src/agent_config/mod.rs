//! Edits coding agents' settings files. An [`Edit`] inserts one entry into a text or removes it,
//! and preserves all other bytes. An [`Undo`] records the original text around the entry, so that
//! removing the entry restores the original bytes. This module does not access any files.

mod edit;
mod hooks;
mod json;
mod jsonc;
mod parts;
pub(crate) mod shared;
mod tables;
mod undo;

pub use edit::{Edit, EditError, FileEdit, MARK};
pub use jsonc::parse_jsonc;
pub(crate) use parts::HookSpec;
pub use parts::{ConnectedPart, HookEvent, Places, Program, is_ours};
pub use undo::{EntryState, Undo};
