//! Counts how tools fared and what models used, over all tasks.

use nacre_api::wire::{ModelStats, ModelStatsReport, RunStatsReport, ToolStats, ToolStatsReport};
use nacre_engine::record::state;

use super::open_state;
use crate::error::OpError;
use crate::host::Host;

/// Both at once.
pub fn stats(host: &Host) -> Result<RunStatsReport, OpError> {
    Ok(RunStatsReport { models: models(host)?.models, tools: tools(host)?.tools })
}

pub fn tools(host: &Host) -> Result<ToolStatsReport, OpError> {
    let stats = match open_state(host)? {
        Some(state) => state.tool_stats()?,
        None => Vec::new(),
    };
    Ok(ToolStatsReport { tools: stats.into_iter().map(tool).collect() })
}

pub fn models(host: &Host) -> Result<ModelStatsReport, OpError> {
    let stats = match open_state(host)? {
        Some(state) => state.model_stats()?,
        None => Vec::new(),
    };
    Ok(ModelStatsReport { models: stats.into_iter().map(model).collect() })
}

fn tool(stats: state::ToolStats) -> ToolStats {
    let state::ToolStats {
        tool,
        calls,
        p50_us,
        p95_us,
        errors,
        cache_hits,
        bytes_out,
        shown_bytes,
    } = stats;
    ToolStats { tool, calls, p50_us, p95_us, errors, cache_hits, bytes_out, shown_bytes }
}

fn model(stats: state::ModelStats) -> ModelStats {
    let state::ModelStats { model, calls, input, cached, output, cost_nano } = stats;
    ModelStats { model, calls, input, cached, output, cost_nano_dollars: cost_nano }
}
