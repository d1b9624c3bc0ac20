//! `nacre memory list`

use clap::Args;
use nacre_core::memory::{Memory, MemoryType, Shelf};
use serde::Serialize;

use super::super::error::{CommandError, Exit};
use super::super::runtime::{Runtime, Whose};
use super::super::ui::Ui;
use super::output::{BrokenOutput, MemoryOutput, counted, row, warn_broken};
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

#[derive(Serialize)]
struct ListOutput {
    memories: Vec<MemoryOutput>,
    total: usize,
    broken: Vec<BrokenOutput>,
}

pub(crate) fn cmd_list(
    ui: &mut Ui,
    runtime: &Runtime,
    args: &ListArgs,
) -> Result<Exit, CommandError> {
    let ListArgs { r#type, tag, archived, limit, scope } = args;
    let wanted_type = r#type.map(MemoryType::from);
    let shelf = if *archived { Shelf::Archived } else { Shelf::Active };
    let stores = runtime.stores_to_read(scope.mode())?;
    let mut found = Vec::new();
    let mut broken = Vec::new();
    for scoped in &stores {
        let listing = scoped.store.list(|at| {
            at.shelf == shelf && wanted_type.is_none_or(|wanted| at.memory_type == wanted)
        })?;
        let has_tag = |memory: &Memory| tag.as_ref().is_none_or(|tag| memory.tags.contains(tag));
        found.extend(listing.memories.into_iter().filter(has_tag).map(|memory| (memory, scoped)));
        broken
            .extend(listing.broken.iter().map(|unreadable| BrokenOutput::new(unreadable, scoped)));
    }
    // The project's own come first; within a store, the newest.
    found.sort_by(|(a, of_a), (b, of_b)| {
        let rank = |whose: Whose| u8::from(whose == Whose::Global);
        let newest = || b.updated.cmp(&a.updated).then_with(|| b.at.id.cmp(&a.at.id));
        rank(of_a.whose).cmp(&rank(of_b.whose)).then_with(newest)
    });
    let total = found.len();
    let limit = match limit.unwrap_or(runtime.settings().memory.max_results) {
        0 => total,
        limit => limit,
    };
    found.truncate(limit);
    if ui.is_json() {
        let memories =
            found.iter().map(|(memory, scoped)| MemoryOutput::new(memory, scoped)).collect();
        let exit = exit_code(&broken);
        ui.json(&ListOutput { memories, total, broken })?;
        return Ok(exit);
    }
    let rows: Vec<_> = found.iter().map(|(memory, scoped)| row(memory, scoped.whose)).collect();
    ui.table(&rows)?;
    if total > found.len() {
        ui.status(format!("… {} more; `--limit 0` shows all", counted(total - found.len())))?;
    }
    if total == 0 && broken.is_empty() {
        ui.status("No memories.")?;
    }
    warn_broken(ui, &broken);
    Ok(exit_code(&broken))
}

fn exit_code(broken: &[BrokenOutput]) -> Exit {
    if broken.is_empty() { Exit::Done } else { Exit::Partial }
}
