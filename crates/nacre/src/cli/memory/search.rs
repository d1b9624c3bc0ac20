//! `nacre memory search`

use clap::Args;
use nacre_core::base::Shown;
use nacre_core::memory::{Hit, Located, MemoryType, Query, Shelf};
use serde::Serialize;

use super::super::error::{CommandError, Exit};
use super::super::runtime::{Runtime, ScopedStore};
use super::super::ui::{Role, Ui};
use super::output::{BrokenOutput, MemoryOutput, row, warn_broken};
use super::{ScopeArg, TypeName};

/// Find memories by their words
///
/// A memory is found when every word occurs in it, whatever the case. A "quoted phrase" must occur
/// as it is. The project's memories come first, then the global ones.
#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Words and "quoted phrases"
    #[arg(required = true)]
    query: Vec<String>,
    /// Only this type
    #[arg(long, short = 't', value_enum)]
    r#type: Option<TypeName>,
    /// Only memories with this tag
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
    /// Archived ones too
    #[arg(long)]
    archived: bool,
    /// At most this many; 0 for all [default: the setting memory.max_results]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    scope: ScopeArg,
}

#[derive(Serialize)]
struct SearchOutput {
    query: String,
    hits: Vec<HitOutput>,
    total: usize,
    broken: Vec<BrokenOutput>,
}

#[derive(Serialize)]
struct HitOutput {
    #[serde(flatten)]
    memory: MemoryOutput,
    score: f64,
    snippet: String,
}

pub(crate) fn cmd_search(
    ui: &mut Ui,
    runtime: &Runtime,
    args: &SearchArgs,
) -> Result<Exit, CommandError> {
    let SearchArgs { query: words, r#type, tag, archived, limit, scope } = args;
    let text = words.join(" ");
    let query = Query::parse(&text);
    if query.is_empty() {
        return Err(CommandError::usage("There is nothing to search for")
            .hint("nacre memory search sqlite queue"));
    }
    let wanted_type = r#type.map(MemoryType::from);
    let wanted = |at: &Located| {
        (*archived || at.shelf == Shelf::Active)
            && wanted_type.is_none_or(|wanted| at.memory_type == wanted)
    };
    let stores = runtime.stores_to_read(scope.mode())?;
    let mut hits: Vec<(Hit, &ScopedStore)> = Vec::new();
    let mut broken = Vec::new();
    for scoped in &stores {
        let (found, unreadable) = scoped.store.find(&query, wanted)?;
        let has_tag = |hit: &Hit| tag.as_ref().is_none_or(|tag| hit.memory.tags.contains(tag));
        hits.extend(found.into_iter().filter(has_tag).map(|hit| (hit, scoped)));
        broken.extend(unreadable.iter().map(|unreadable| BrokenOutput::new(unreadable, scoped)));
    }
    let total = hits.len();
    let limit = limit.unwrap_or(runtime.settings().memory.max_results);
    hits.truncate(if limit == 0 { total } else { limit });
    let exit = if broken.is_empty() { Exit::Done } else { Exit::Partial };
    if ui.is_json() {
        let hits = hits.iter().map(|(hit, scoped)| hit_output(hit, scoped)).collect();
        ui.json(&SearchOutput { query: text, hits, total, broken })?;
        return Ok(exit);
    }
    print(ui, &hits, total)?;
    warn_broken(ui, &broken);
    Ok(exit)
}

fn hit_output(hit: &Hit, scoped: &ScopedStore) -> HitOutput {
    HitOutput {
        memory: MemoryOutput::new(&hit.memory, scoped),
        score: hit.score,
        snippet: hit.snippet.clone(),
    }
}

fn print(ui: &mut Ui, hits: &[(Hit, &ScopedStore)], total: usize) -> Result<(), CommandError> {
    for (hit, scoped) in hits {
        ui.table(&[row(&hit.memory, scoped.whose)])?;
        if !hit.snippet.is_empty() {
            let snippet = ui.paint(Role::Faint, Shown(&hit.snippet).one_line());
            ui.line(format!("    {snippet}"))?;
        }
    }
    match (total, total - hits.len()) {
        (0, _) => ui.status("Nothing found."),
        (_, 0) => Ok(()),
        (_, n_more) => ui.status(format!("… {n_more} more; `--limit 0` shows all")),
    }
}
