//! `nacre index status`

use clap::Args;
use nacre_core::search::{IndexStatus, index_status};
use serde::Serialize;

use super::super::exit::Exit;
use super::super::memory::ScopeArg;
use super::super::ui::{Role, Ui};
use nacre_ops::Host;
use nacre_ops::OpError;
use nacre_ops::host::ScopedStore;

/// Show what the index holds and whether it is up to date
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    scope: ScopeArg,
}

#[derive(Serialize)]
struct StatusOutput {
    indexes: Vec<IndexOutput>,
}

#[derive(Serialize)]
struct IndexOutput {
    scope: &'static str,
    path: String,
    records: usize,
    segments: usize,
    bytes: u64,
    model: String,
    outdated: usize,
}

pub(crate) fn cmd_status(ui: &mut Ui, host: &Host, args: &StatusArgs) -> Result<Exit, OpError> {
    let mut indexes = Vec::new();
    for scoped in host.stores_to_read(args.scope.mode())? {
        let embedder = host.embedder(&scoped.settings)?;
        let status = index_status(&scoped.store, &*embedder, host.now())?;
        indexes.push(output(&scoped, status));
    }
    if ui.is_json() {
        ui.json(&StatusOutput { indexes })?;
        return Ok(Exit::Done);
    }
    for index in &indexes {
        let state = match index.outdated {
            0 => "up to date".to_owned(),
            n => format!("{n} files to look at; the next search will"),
        };
        let size =
            format!("{} in {} segments, {} KiB", index.records, index.segments, index.bytes / 1024);
        ui.table(&[vec![
            (Role::Title, index.scope.to_owned()),
            (Role::Faint, size),
            (Role::Faint, index.model.clone()),
            (Role::Faint, state),
        ]])?;
    }
    Ok(Exit::Done)
}

fn output(scoped: &ScopedStore, status: IndexStatus) -> IndexOutput {
    IndexOutput {
        scope: scoped.scope.as_str(),
        path: scoped.store.path().join("index").display().to_string(),
        records: status.n_records,
        segments: status.n_segments,
        bytes: status.n_bytes,
        model: status.model,
        outdated: status.n_outdated,
    }
}
