//! `nacre memory search`

use nacre_ops::memory as ops;
use nacre_types::{FoundMemory, MemorySearchRequest, SearchMode};

use crate::cli::args::{TypeFilter, mode_parser, type_parser};
use crate::cli::prelude::*;
use crate::cli::remote::{by_server_or, server};
use crate::cli::render::{count, print_memory_row, print_more, print_not_verified, warn_broken};

/// Search memories by words and meaning
///
/// Searches titles, tags, text and evidence. A "quoted phrase" must occur verbatim. The query may
/// contain filters: type:decision tag:auth kind:pitfall file:src/db.rs agent:codex status:stale
/// after:2026-01 before:7d. Superseded memories are hidden; --history shows them below the memory
/// that supersedes them. Memories that match too little are left out.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Words, "quoted phrases" and filters
    #[arg(required = true)]
    query: Vec<String>,
    /// Only memories of this type, or learnings of this kind
    #[arg(long, short = 't', value_name = "TYPE", value_parser = type_parser())]
    r#type: Option<TypeFilter>,
    /// Only memories with this tag
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
    /// Only memories changed since this date, time or age, such as 2026-01 or 7d
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Search by words, by meaning, or by both
    #[arg(long, default_value = "hybrid", value_parser = mode_parser())]
    mode: SearchMode,
    /// Show superseded memories below the memory that supersedes them
    #[arg(long)]
    history: bool,
    /// Show why each memory matches
    #[arg(long)]
    explain: bool,
    /// Include archived memories
    #[arg(long)]
    archived: bool,
    /// Show at most this many; 0 for all [default: the setting memory.max_results]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
    /// Search every registered project
    #[arg(long)]
    all_projects: bool,
    #[command(flatten)]
    scope: ScopeArg,
}

pub(super) fn cmd_search(ui: &mut Ui, host: &Host, args: SearchArgs) -> CommandResult {
    let mut query = args.query.join(" ");
    if let Some(TypeFilter { kind: Some(kind), .. }) = args.r#type {
        query = format!("{query} kind:{}", kind.as_str());
    }
    let request = MemorySearchRequest {
        query,
        r#type: args.r#type.map(|filter| filter.r#type),
        tag: args.tag,
        since: args.since,
        mode: args.mode,
        archived: args.archived,
        limit: args.limit,
        scope: args.scope.mode(),
        all_projects: args.all_projects,
    };
    let (server, events) = (server(ui, host), ui.events());
    let here = |_: &_| ops::search(host, &request);
    let report = by_server_or(server, "GET /api/search", &request, &events, here)?;
    ui.shorten_ids(host, args.scope.mode());
    ui.report(&report, |ui, report| {
        for found in &report.hits {
            print_memory_row(ui, &found.memory);
            if !found.snippet.is_empty() {
                ui.note(4, Role::Faint, ui.fit(4, &Shown(&found.snippet).one_line()));
            }
            if !found.same.is_empty() {
                let text = format!("{} with this title", count(found.same.len(), "more session"));
                ui.note(4, Role::Faint, text);
            }
            print_not_verified(ui, &found.not_verified);
            if args.explain {
                ui.note(4, Role::Faint, explanation(found));
            }
            for older in found.history.iter().filter(|_| args.history) {
                ui.note(4, Role::Faint, format!("supersedes {}  {}", older.id, older.title));
            }
        }
        if report.total == 0 {
            ui.status("Nothing found.");
        }
        print_more(ui, report.total - report.hits.len());
        warn_broken(ui, &report.broken);
    })
}

fn explanation(found: &FoundMemory) -> String {
    let why = &found.why;
    let mut parts = vec![format!("score {:.2}", found.score)];
    if !why.terms.is_empty() {
        parts.push(format!("words {} ({:.2})", why.terms.join(" "), why.lexical));
    }
    if why.similarity > 0.0 {
        parts.push(format!("meaning {:.2}", why.similarity));
    }
    parts.extend(why.edges.iter().map(|edge| format!("{} {}", edge.kind.as_str(), edge.id)));
    parts.join(", ")
}
