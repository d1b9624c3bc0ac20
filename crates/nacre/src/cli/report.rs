//! `nacre report`

use clap::Args;
use nacre_api::wire::{MemoryUse, ProjectReport, ReportRequest, ReportedAction, StoreFigures};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, report as ops};

use super::exit::Exit;
use super::memory::counted;
use super::ui::{Role, Ui};

mod team;

/// How many things of a kind are listed on a terminal.
const MAX_LINES: usize = 10;

/// Tell what was learned, merged, put away and used
///
/// Counts from the memories and from the folders of runs; what was undone did not happen. A use is a citation in an answer, a
/// session that said it again, or a person who found it useful.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Only what happened since this day, moment or age [default: 30d; with --team 7d]
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Tell of all projects: what was learned, what is contested, what nobody uses
    #[arg(long, conflicts_with = "html")]
    team: bool,
    /// Write it as one page with plots, which needs nothing else to be shown
    #[arg(long, value_name = "FILE")]
    html: Option<String>,
    /// Write over a file that is not such a page
    #[arg(long, requires = "html")]
    force: bool,
}

pub(crate) fn cmd_report(ui: &mut Ui, host: &Host, args: &ReportArgs) -> Result<Exit, OpError> {
    let ReportArgs { since, team, html, force } = args;
    if *team {
        return team::report_of_team(ui, host, since.clone());
    }
    let request = ReportRequest { since: since.clone(), html: html.clone(), force: *force };
    let report = ops::report(host, &request)?;
    ui.shorten_ids(host, None);
    ui.report(&report, |ui, report| match &report.html {
        Some(file) => ui.status(format!("Written to {}", Shown(file).one_line())),
        None => print(ui, report),
    })
}

fn print(ui: &mut Ui, report: &ProjectReport) -> Result<(), OpError> {
    let ProjectReport { project, report, .. } = report;
    let name = Shown(project).one_line();
    let title = format!("{name}, {} to {}", day(&report.since), day(&report.until));
    ui.line(ui.paint(Role::Title, title))?;
    let kinds: Vec<String> = report.learned.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
    let now: Vec<String> =
        report.memories.iter().map(|(status, n)| format!("{n} {status}")).collect();
    let n_learned: usize = report.learned.values().sum();
    let fates: Vec<String> =
        report.learned_now.iter().map(|(fate, n)| format!("{n} {fate}")).collect();
    let n_held = report.n_used + report.n_never_used + report.n_young;
    let uses = format!(
        "{} used, {} never used, {} too young to tell",
        report.n_used, report.n_never_used, report.n_young
    );
    let numbers = [
        ("memories", now.join(", ")),
        ("learned", join(n_learned, &kinds.join(", "))),
        ("of these", fates.join(", ")),
        ("taken back", taken_back(report)),
        ("sessions", report.sessions.to_string()),
        ("merged", report.merged.len().to_string()),
        ("archived", report.archived.len().to_string()),
        ("overturned", join(report.contradictions.len(), &open(report))),
        ("uses", format!("{}: {uses}", counted(n_held))),
    ];
    let numbers = numbers.into_iter().filter(|(what, number)| {
        !matches!((*what, number.as_str()), ("of these", "") | ("taken back", "0"))
    });
    let rows: Vec<_> = numbers
        .into_iter()
        .map(|(what, number)| vec![(Role::Faint, format!("  {what}")), (Role::Good, number)])
        .collect();
    ui.table(&rows)?;
    print_uses(ui, "Most used", &report.most_used)?;
    print_uses(ui, "Never used", &report.never_used)?;
    print_actions(ui, "Overturned", &report.contradictions)?;
    print_actions(ui, "Merged", &report.merged)?;
    print_actions(ui, "Archived", &report.archived)
}

fn day(time: &str) -> &str {
    time.get(..10).unwrap_or(time)
}

fn open(report: &StoreFigures) -> String {
    match report.open_contradictions {
        0 => String::new(),
        n => format!("{n} more left to you"),
    }
}

/// What was learned and is gone.
fn taken_back(report: &StoreFigures) -> String {
    match report.n_taken_back {
        0 => "0".to_owned(),
        n => format!("{n} more (undone, rejected or forgotten)"),
    }
}

fn join(n: usize, more: &str) -> String {
    if more.is_empty() { n.to_string() } else { format!("{n} ({more})") }
}

fn print_uses(ui: &mut Ui, title: &str, memories: &[MemoryUse]) -> Result<(), OpError> {
    if memories.is_empty() {
        return Ok(());
    }
    ui.line(ui.paint(Role::Title, format!("\n{title}")))?;
    let rows: Vec<_> = memories
        .iter()
        .map(|one| {
            vec![
                (Role::Id, format!("  {}", ui.short_id(&one.id))),
                (Role::Faint, format!("{}×", one.uses)),
                (Role::Faint, format!("{:.2}", one.effective)),
                (Role::Title, Shown(&one.title).one_line()),
            ]
        })
        .collect();
    ui.table(&rows)
}

fn print_actions(ui: &mut Ui, title: &str, actions: &[ReportedAction]) -> Result<(), OpError> {
    if actions.is_empty() {
        return Ok(());
    }
    ui.line(ui.paint(Role::Title, format!("\n{title}")))?;
    for one in actions.iter().take(MAX_LINES) {
        let with = one.with.as_ref().map(|with| format!(" → {with}")).unwrap_or_default();
        let line = format!("{}{with}: {}", one.target, one.reason);
        ui.line(format!("  {}", ui.fitted(2, &Shown(&line).one_line())))?;
    }
    let n_more = actions.len().saturating_sub(MAX_LINES);
    if n_more > 0 {
        ui.line(ui.paint(Role::Faint, format!("  and {n_more} more; `--json` has them all")))?;
    }
    Ok(())
}
