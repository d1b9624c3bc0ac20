//! `nacre doctor`: every file of the stores, read and judged.

use clap::Args;
use nacre_core::base::Shown;
use nacre_core::memory::{CheckReport, Finding, Severity, Store};
use nacre_engine::flows::evidence::verify;
use serde::Serialize;

use super::exit::Exit;
use super::memory::{ScopeArg, counted};
use super::ui::{Role, Ui};
use nacre_ops::Host;
use nacre_ops::OpError;

/// As much is shown of a quote.
const MAX_SHOWN_BYTES: usize = 300;

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

#[derive(Serialize)]
struct DoctorOutput {
    health: &'static str,
    /// What is wrong with the settings of the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<String>,
    stores: Vec<StoreOutput>,
    errors: usize,
    warnings: usize,
}

#[derive(Serialize)]
struct StoreOutput {
    scope: &'static str,
    path: String,
    memories: usize,
    evidence: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    quotes: Option<QuotesOutput>,
    findings: Vec<FindingOutput>,
}

/// What became of the quotes that were looked up.
#[derive(Serialize)]
struct QuotesOutput {
    verified: usize,
    by_hand: usize,
    unchecked: usize,
    missing: usize,
    unreadable: usize,
}

#[derive(Serialize)]
struct FindingOutput {
    severity: &'static str,
    path: String,
    line: Option<usize>,
    message: String,
    hint: Option<String>,
}

pub(crate) fn cmd_doctor(ui: &mut Ui, host: &Host, args: &DoctorArgs) -> Result<Exit, OpError> {
    let DoctorArgs { scope, strict, evidence } = args;
    let config = host.mistake.clone();
    let errors = usize::from(config.is_some());
    let mut output = DoctorOutput { health: "ok", config, stores: Vec::new(), errors, warnings: 0 };
    for scoped in host.stores_to_read(scope.mode())? {
        let mut report = scoped.store.check()?;
        let quotes = if *evidence { Some(look_up(&scoped.store, &mut report)?) } else { None };
        output.errors += count(&report.findings, Severity::Error);
        output.warnings += count(&report.findings, Severity::Warning);
        output.stores.push(StoreOutput {
            scope: scoped.scope.as_str(),
            path: scoped.store.path().display().to_string(),
            memories: report.n_memories,
            evidence: report.n_evidence,
            quotes,
            findings: report.findings.into_iter().map(finding_output).collect(),
        });
    }
    let is_sick = output.errors > 0 || (*strict && output.warnings > 0);
    if is_sick {
        output.health = "broken";
    }
    if ui.is_json() {
        ui.json(&output)?;
    } else {
        print(ui, &output)?;
    }
    Ok(if is_sick { Exit::Failed } else { Exit::Done })
}

/// Looks up every quote; one that nobody said is an error.
fn look_up(store: &Store, report: &mut CheckReport) -> Result<QuotesOutput, OpError> {
    let found = verify(store)?;
    report.findings.extend(found.missing.iter().map(|missing| Finding {
        severity: Severity::Error,
        path: format!("meta/evidence/{}.json", missing.id),
        line: None,
        message: format!(
            "the transcript does not hold `{}` at {}",
            shortened(&missing.text),
            shortened(&missing.place)
        ),
        hint: Some(format!("nacre memory show {} --evidence", missing.id)),
    }));
    // What the check of the store has named already is not named twice.
    let is_new = |path: &str| !report.findings.iter().any(|finding| finding.path == path);
    let unusable: Vec<Finding> = found
        .unreadable
        .iter()
        .filter(|file| is_new(&file.path))
        .map(|file| Finding {
            severity: Severity::Warning,
            path: file.path.clone(),
            line: None,
            message: format!("Its quotes are not checked: {}", file.reason),
            hint: None,
        })
        .collect();
    report.findings.extend(unusable);
    Ok(QuotesOutput {
        verified: found.verified,
        by_hand: found.by_hand,
        unchecked: found.unchecked,
        missing: found.missing.len(),
        unreadable: found.n_unreadable,
    })
}

/// The beginning of a text that may be of any length.
fn shortened(text: &str) -> String {
    let end = text.floor_char_boundary(MAX_SHOWN_BYTES);
    if end < text.len() { format!("{}…", &text[..end]) } else { text.to_owned() }
}

fn count(findings: &[Finding], severity: Severity) -> usize {
    findings.iter().filter(|finding| finding.severity == severity).count()
}

fn finding_output(finding: Finding) -> FindingOutput {
    let Finding { severity, path, line, message, hint } = finding;
    let severity = match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    FindingOutput { severity, path, line, message, hint }
}

fn print(ui: &mut Ui, output: &DoctorOutput) -> Result<(), OpError> {
    for store in &output.stores {
        for finding in &store.findings {
            let role = if finding.severity == "error" { Role::Bad } else { Role::Warning };
            let line = finding.line.map_or_else(String::new, |line| format!(":{line}"));
            let place = format!("{}/{}{line}", store.path, finding.path);
            ui.line(format!(
                "{}: {}: {}",
                Shown(&place).one_line(),
                ui.paint(role, finding.severity),
                Shown(&finding.message).one_line()
            ))?;
            if let Some(hint) = &finding.hint {
                ui.line(format!("  {}", ui.paint(Role::Faint, Shown(hint).one_line())))?;
            }
        }
    }
    for quotes in output.stores.iter().filter_map(|store| store.quotes.as_ref()) {
        ui.line(format!(
            "Quotes: {} verified, {} given by hand, {} without a transcript here, {} missing.",
            quotes.verified, quotes.by_hand, quotes.unchecked, quotes.missing
        ))?;
        if quotes.unreadable > 0 {
            ui.line(format!("Files that could not be used for that: {}.", quotes.unreadable))?;
        }
    }
    let n_memories: usize = output.stores.iter().map(|store| store.memories).sum();
    let health = match output.health {
        "ok" => ui.paint(Role::Good, "ok"),
        health => ui.paint(Role::Bad, health),
    };
    let (errors, warnings) = (output.errors, output.warnings);
    let checked = counted(n_memories);
    ui.line(format!("Checked {checked}: {health}, {errors} errors, {warnings} warnings."))
}
