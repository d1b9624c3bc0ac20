//! `nacre memory search`

use clap::{Args, ValueEnum};
use nacre_api::wire::{FoundMemory, MemorySearchReport, MemorySearchRequest, SearchMode};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, memory as ops};

use super::super::exit::Exit;
use super::super::remote::{Asked, by_server_or};
use super::super::ui::{Role, Ui};
use super::output::{not_verified, print_memory_row, print_more, warn_broken};
use super::{ScopeArg, TypeName};

/// Find memories by their words and their meaning
///
/// Words are looked for in titles, tags, texts and evidence, and what means the same is found too. A
/// "quoted phrase" must occur as it is. Filters stand among the words: type:decision tag:auth
/// kind:pitfall file:src/db.rs agent:codex status:stale after:2026-01 before:7d. What was overturned
/// is left out, or shown below what overturned it with --history. The project's memories come first.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Words, "quoted phrases" and filters
    #[arg(required = true)]
    query: Vec<String>,
    /// Only this type, or this kind of learning
    #[arg(long, short = 't', value_enum, value_name = "TYPE")]
    r#type: Option<TypeName>,
    /// Only memories with this tag
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
    /// Only memories that changed since this day, moment or age, such as 2026-01 or 7d
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// What to go by
    #[arg(long, value_enum, default_value_t = ModeName::Hybrid)]
    mode: ModeName,
    /// Show what was overturned below what overturned it
    #[arg(long)]
    history: bool,
    /// Show why each memory was found
    #[arg(long)]
    explain: bool,
    /// Archived ones too
    #[arg(long)]
    archived: bool,
    /// At most this many; 0 for all [default: the setting memory.max_results]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
    /// Search every registered project
    #[arg(long)]
    all_projects: bool,
    #[command(flatten)]
    scope: ScopeArg,
}

/// What a search goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeName {
    /// Words and meaning
    Hybrid,
    /// Words alone
    Lexical,
    /// Meaning alone
    Semantic,
}

impl From<ModeName> for SearchMode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Hybrid => Self::Hybrid,
            ModeName::Lexical => Self::Lexical,
            ModeName::Semantic => Self::Semantic,
        }
    }
}

pub(crate) fn cmd_search(ui: &mut Ui, host: &Host, args: &SearchArgs) -> Result<Exit, OpError> {
    let SearchArgs { query, r#type, mode, history, explain, scope, .. } = args;
    let request = MemorySearchRequest {
        query: TypeName::with_kind(*r#type, query.join(" ")),
        r#type: r#type.map(TypeName::memory_type),
        tag: args.tag.clone(),
        since: args.since.clone(),
        mode: (*mode).into(),
        archived: args.archived,
        limit: args.limit,
        scope: scope.mode(),
        all_projects: args.all_projects,
    };
    let events = ui.events();
    let asked = Asked { route: ("GET", "/api/search"), request: &request, names_file: false };
    let report = by_server_or((ui, host), &asked, &events, || ops::search(host, &request))?;
    ui.shorten_ids(host, scope.mode());
    ui.report(&report, |ui, report| {
        for found in &report.hits {
            print_found(ui, found)?;
            if *explain {
                ui.line(format!("    {}", ui.paint(Role::Faint, explained(found))))?;
            }
            if *history {
                print_history(ui, found)?;
            }
        }
        print_rest(ui, report)
    })
}

fn print_found(ui: &mut Ui, found: &FoundMemory) -> Result<(), OpError> {
    print_memory_row(ui, &found.memory)?;
    if !found.snippet.is_empty() {
        let snippet = ui.fitted(4, &Shown(&found.snippet).one_line());
        ui.line(format!("    {}", ui.paint(Role::Faint, snippet)))?;
    }
    if let Some(note) = not_verified(&found.not_verified) {
        ui.line(format!("    {}", ui.paint(Role::Warning, note)))?;
    }
    Ok(())
}

fn print_history(ui: &mut Ui, found: &FoundMemory) -> Result<(), OpError> {
    for older in &found.history {
        let title = Shown(&older.title).one_line();
        let line = format!("overturned {}  {title}", older.id);
        ui.line(format!("    {}", ui.paint(Role::Faint, line)))?;
    }
    Ok(())
}

fn print_rest(ui: &mut Ui, report: &MemorySearchReport) -> Result<(), OpError> {
    if report.total == 0 {
        ui.status("Nothing found.")?;
    }
    print_more(ui, report.total - report.hits.len())?;
    warn_broken(ui, &report.broken);
    Ok(())
}

/// Why a memory was found, in one line.
fn explained(found: &FoundMemory) -> String {
    let why = &found.why;
    let mut parts = vec![format!("score {:.2}", found.score)];
    if !why.terms.is_empty() {
        parts.push(format!("words {} ({:.2})", why.terms.join(" "), why.lexical));
    }
    if why.similarity > 0.0 {
        parts.push(format!("meaning {:.2}", why.similarity));
    }
    parts.extend(why.edges.iter().map(|edge| format!("{} {}", edge.kind.as_str(), edge.id)));
    Shown(&parts.join(", ")).one_line()
}
