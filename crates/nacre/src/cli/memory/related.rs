//! `nacre memory related`

use clap::Args;
use nacre_core::base::Shown;
use nacre_core::search::{Kin, MemoryIndex};
use serde::Serialize;

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};
use super::ScopeArg;
use super::output::{MemoryOutput, memory_row};
use super::search::EdgeOutput;
use nacre_api::wire::OtherPlace;
use nacre_ops::Host;
use nacre_ops::OpError;
use nacre_ops::host::Holding;

/// Show the memories that belong to one
///
/// By its own links, and by what it shares with others: the session it comes from, files and symbols
/// that it names, tags.
#[derive(Debug, Args)]
pub(crate) struct RelatedArgs {
    /// The memory's id, or the start of it
    id: String,
    /// At most this many; 0 for all [default: the setting memory.max_results]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    scope: ScopeArg,
}

#[derive(Serialize)]
struct RelatedOutput {
    id: String,
    related: Vec<KinOutput>,
    total: usize,
    also_in: Vec<OtherPlace>,
}

#[derive(Serialize)]
struct KinOutput {
    edge: EdgeOutput,
    #[serde(flatten)]
    memory: MemoryOutput,
}

pub(crate) fn cmd_related(ui: &mut Ui, host: &Host, args: &RelatedArgs) -> Result<Exit, OpError> {
    let RelatedArgs { id, limit, scope } = args;
    let Holding { scoped, also_in } = host.store_of(&ui.events(), scope.mode(), id)?;
    let id = scoped.store.locate(id)?.id;
    let embedder = host.embedder(&scoped.settings)?;
    let owner = host.owner("memory related");
    let index = MemoryIndex::open(&scoped.store, &*embedder, &owner, host.now())?;
    let mut related = index.related(id.as_str());
    let total = related.len();
    let limit = limit.unwrap_or(host.settings().memory.max_results);
    related.truncate(if limit == 0 { total } else { limit });
    if ui.is_json() {
        let related = related.iter().map(|(kin, memory)| KinOutput {
            edge: EdgeOutput::new(kin),
            memory: MemoryOutput::new(memory, &scoped),
        });
        let (id, related) = (id.to_string(), related.collect());
        ui.json(&RelatedOutput { id, related, total, also_in })?;
        return Ok(Exit::Done);
    }
    for (kin, memory) in &related {
        ui.table(&[memory_row(memory, scoped.scope)])?;
        ui.line(format!("    {}", ui.paint(Role::Faint, reason(kin))))?;
    }
    match (total, total - related.len()) {
        (0, _) => ui.status("Nothing belongs to it.")?,
        (_, 0) => {}
        (_, n_more) => ui.status(format!("… {n_more} more; `--limit 0` shows all"))?,
    }
    Ok(Exit::Done)
}

fn reason(kin: &Kin) -> String {
    match &kin.shared {
        Some(shared) => format!("{} {}", kin.kind.as_str(), Shown(shared).one_line()),
        None => kin.kind.as_str().to_owned(),
    }
}
