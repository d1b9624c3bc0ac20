//! `nacre config path`

use clap::Args;
use nacre_api::wire::{ConfigPathReport, ConfigPathRequest};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, config as ops};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};

/// Show the configuration files, in the order they are read
#[derive(Debug, Args)]
pub(crate) struct PathArgs {}

pub(crate) fn cmd_path(ui: &mut Ui, host: &Host, args: &PathArgs) -> Result<Exit, OpError> {
    let PathArgs {} = args;
    let report = ops::path(host, &ConfigPathRequest {})?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &ConfigPathReport) -> Result<(), OpError> {
    let rows: Vec<_> = report
        .files
        .iter()
        .map(|file| {
            let note = if file.exists { "" } else { "(not there)" };
            vec![
                (Role::Faint, file.layer.as_str().to_owned()),
                (Role::Id, Shown(&file.path).one_line()),
                (Role::Faint, note.to_owned()),
            ]
        })
        .collect();
    ui.table(&rows)
}
