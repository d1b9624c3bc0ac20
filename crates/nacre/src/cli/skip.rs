//! `nacre skip`

use clap::Args;
use nacre_core::catalog::JobState;

use super::exit::Exit;
use super::retry::{Which, print};
use super::traces;
use super::ui::Ui;
use nacre_ops::Host;
use nacre_ops::OpError;

/// Take sessions out of the queue; `retry` puts them back
#[derive(Debug, Args)]
pub(crate) struct SkipArgs {
    #[command(flatten)]
    which: Which,
}

pub(crate) fn cmd_skip(ui: &mut Ui, host: &Host, args: &SkipArgs) -> Result<Exit, OpError> {
    let SkipArgs { which } = args;
    let mut catalog = traces::open_catalog(host)?;
    let keys = which.keys(&catalog, &[JobState::Pending])?;
    let changed = catalog.skip(&keys, "by hand", host.now())?;
    print(ui, "skipped", &changed)
}
