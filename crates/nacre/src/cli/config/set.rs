//! `nacre config set`

use clap::Args;
use nacre_api::wire::{ConfigSetReport, ConfigSetRequest};
use nacre_ops::text::ShownLine;
use nacre_ops::{Host, OpError, config as ops};

use super::super::exit::Exit;
use super::super::memory::print_undo;
use super::super::ui::Ui;

/// Set one key; comments and order of the file stay
#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// The key, such as memory.scope
    key: String,
    /// Its value; a list is comma separated
    #[arg(required_unless_present = "unset", allow_hyphen_values = true)]
    value: Option<String>,
    /// Take the key out of the file instead
    #[arg(long, conflicts_with = "value")]
    unset: bool,
    /// Write to the repository's own settings, which are shared through git
    #[arg(long)]
    repo: bool,
}

pub(crate) fn cmd_set(ui: &mut Ui, host: &Host, args: &SetArgs) -> Result<Exit, OpError> {
    // Without `--unset` there is a value.
    let SetArgs { key, value, unset: _, repo } = args;
    let request = ConfigSetRequest { key: key.clone(), value: value.clone(), repo: *repo };
    let report = ops::set(host, &request)?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &ConfigSetReport) -> Result<(), OpError> {
    let ConfigSetReport { key, value, path, change } = report;
    let (key, path) = (ShownLine(key), ShownLine(path));
    match value {
        Some(value) => ui.status(format!("Set {key} = {} in {path}", ShownLine(value)))?,
        None => ui.status(format!("Unset {key} in {path}"))?,
    }
    print_undo(ui, change.as_deref())
}
