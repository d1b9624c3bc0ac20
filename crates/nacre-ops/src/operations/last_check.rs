//! What the last check of the stores came to, remembered among the runs of the catalog.

use nacre_api::wire::{DoctorReport, Health};
use nacre_core::catalog::{Catalog, ServiceRun};

use crate::error::OpError;
use crate::host::{Host, open_catalog};

/// The last check from the place that a command is run in.
pub(super) struct LastCheck {
    pub(super) health: Health,
    /// When it was; nothing where there was none.
    pub(super) at: Option<String>,
}

/// Keeps the outcome of a check. Best effort: errors are ignored, and where there is no global folder none is made.
pub(super) fn remember_check(host: &Host, report: &DoctorReport) {
    if host.home().is_ok_and(std::path::Path::is_dir) {
        let _ = write(host, report);
    }
}

fn write(host: &Host, report: &DoctorReport) -> Result<(), OpError> {
    let (name, now) = (name(host), host.now());
    let mut catalog = open_catalog(host)?;
    catalog.begin_run(&name, &name, now)?;
    catalog.end_run(&name, report.health.as_str(), now)?;
    Ok(())
}

/// The last check, as the catalog remembers it.
pub(super) fn last_check(host: &Host, catalog: &Catalog) -> Result<LastCheck, OpError> {
    let Some(ServiceRun { outcome, finished, .. }) = catalog.last_run(&name(host))? else {
        return Ok(LastCheck { health: Health::Unchecked, at: None });
    };
    let health = match outcome.as_deref() {
        Some("ok") => Health::Ok,
        Some("broken") => Health::Broken,
        _ => Health::Unchecked,
    };
    Ok(LastCheck { health, at: finished.map(|at| at.to_string()) })
}

/// A check is of the project around and the person's own store, so each project has its own.
fn name(host: &Host) -> String {
    let project = host.project.as_ref().map(|project| project.path.display().to_string());
    format!("doctor {}", project.unwrap_or_default())
}
