//! `nacre doctor`: every file of the stores, read and judged.

use clap::Args;
use nacre_api::wire::{DoctorReport, DoctorRequest, Finding, Health, Severity, StoreCheck};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError};

use super::exit::Exit;
use super::memory::{ScopeArg, counted};
use super::ui::{Role, Ui};

/// Check every file of the store and say what is wrong
///
/// Finds broken frontmatter, git conflict markers, ids that stand twice, links to memories that do
/// not exist, memories that are overturned by nothing but a newer file's word, evidence without its
/// memory, and leftovers. It changes nothing. Ends with 1 when something cannot be used as it is;
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
}

pub(crate) fn cmd_doctor(ui: &mut Ui, host: &Host, args: &DoctorArgs) -> Result<Exit, OpError> {
    let DoctorArgs { scope, strict, evidence } = args;
    let request = DoctorRequest { scope: scope.mode(), strict: *strict, evidence: *evidence };
    let report = nacre_ops::doctor(host, &request)?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &DoctorReport) -> Result<(), OpError> {
    for store in &report.stores {
        store.findings.iter().try_for_each(|finding| print_finding(ui, store, finding))?;
    }
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
