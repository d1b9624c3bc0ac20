//! `nacre doctor`: checks all files in the stores.

use nacre_types::{DoctorReport, DoctorRequest, Health, ProjectState, Severity};

use super::prelude::*;
use super::render::{memories_text, print_undo};

/// Check all files in the store and report problems
///
/// Finds malformed frontmatter, Git conflict markers, duplicate ids, links to missing memories,
/// memories superseded only by an unverified claim, evidence without a memory, leftover files, and
/// registered projects whose store is missing. Changes nothing without `--fix`; `nacre status`
/// shows the result. Exits with 1 on errors, and with `--strict` also on warnings.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    scope: ScopeArg,
    /// Exit with 1 on warnings too
    #[arg(long)]
    strict: bool,
    /// Verify every quote against its transcript
    #[arg(long)]
    evidence: bool,
    /// Apply safe fixes: remove broken links and evidence without a memory; `nacre undo` reverts
    /// them
    #[arg(long)]
    fix: bool,
}

pub(crate) fn cmd_doctor(ui: &mut Ui, host: &Host, args: DoctorArgs) -> CommandResult {
    let DoctorArgs { scope, strict, evidence, fix } = args;
    let request = DoctorRequest { scope: scope.mode(), strict, evidence, fix };
    ui.report(&nacre_ops::doctor(host, &request)?, print)
}

fn print(ui: &mut Ui, report: &DoctorReport) {
    for mended in &report.mended {
        print_problem(ui, &mended.path, Role::Good, "fixed", &mended.what);
    }
    print_undo(ui, report.change.as_deref());
    for store in &report.stores {
        for finding in &store.findings {
            let is_error = finding.severity == Severity::Error;
            let role = if is_error { Role::Bad } else { Role::Warning };
            let line = finding.line.map_or_else(String::new, |line| format!(":{line}"));
            let place = format!("{}/{}{line}", store.path, finding.path);
            print_problem(ui, &place, role, finding.severity.as_str(), &finding.message);
            if let Some(hint) = &finding.hint {
                ui.note(2, Role::Faint, hint);
            }
        }
    }
    for project in &report.gone {
        let name = Shown(&project.name).one_line();
        let message = match project.state {
            ProjectState::NoStore => format!("The store of project `{name}` is missing"),
            ProjectState::Missing | ProjectState::Ready => {
                format!("The directory of project `{name}` is missing")
            }
        };
        print_problem(ui, &project.path, Role::Bad, Severity::Error.as_str(), &message);
        let hint = format!(
            "Restore it, or remove the project: nacre project remove {name}. If it has moved: nacre \
             project add NEW --also {}",
            ShownLine(&project.path)
        );
        ui.note(2, Role::Faint, hint);
    }
    for store in &report.stores {
        let Some(quotes) = &store.quotes else { continue };
        let (scope, by_hand) = (store.scope.as_str(), quotes.by_hand);
        ui.line(format!(
            "Quotes ({scope}): {} verified, {by_hand} by hand, {} without a transcript, {} missing.",
            quotes.verified, quotes.unchecked, quotes.missing
        ));
        if quotes.unreadable > 0 {
            ui.line(format!("Unreadable files: {}.", quotes.unreadable));
        }
    }
    let n_waiting: usize =
        report.stores.iter().map(|store| store.foreign + store.quarantined).sum();
    if n_waiting > 0 {
        ui.line(format!("Untrusted, not used in briefs: {n_waiting}; see nacre trust"));
    }
    let checked = memories_text(report.stores.iter().map(|store| store.memories).sum());
    let role = match report.health {
        Health::Ok => Role::Good,
        Health::Broken | Health::Unchecked => Role::Bad,
    };
    let health = ui.paint(role, report.health.as_str());
    let (errors, warnings) = (report.errors, report.warnings);
    ui.line(format!("Checked {checked}: {health}, {errors} errors, {warnings} warnings."));
}

fn print_problem(ui: &mut Ui, path: &str, role: Role, verdict: &str, message: &str) {
    let (path, message) = (Shown(path).one_line(), Shown(message).one_line());
    ui.line(format!("{path}: {}: {message}", ui.paint(role, verdict)));
}
