//! `nacre doctor`: every file of the stores, read and judged.

use clap::Args;
use nacre_api::wire::{
    DoctorReport, DoctorRequest, Finding, Health, ProjectEntry, ProjectState, Severity, StoreCheck,
};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError};

use super::exit::Exit;
use super::memory::{ScopeArg, counted, print_undo};
use super::ui::{Role, Ui};

/// Check every file of the store and say what is wrong
///
/// Finds broken frontmatter, git conflict markers, ids that stand twice, links to memories that do
/// not exist, memories that are overturned by nothing but a newer file's word, evidence without its
/// memory, leftovers, and registered projects whose store is gone. Without `--fix` it changes nothing;
/// `nacre status` remembers what it found. Ends with 1 when something cannot be used as it is;
/// with `--strict` also when something only looks wrong.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    scope: ScopeArg,
    /// Fail on warnings too
    #[arg(long)]
    strict: bool,
    /// Look up every quote in the transcript it is from
    #[arg(long)]
    evidence: bool,
    /// Mend what is safe to mend: take out links that lead nowhere, remove evidence without its memory; `nacre undo`
    /// takes it back
    #[arg(long)]
    fix: bool,
}

pub(crate) fn cmd_doctor(ui: &mut Ui, host: &Host, args: &DoctorArgs) -> Result<Exit, OpError> {
    let DoctorArgs { scope, strict, evidence, fix } = args;
    let (scope, strict, evidence) = (scope.mode(), *strict, *evidence);
    let request = DoctorRequest { scope, strict, evidence, fix: *fix };
    let report = nacre_ops::doctor(host, &request)?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &DoctorReport) -> Result<(), OpError> {
    for mended in &report.mended {
        let path = Shown(&mended.path).one_line();
        ui.line(format!(
            "{path}: {}: {}",
            ui.paint(Role::Good, "mended"),
            Shown(&mended.what).one_line()
        ))?;
    }
    print_undo(ui, report.change.as_deref())?;
    for store in &report.stores {
        store.findings.iter().try_for_each(|finding| print_finding(ui, store, finding))?;
    }
    report.gone.iter().try_for_each(|project| print_gone(ui, project))?;
    print_quotes(ui, &report.stores)?;
    let n_waiting: usize =
        report.stores.iter().map(|store| store.foreign + store.quarantined).sum();
    if n_waiting > 0 {
        ui.line(format!("From elsewhere and not used in briefs: {n_waiting}; see nacre trust"))?;
    }
    let n_memories: usize = report.stores.iter().map(|store| store.memories).sum();
    let role = match report.health {
        Health::Ok => Role::Good,
        Health::Broken | Health::Unchecked => Role::Bad,
    };
    let health = ui.paint(role, report.health.as_str());
    let (errors, warnings) = (report.errors, report.warnings);
    let checked = counted(n_memories);
    ui.line(format!("Checked {checked}: {health}, {errors} errors, {warnings} warnings."))
}

/// A registered project whose store is gone.
fn print_gone(ui: &mut Ui, project: &ProjectEntry) -> Result<(), OpError> {
    let (path, name) = (Shown(&project.path).one_line(), Shown(&project.name).one_line());
    let message = match project.state {
        ProjectState::NoStore => format!("The store of project `{name}` is gone"),
        ProjectState::Missing | ProjectState::Ready => {
            format!("The folder of project `{name}` is gone")
        }
    };
    ui.line(format!("{path}: {}: {message}", ui.paint(Role::Bad, Severity::Error.as_str())))?;
    let hint =
        format!("Bring it back, or take it out of the register: nacre project remove {name}");
    ui.line(format!("  {}", ui.paint(Role::Faint, hint)))
}

fn print_finding(ui: &mut Ui, store: &StoreCheck, finding: &Finding) -> Result<(), OpError> {
    let role = match finding.severity {
        Severity::Error => Role::Bad,
        Severity::Warning => Role::Warning,
    };
    let line = finding.line.map_or_else(String::new, |line| format!(":{line}"));
    let place = format!("{}/{}{line}", store.path, finding.path);
    ui.line(format!(
        "{}: {}: {}",
        Shown(&place).one_line(),
        ui.paint(role, finding.severity.as_str()),
        Shown(&finding.message).one_line()
    ))?;
    match &finding.hint {
        Some(hint) => ui.line(format!("  {}", ui.paint(Role::Faint, Shown(hint).one_line()))),
        None => Ok(()),
    }
}

fn print_quotes(ui: &mut Ui, stores: &[StoreCheck]) -> Result<(), OpError> {
    for quotes in stores.iter().filter_map(|store| store.quotes.as_ref()) {
        ui.line(format!(
            "Quotes: {} verified, {} given by hand, {} without a transcript here, {} missing.",
            quotes.verified, quotes.by_hand, quotes.unchecked, quotes.missing
        ))?;
        if quotes.unreadable > 0 {
            ui.line(format!("Files that could not be used for that: {}.", quotes.unreadable))?;
        }
    }
    Ok(())
}
