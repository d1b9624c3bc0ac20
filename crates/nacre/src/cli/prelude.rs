//! Common imports for the command modules.

pub(crate) use clap::{Args, Subcommand};
pub(crate) use nacre_ops::text::{Shown, ShownLine};
pub(crate) use nacre_ops::{Host, OpError, Result};

pub(crate) use super::args::{ScopeArg, one_of};
pub(crate) use super::layout::{Role, Row, cell, faint, id, title};
pub(crate) use super::ui::{CommandResult, Exit, Ui};
