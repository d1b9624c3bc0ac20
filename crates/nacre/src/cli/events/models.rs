//! `nacre events models`: what models used.

use clap::Args;
use nacre_api::wire::{ModelStats, ModelStatsReport};
use nacre_ops::text::{Shown, dollars};
use nacre_ops::{Host, OpError, tasks as ops};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};

/// Show what models used: calls, tokens, cost
#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {}

pub(super) fn cmd_models(ui: &mut Ui, host: &Host, args: &ModelsArgs) -> Result<Exit, OpError> {
    let ModelsArgs {} = args;
    let report = ops::models(host)?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &ModelStatsReport) -> Result<(), OpError> {
    let rows: Vec<_> = report.models.iter().map(row).collect();
    ui.table(&rows)?;
    if rows.is_empty() {
        ui.status("No model was called yet.")?;
    }
    Ok(())
}

fn row(model: &ModelStats) -> Vec<(Role, String)> {
    let cost = model.cost_nano_dollars.map_or_else(|| "cost unknown".to_owned(), dollars);
    vec![
        (Role::Id, Shown(&model.model).one_line()),
        (Role::Title, format!("{} calls", model.calls)),
        (Role::Faint, format!("{} tokens in, {} from cache", model.input, model.cached)),
        (Role::Faint, format!("{} out", model.output)),
        (Role::Faint, cost),
    ]
}
