//! `nacre memory list`

use clap::Args;
use nacre_api::wire::{MemoryListReport, MemoryListRequest};
use nacre_ops::{Host, OpError, memory as ops};

use super::super::exit::Exit;
use super::super::ui::Ui;
use super::output::{counted, row, warn_broken};
use super::{ScopeArg, TypeName};

/// List memories, newest first
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only this type
    #[arg(long, short = 't', value_enum)]
    r#type: Option<TypeName>,
    /// Only memories with this tag
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
    /// Archived ones instead
    #[arg(long)]
    archived: bool,
    /// At most this many; 0 for all [default: the setting memory.max_results]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    scope: ScopeArg,
}

pub(crate) fn cmd_list(ui: &mut Ui, host: &Host, args: &ListArgs) -> Result<Exit, OpError> {
    let ListArgs { r#type, tag, archived, limit, scope } = args;
    let report = ops::list(
        host,
        &MemoryListRequest {
            r#type: r#type.map(Into::into),
            tag: tag.clone(),
            archived: *archived,
            limit: *limit,
            scope: scope.mode(),
        },
    )?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &MemoryListReport) -> Result<(), OpError> {
    let MemoryListReport { memories, total, broken } = report;
    let rows: Vec<_> = memories.iter().map(row).collect();
    ui.table(&rows)?;
    if *total > memories.len() {
        ui.status(format!("… {} more; `--limit 0` shows all", counted(total - memories.len())))?;
    }
    if *total == 0 && broken.is_empty() {
        ui.status("No memories.")?;
    }
    warn_broken(ui, broken);
    Ok(())
}
