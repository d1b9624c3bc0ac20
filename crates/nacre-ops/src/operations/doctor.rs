//! Reads every file of the stores and says what is wrong. It changes nothing in them, unless it is asked to mend; that there was
//! a check, and its outcome, is remembered for `status`.

use nacre_api::wire::{
    DoctorReport, DoctorRequest, Finding, Health, MendedFile, ProjectEntry, ProjectState,
    QuoteCheck, Scope, Severity, StoreCheck,
};
use nacre_core::memory::{self, Store};
use nacre_engine::flows::change::Reversal;
use nacre_engine::flows::evidence::{EvidenceReport, verify};
use nacre_engine::flows::run::RunMode;

use super::last_check::remember_check;
use super::project::entries;
use crate::error::OpError;
use crate::host::{Host, ScopedStore};
use crate::operations::recording::CommandChange;

/// As much is shown of a quote.
const MAX_SHOWN_BYTES: usize = 300;

pub fn doctor(host: &Host, request: &DoctorRequest) -> Result<DoctorReport, OpError> {
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
    let gone = if *scope == Some(Scope::ProjectOnly) { Vec::new() } else { gone_projects(host) };
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

/// Registered projects without a store.
fn gone_projects(host: &Host) -> Vec<ProjectEntry> {
    let is_gone = |project: &ProjectEntry| match project.state {
        ProjectState::NoStore | ProjectState::Missing => true,
        ProjectState::Ready => false,
    };
    entries(host).into_iter().filter(is_gone).collect()
}

/// Mends what needs nobody's judgement.
fn mend(
    host: &Host,
    scoped: &ScopedStore,
    command: &CommandChange<'_>,
) -> Result<Vec<MendedFile>, OpError> {
    let mut batch = scoped.store.begin(&host.owner("doctor"), host.settings().lock.wait)?;
    let mended = batch.mend(host.now())?;
    if !mended.is_empty() {
        command.commit(host, scoped, batch, Reversal::Plan)?;
    }
    let full = |path: &str| scoped.store.path().join(path).display().to_string();
    let file = |one: memory::Mended| MendedFile { path: full(&one.path), what: one.what };
    Ok(mended.into_iter().map(file).collect())
}

fn check(scoped: &ScopedStore, with_evidence: bool) -> Result<StoreCheck, OpError> {
    let checked = scoped.store.check()?;
    let mut findings: Vec<Finding> = checked.findings.into_iter().map(finding).collect();
    let quotes = if with_evidence { Some(look_up(&scoped.store, &mut findings)?) } else { None };
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

/// Looks up every quote; one that nobody said is an error.
fn look_up(store: &Store, findings: &mut Vec<Finding>) -> Result<QuoteCheck, OpError> {
    let found = verify(store)?;
    findings.extend(missing_quotes(&found));
    // What the check of the store has named already is not named twice.
    let is_new = |path: &str| !findings.iter().any(|finding| finding.path == path);
    let unusable = found.unreadable.iter().filter(|file| is_new(&file.path)).map(|file| Finding {
        severity: Severity::Warning,
        path: file.path.clone(),
        line: None,
        message: format!("Its quotes are not checked: {}", file.reason),
        hint: None,
    });
    let unusable: Vec<Finding> = unusable.collect();
    findings.extend(unusable);
    Ok(QuoteCheck {
        verified: found.verified,
        by_hand: found.by_hand,
        unchecked: found.unchecked,
        missing: found.missing.len(),
        unreadable: found.n_unreadable,
    })
}

fn missing_quotes(found: &EvidenceReport) -> impl Iterator<Item = Finding> {
    found.missing.iter().map(|missing| Finding {
        severity: Severity::Error,
        path: format!("meta/evidence/{}.json", missing.id),
        line: None,
        message: format!(
            "the transcript does not hold `{}` at {}",
            shortened(&missing.text),
            shortened(&missing.place)
        ),
        hint: Some(format!("nacre memory show {} --evidence", missing.id)),
    })
}

/// The beginning of a text that may be of any length.
fn shortened(text: &str) -> String {
    let end = text.floor_char_boundary(MAX_SHOWN_BYTES);
    if end < text.len() { format!("{}…", &text[..end]) } else { text.to_owned() }
}

fn finding(finding: memory::Finding) -> Finding {
    let memory::Finding { severity, path, line, message, hint } = finding;
    let severity = match severity {
        memory::Severity::Error => Severity::Error,
        memory::Severity::Warning => Severity::Warning,
    };
    Finding { severity, path, line, message, hint }
}
