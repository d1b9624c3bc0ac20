//! `nacre skip`

use clap::Args;
use nacre_core::catalog::JobState;

use super::error::{CommandError, Exit};
use super::retry::{Which, print};
use super::runtime::Runtime;
use super::traces;
use super::ui::Ui;

/// Take sessions out of the queue; `retry` puts them back
#[derive(Debug, Args)]
pub(crate) struct SkipArgs {
    #[command(flatten)]
    which: Which,
}

pub(crate) fn cmd_skip(
    ui: &mut Ui,
    runtime: &Runtime,
    args: &SkipArgs,
) -> Result<Exit, CommandError> {
    let SkipArgs { which } = args;
    let mut catalog = traces::open_catalog(runtime)?;
    let keys = which.keys(&catalog, &[JobState::Pending])?;
    let changed = catalog.skip(&keys, "by hand", runtime.now())?;
    print(ui, "skipped", &changed)
}
