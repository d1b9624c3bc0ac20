//! `nacre index rebuild`

use std::time::Duration;

use clap::Args;
use nacre_core::search::{MemoryIndex, clear_index};
use serde_json::json;

use super::super::exit::Exit;
use super::super::memory::{ScopeArg, counted};
use super::super::ui::Ui;
use nacre_ops::Host;
use nacre_ops::OpError;

/// How long another process's index write is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Build the index anew from the memories
#[derive(Debug, Args)]
pub(crate) struct RebuildArgs {
    #[command(flatten)]
    scope: ScopeArg,
}

pub(crate) fn cmd_rebuild(ui: &mut Ui, host: &Host, args: &RebuildArgs) -> Result<Exit, OpError> {
    let owner = host.owner("index rebuild");
    let mut rebuilt = Vec::new();
    for scoped in host.stores_to_read(args.scope.mode())? {
        let embedder = host.embedder(&scoped.settings)?;
        clear_index(&scoped.store, &owner, PATIENCE)?;
        let index = MemoryIndex::open(&scoped.store, &*embedder, &owner, host.now())?;
        rebuilt.push((scoped.scope.as_str(), index.snapshot().n_records()));
    }
    if ui.is_json() {
        let indexes: Vec<_> =
            rebuilt.iter().map(|(scope, n)| json!({ "scope": scope, "records": n })).collect();
        ui.json(&json!({ "done": "rebuilt", "indexes": indexes }))?;
        return Ok(Exit::Done);
    }
    for (scope, n_records) in rebuilt {
        ui.status(format!("Indexed {} ({scope})", counted(n_records)))?;
    }
    Ok(Exit::Done)
}
