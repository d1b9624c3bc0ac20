//! `nacre open`

use clap::Args;
use nacre_ops::{Host, OpError};

use super::exit::Exit;
use super::memory::{ScopeArg, cmd_edit_one};
use super::ui::Ui;

/// Open a memory in your editor
///
/// The same as `nacre memory edit`: what you save is checked, and can be undone.
#[derive(Debug, Args)]
pub(crate) struct OpenArgs {
    /// The memory's id, or the start of it
    id: String,
    #[command(flatten)]
    scope: ScopeArg,
}

pub(crate) fn cmd_open(ui: &mut Ui, host: &Host, args: &OpenArgs) -> Result<Exit, OpError> {
    let OpenArgs { id, scope } = args;
    cmd_edit_one(ui, host, id, false, *scope)
}
