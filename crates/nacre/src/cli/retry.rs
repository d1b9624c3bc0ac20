//! `nacre retry` and what it shares with `nacre skip`.

use clap::Args;
use nacre_core::catalog::{Catalog, CatalogError, JobState, QueueFilter};
use serde_json::json;

use super::exit::Exit;
use super::traces;
use super::ui::{Role, Ui};
use nacre_ops::Host;
use nacre_ops::OpError;

/// Put dead or skipped sessions back into the queue
#[derive(Debug, Args)]
pub(crate) struct RetryArgs {
    #[command(flatten)]
    which: Which,
}

/// Which sessions are meant.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Which {
    /// The start of a session's id, as `nacre queue` shows it
    id: Option<String>,
    /// All of them
    #[arg(long)]
    all: bool,
}

pub(crate) fn cmd_retry(ui: &mut Ui, host: &Host, args: &RetryArgs) -> Result<Exit, OpError> {
    let RetryArgs { which } = args;
    let mut catalog = traces::open_catalog(host)?;
    let keys = which.keys(&catalog, &[JobState::Dead])?;
    let changed = catalog.retry(&keys, host.now())?;
    print(ui, "queued", &changed)
}

impl Which {
    /// The sessions that were named, or all in the given states.
    pub(super) fn keys(
        &self,
        catalog: &Catalog,
        states: &[JobState],
    ) -> Result<Vec<String>, OpError> {
        let Self { id, all: _ } = self;
        let Some(id) = id else {
            let mut keys = Vec::new();
            for state in states {
                let filter = QueueFilter { state: Some(*state), ..QueueFilter::default() };
                keys.extend(catalog.jobs(&filter)?.into_iter().map(|job| job.key));
            }
            return Ok(keys);
        };
        let keys = catalog.keys_starting(id)?;
        match keys.len() {
            1 => Ok(keys),
            0 => Err(CatalogError::UnknownTrace { id: id.clone() }.into()),
            n_found => Err(CatalogError::Ambiguous { id: id.clone(), n_found }.into()),
        }
    }
}

/// Says what became of the sessions.
pub(super) fn print(ui: &mut Ui, verb: &str, keys: &[String]) -> Result<Exit, OpError> {
    if ui.is_json() {
        ui.json(&json!({ "done": verb, "ids": keys }))?;
        return Ok(Exit::Done);
    }
    for key in keys {
        ui.status(format!("{} {verb}", ui.paint(Role::Id, key)))?;
    }
    if keys.is_empty() {
        ui.status("Nothing to do.")?;
    }
    Ok(Exit::Done)
}
