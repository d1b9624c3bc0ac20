//! `nacre index status`

use clap::Args;
use nacre_api::wire::{IndexState, IndexStatusReport, IndexStatusRequest};
use nacre_ops::{Host, OpError, index as ops};

use super::super::exit::Exit;
use super::super::memory::ScopeArg;
use super::super::ui::{Role, Ui};

/// Show what the index holds and whether it is up to date
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    scope: ScopeArg,
}

pub(crate) fn cmd_status(ui: &mut Ui, host: &Host, args: &StatusArgs) -> Result<Exit, OpError> {
    let report = ops::status(host, &IndexStatusRequest { scope: args.scope.mode() })?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &IndexStatusReport) -> Result<(), OpError> {
    report.indexes.iter().try_for_each(|index| ui.table(&[row(index)]))
}

fn row(index: &IndexState) -> Vec<(Role, String)> {
    let IndexState { scope, path: _, records, segments, bytes, model, outdated } = index;
    let state = match outdated {
        0 => "up to date".to_owned(),
        n => format!("{n} files to look at; the next search will"),
    };
    vec![
        (Role::Title, scope.as_str().to_owned()),
        (Role::Faint, format!("{records} in {segments} segments, {} KiB", bytes / 1024)),
        (Role::Faint, model.clone()),
        (Role::Faint, state),
    ]
}
