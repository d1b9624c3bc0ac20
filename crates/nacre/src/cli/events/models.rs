//! `nacre events models`: what models used.

use clap::Args;
use nacre_core::base::Shown;
use nacre_engine::model::Cost;
use nacre_engine::record::state::ModelStats;
use serde_json::json;

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};
use super::open_state;
use nacre_ops::Host;
use nacre_ops::OpError;

/// Show what models used: calls, tokens, cost
#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {}

pub(super) fn cmd_models(ui: &mut Ui, host: &Host, args: &ModelsArgs) -> Result<Exit, OpError> {
    let ModelsArgs {} = args;
    let stats = match open_state(host)? {
        Some(state) => state.model_stats()?,
        None => Vec::new(),
    };
    if ui.is_json() {
        let models: Vec<_> = stats
            .iter()
            .map(|model| {
                json!({
                    "model": model.model, "calls": model.calls, "input": model.input, "cached": model.cached,
                    "output": model.output, "cost_nano_dollars": model.cost_nano,
                })
            })
            .collect();
        ui.json(&json!({ "models": models }))?;
        return Ok(Exit::Done);
    }
    let rows: Vec<_> = stats.iter().map(row).collect();
    ui.table(&rows)?;
    if rows.is_empty() {
        ui.status("No model was called yet.")?;
    }
    Ok(Exit::Done)
}

fn row(model: &ModelStats) -> Vec<(Role, String)> {
    let cost = model.cost_nano.map_or_else(
        || "cost unknown".to_owned(),
        |nano| Cost::from_nano_dollars(nano).to_string(),
    );
    vec![
        (Role::Id, Shown(&model.model).one_line()),
        (Role::Title, format!("{} calls", model.calls)),
        (Role::Faint, format!("{} tokens in, {} from cache", model.input, model.cached)),
        (Role::Faint, format!("{} out", model.output)),
        (Role::Faint, cost),
    ]
}
