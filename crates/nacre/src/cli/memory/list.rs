//! `nacre memory list` and `nacre memory related`

use nacre_ops::memory as ops;
use nacre_types::{
    MemoryListReport, MemoryListRequest, MemoryRelatedReport, MemoryRelatedRequest, MemorySort,
    MemoryStatus,
};

use crate::cli::args::{TypeFilter, type_parser};
use crate::cli::prelude::*;
use crate::cli::render::{
    memories_text, print_memory_row, print_memory_rows, print_more, warn_broken,
};

/// List memories, newest first
///
/// Session summaries are hidden by default.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only memories of this type, or learnings of this kind
    #[arg(long, short = 't', visible_alias = "kind", value_name = "TYPE", value_parser = type_parser())]
    r#type: Option<TypeFilter>,
    /// Only memories with this status
    #[arg(long, value_name = "STATUS", conflicts_with = "archived", value_parser = one_of::<MemoryStatus>(["active", "candidate", "superseded", "stale"]))]
    status: Option<MemoryStatus>,
    /// Include session summaries
    #[arg(long)]
    all: bool,
    /// Only memories with this tag
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
    /// List archived memories instead
    #[arg(long)]
    archived: bool,
    /// The order; a leading `-` reverses it [default: the project's memories first, then newest]
    #[arg(long, value_name = "KEY", value_parser = one_of::<MemorySort>(MemorySort::ALL.map(MemorySort::as_str)), allow_hyphen_values = true)]
    sort: Option<MemorySort>,
    /// Skip this many
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    offset: usize,
    /// Show at most this many; 0 for all [default: the setting memory.max_results]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    scope: ScopeArg,
}

pub(super) fn cmd_list(ui: &mut Ui, host: &Host, args: ListArgs) -> CommandResult {
    let ListArgs { r#type, status, all, tag, archived, sort, offset, limit, scope } = args;
    let request = MemoryListRequest {
        r#type: r#type.map(|filter| filter.r#type),
        kind: r#type.and_then(|filter| filter.kind),
        status,
        tag,
        archived,
        all,
        sort,
        offset,
        limit,
        scope: scope.mode(),
    };
    let report = ops::list(host, &request)?;
    ui.shorten_ids(host, scope.mode());
    ui.report(&report, |ui, report| print_list(ui, report, &request))
}

fn print_list(ui: &mut Ui, report: &MemoryListReport, request: &MemoryListRequest) {
    let MemoryListReport { memories, total, hidden_summaries, broken } = report;
    print_memory_rows(ui, memories);
    let n_more = total.saturating_sub(request.offset + memories.len());
    if n_more > 0 {
        ui.status(format!("… {} more; `--limit 0` shows all", memories_text(n_more)));
    }
    if *total == 0 && broken.is_empty() && hidden_summaries.is_none() {
        let is_filtered = request.r#type.is_some() || request.tag.is_some() || request.archived;
        ui.status(if is_filtered { "No memory matches." } else { "No memories." });
    }
    match hidden_summaries {
        Some(1) => ui.status("1 summary is hidden; `--all` shows it"),
        Some(n_hidden) => {
            ui.status(format!("{n_hidden} summaries are hidden; `--all` shows them"));
        }
        None => {}
    }
    warn_broken(ui, broken);
}

/// Show related memories
///
/// Memories are related by links, or by a shared session, file, symbol or tag.
#[derive(Debug, Args)]
pub(crate) struct RelatedArgs {
    /// The memory's id or a prefix of it
    id: String,
    /// Show at most this many; 0 for all [default: the setting memory.max_results]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    scope: ScopeArg,
}

pub(super) fn cmd_related(ui: &mut Ui, host: &Host, args: RelatedArgs) -> CommandResult {
    let RelatedArgs { id, limit, scope } = args;
    let request = MemoryRelatedRequest { id, limit, scope: scope.mode() };
    let report = ops::list_related(host, &request, &ui.events())?;
    ui.shorten_ids(host, scope.mode());
    ui.report(&report, print_related)
}

fn print_related(ui: &mut Ui, report: &MemoryRelatedReport) {
    for one in &report.related {
        print_memory_row(ui, &one.memory);
        let kind = one.edge.kind.as_str();
        let shared = one.edge.shared.as_ref().map(|shared| format!(" {shared}"));
        ui.note(4, Role::Faint, format!("{kind}{}", shared.unwrap_or_default()));
    }
    if report.total == 0 {
        ui.status("No related memories.");
    }
    print_more(ui, report.total - report.related.len());
}
