//! `nacre events tools`: how tools fared.

use clap::Args;
use nacre_api::wire::{ToolStats, ToolStatsReport};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, tasks as ops};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};

/// Show how tools fared: calls, times, errors, cache hits, bytes
///
/// Half of the calls took no longer than p50, and 95 of a hundred no longer than p95.
#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {}

pub(super) fn cmd_tools(ui: &mut Ui, host: &Host, args: &ToolsArgs) -> Result<Exit, OpError> {
    let ToolsArgs {} = args;
    let report = ops::tools(host)?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &ToolStatsReport) -> Result<(), OpError> {
    let rows: Vec<_> = report.tools.iter().map(row).collect();
    ui.table(&rows)?;
    if rows.is_empty() {
        ui.status("No tool was called yet.")?;
    }
    Ok(())
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
