//! `nacre events tools`: how tools fared.

use clap::Args;
use nacre_core::base::Shown;
use nacre_engine::record::state::ToolStats;
use serde_json::json;

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};
use super::open_state;
use nacre_ops::Host;
use nacre_ops::OpError;

/// Show how tools fared: calls, times, errors, cache hits, bytes
///
/// Half of the calls took no longer than p50, and 95 of a hundred no longer than p95.
#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {}

pub(super) fn cmd_tools(ui: &mut Ui, host: &Host, args: &ToolsArgs) -> Result<Exit, OpError> {
    let ToolsArgs {} = args;
    let stats = match open_state(host)? {
        Some(state) => state.tool_stats()?,
        None => Vec::new(),
    };
    if ui.is_json() {
        let tools: Vec<_> = stats
            .iter()
            .map(|tool| {
                json!({
                    "tool": tool.tool, "calls": tool.calls, "p50_us": tool.p50_us, "p95_us": tool.p95_us,
                    "errors": tool.errors, "cache_hits": tool.cache_hits, "bytes_out": tool.bytes_out,
                    "shown_bytes": tool.shown_bytes,
                })
            })
            .collect();
        ui.json(&json!({ "tools": tools }))?;
        return Ok(Exit::Done);
    }
    let rows: Vec<_> = stats.iter().map(row).collect();
    ui.table(&rows)?;
    if rows.is_empty() {
        ui.status("No tool was called yet.")?;
    }
    Ok(Exit::Done)
}

fn row(tool: &ToolStats) -> Vec<(Role, String)> {
    let n_errors: u64 = tool.errors.values().sum();
    let faults: Vec<String> =
        tool.errors.iter().map(|(fault, n)| format!("{n} {}", Shown(fault).one_line())).collect();
    let errors = match n_errors {
        0 => "no errors".to_owned(),
        n_errors => format!("{n_errors} errors ({})", faults.join(", ")),
    };
    vec![
        (Role::Id, Shown(&tool.tool).one_line()),
        (Role::Title, format!("{} calls", tool.calls)),
        (Role::Faint, format!("p50 {}", milliseconds(tool.p50_us))),
        (Role::Faint, format!("p95 {}", milliseconds(tool.p95_us))),
        (if n_errors == 0 { Role::Faint } else { Role::Warning }, errors),
        (Role::Faint, format!("{} from cache", tool.cache_hits)),
        (Role::Faint, format!("{} bytes, {} shown", tool.bytes_out, tool.shown_bytes)),
    ]
}

fn milliseconds(us: u64) -> String {
    format!("{}.{:03} ms", us / 1000, us % 1000)
}
