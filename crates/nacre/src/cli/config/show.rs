//! `nacre config show`

use clap::Args;
use nacre_api::wire::{ConfigShowReport, ConfigShowRequest};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, config as ops};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};

/// Show every setting, its value and where it was set
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Only keys that begin with this
    prefix: Option<String>,
}

pub(crate) fn cmd_show(ui: &mut Ui, host: &Host, args: &ShowArgs) -> Result<Exit, OpError> {
    let ShowArgs { prefix } = args;
    let report = ops::show(host, &ConfigShowRequest { prefix: prefix.clone() })?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &ConfigShowReport) -> Result<(), OpError> {
    // Tables that a person named, such as `roles.lead.model`, come after the keys that everyone has.
    let is_table = |key: &str| key.matches('.').count() > 1;
    let (tables, keys): (Vec<_>, Vec<_>) =
        report.settings.iter().partition(|(key, _)| is_table(key));
    let mut rows: Vec<_> = keys
        .into_iter()
        .chain(tables)
        .map(|(key, setting)| {
            vec![
                (Role::Id, key.clone()),
                (Role::Title, Shown(&ops::value_text(&setting.value)).one_line()),
                (Role::Faint, Shown(&setting.origin).one_line()),
            ]
        })
        .collect();
    rows.extend(
        report
            .not_set
            .iter()
            .map(|key| vec![(Role::Id, key.clone()), (Role::Faint, "(not set)".to_owned())]),
    );
    ui.table(&rows)
}
