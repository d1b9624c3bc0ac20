//! The tools, one file each, by what they work on.

pub(super) mod checklist;
pub(super) mod memory;
pub(super) mod shell;
pub(super) mod web;
