//! Checks all files in the stores, and changes nothing unless `--fix` is given. The result is
//! stored in the catalog, where `status` reads it.

use nacre_traces::catalog::{Catalog, JobQueue as _, ServiceRun};
use nacre_types::{
    DoctorReport, DoctorRequest, Health, MendedFile, ProjectState, RunMode, Scope, Severity,
    StoreCheck,
};

use super::project::entries;
use crate::error::Result;
use crate::host::{Host, ScopedStore, open_catalog};
use crate::recording::CommandChange;
use crate::run::change::Reversal;
use crate::sync::evidence::verify;

pub fn doctor(host: &Host, request: &DoctorRequest) -> Result<DoctorReport> {
    let DoctorRequest { scope, strict, evidence, fix } = request;
    let command = CommandChange::new(RunMode::Memory, "doctor --fix");
    let mut mended = Vec::new();
    if *fix {
        for scoped in host.stores_to_read(*scope)? {
            mended.extend(mend(host, &scoped, &command)?);
        }
    }
    let mut stores = Vec::new();
    for scoped in host.stores_to_read(*scope)? {
        stores.push(check(&scoped, *evidence)?);
    }
    let config = host.mistake.clone();
    let mut gone = if *scope == Some(Scope::ProjectOnly) { Vec::new() } else { entries(host) };
    gone.retain(|project| project.state != ProjectState::Ready);
    let errors = count(&stores, Severity::Error) + usize::from(config.is_some()) + gone.len();
    let warnings = count(&stores, Severity::Warning);
    let is_broken = errors > 0 || (*strict && warnings > 0);
    let health = if is_broken { Health::Broken } else { Health::Ok };
    let change = command.id();
    let report = DoctorReport { health, config, stores, gone, errors, warnings, mended, change };
    if scope.is_none() {
        remember_check(host, &report);
    }
    Ok(report)
}

fn mend(host: &Host, scoped: &ScopedStore, command: &CommandChange<'_>) -> Result<Vec<MendedFile>> {
    let mut batch = scoped.store.begin(&host.owner("doctor"), host.settings().lock.wait)?;
    let mended = batch.mend(host.now())?;
    if !mended.is_empty() {
        command.commit(host, scoped, batch, Reversal::Plan)?;
    }
    let full = |path: &str| scoped.store.path().join(path).display().to_string();
    Ok(mended.into_iter().map(|file| MendedFile { path: full(&file.path), ..file }).collect())
}

fn check(scoped: &ScopedStore, with_evidence: bool) -> Result<StoreCheck> {
    let checked = scoped.store.check()?;
    let mut findings = checked.findings;
    let mut quotes = None;
    if with_evidence {
        let (counts, found) = verify(&scoped.store)?;
        quotes = Some(counts);
        for one in found {
            let is_reported = || findings.iter().any(|finding| finding.path == one.path);
            if one.severity == Severity::Error || !is_reported() {
                findings.push(one);
            }
        }
    }
    Ok(StoreCheck {
        scope: scoped.scope,
        path: scoped.store.path().display().to_string(),
        memories: checked.n_memories,
        evidence: checked.n_evidence,
        foreign: checked.n_foreign,
        quarantined: checked.n_quarantined,
        quotes,
        findings,
    })
}

fn count(stores: &[StoreCheck], severity: Severity) -> usize {
    let findings = stores.iter().flat_map(|store| &store.findings);
    findings.filter(|finding| finding.severity == severity).count()
}

/// Stores the result of a check. Errors are ignored, and the global directory is not created if it
/// is missing.
fn remember_check(host: &Host, report: &DoctorReport) {
    let (name, now) = (name(host), host.now());
    if host.home().is_ok_and(std::path::Path::is_dir)
        && let Ok(mut catalog) = open_catalog(host)
        && catalog.begin_run(&name, &name, now).is_ok()
    {
        let _ = catalog.end_run(&name, report.health.as_str(), now);
    }
}

pub(super) fn last_check(host: &Host, catalog: &Catalog) -> Result<(Health, Option<String>)> {
    let Some(ServiceRun { outcome, finished, .. }) = catalog.last_run(&name(host))? else {
        return Ok((Health::Unchecked, None));
    };
    let known = outcome.as_deref().and_then(Health::from_name);
    Ok((known.unwrap_or(Health::Unchecked), finished.map(|at| at.to_string())))
}

/// Each project has its own result, because a check covers the current project and the user's own
/// store.
fn name(host: &Host) -> String {
    let project = host.project_key();
    format!("doctor {}", project.unwrap_or_default())
}
