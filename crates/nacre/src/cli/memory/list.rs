//! `nacre memory list`

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use nacre_api::wire::{MemoryListReport, MemoryListRequest, MemorySort, MemoryStatus};
use nacre_ops::{Host, OpError, memory as ops};

use super::super::exit::Exit;
use super::super::ui::Ui;
use super::output::{counted, print_memory_rows, warn_broken};
use super::{ScopeArg, TypeName};

/// List memories, newest first
///
/// Summaries of sessions are many and say little about how to work here: they are left out unless you ask for them.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only this type, or this kind of learning
    #[arg(long, short = 't', visible_alias = "kind", value_enum, value_name = "TYPE")]
    r#type: Option<TypeName>,
    /// Only memories with this status
    #[arg(long, value_enum, value_name = "STATUS", conflicts_with = "archived")]
    status: Option<StatusName>,
    /// Summaries of sessions too
    #[arg(long)]
    all: bool,
    /// Only memories with this tag
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
    /// Archived ones instead
    #[arg(long)]
    archived: bool,
    /// The order; `-` before it turns it round [default: the project's first, the newest first]
    #[arg(long, value_name = "KEY", value_parser = sort_parser(), allow_hyphen_values = true)]
    sort: Option<MemorySort>,
    /// Pass over this many
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    offset: usize,
    /// At most this many; 0 for all [default: the setting memory.max_results]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    scope: ScopeArg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum StatusName {
    Active,
    Candidate,
    Superseded,
    Stale,
}

impl From<StatusName> for MemoryStatus {
    fn from(name: StatusName) -> Self {
        match name {
            StatusName::Active => Self::Active,
            StatusName::Candidate => Self::Candidate,
            StatusName::Superseded => Self::Superseded,
            StatusName::Stale => Self::Stale,
        }
    }
}

pub(crate) fn cmd_list(ui: &mut Ui, host: &Host, args: &ListArgs) -> Result<Exit, OpError> {
    let ListArgs { r#type, status, all, tag, archived, sort, offset, limit, scope } = args;
    let request = MemoryListRequest {
        r#type: r#type.map(TypeName::memory_type),
        kind: r#type.and_then(TypeName::kind),
        status: status.map(Into::into),
        tag: tag.clone(),
        archived: *archived,
        all: *all,
        sort: *sort,
        offset: *offset,
        limit: *limit,
        scope: scope.mode(),
    };
    let report = ops::list(host, &request)?;
    ui.shorten_ids(host, scope.mode());
    ui.report(&report, |ui, report| print(ui, report, &request))
}

/// Parses the name of an order.
fn sort_parser() -> impl TypedValueParser<Value = MemorySort> {
    PossibleValuesParser::new(MemorySort::ALL.map(MemorySort::as_str)).try_map(|name| {
        let named = MemorySort::ALL.into_iter().find(|sort| sort.as_str() == name);
        named.ok_or("not an order")
    })
}

fn print(
    ui: &mut Ui,
    report: &MemoryListReport,
    request: &MemoryListRequest,
) -> Result<(), OpError> {
    let is_filtered = request.r#type.is_some() || request.tag.is_some() || request.archived;
    let MemoryListReport { memories, total, hidden_summaries, broken } = report;
    print_memory_rows(ui, memories)?;
    let n_more = total.saturating_sub(request.offset + memories.len());
    if n_more > 0 {
        ui.status(format!("… {} more; `--limit 0` shows all", counted(n_more)))?;
    }
    if *total == 0 && broken.is_empty() && hidden_summaries.is_none() {
        ui.status(if is_filtered { "No memory matches." } else { "No memories." })?;
    }
    match hidden_summaries {
        Some(1) => ui.status("1 summary is hidden; `--all` shows it")?,
        Some(n_hidden) => {
            ui.status(format!("{n_hidden} summaries are hidden; `--all` shows them"))?;
        }
        None => {}
    }
    warn_broken(ui, broken);
    Ok(())
}
