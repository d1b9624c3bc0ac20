//! `nacre skip`

use clap::Args;
use nacre_ops::{Host, OpError, queue as ops};

use super::exit::Exit;
use super::retry::{Which, print};
use super::ui::Ui;

/// Take sessions out of the queue; `retry` puts them back
#[derive(Debug, Args)]
pub(crate) struct SkipArgs {
    #[command(flatten)]
    which: Which,
}

pub(crate) fn cmd_skip(ui: &mut Ui, host: &Host, args: &SkipArgs) -> Result<Exit, OpError> {
    ui.report(&ops::skip(host, &args.which.request())?, print)
}
