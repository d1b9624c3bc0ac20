//! `nacre report`

use std::path::Path;

use clap::Args;
use nacre_core::base::Shown;
use nacre_core::safefs::{Access, RelPath, WriteScope};
use nacre_engine::flows::report::{Happened, Listed, Report, page, report};
use serde_json::json;

use super::exit::Exit;
use super::traces::parse_when;
use super::ui::{Role, Ui};
use nacre_api::wire::StoreScope;
use nacre_ops::Host;
use nacre_ops::OpError;

/// How many things of a kind are listed on a terminal.
const MAX_LINES: usize = 10;

/// Tell what was learned, merged, put away and used
///
/// Counts from the memories and from the folders of runs; what was undone did not happen. A use is a citation in an answer, a
/// session that said it again, or a person who found it useful.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Only what happened since this day, moment or age
    #[arg(long, value_name = "WHEN", default_value = "30d")]
    since: String,
    /// Write it as one page with plots, which needs nothing else to be shown
    #[arg(long, value_name = "FILE")]
    html: Option<String>,
}

pub(crate) fn cmd_report(ui: &mut Ui, host: &Host, args: &ReportArgs) -> Result<Exit, OpError> {
    let ReportArgs { since, html } = args;
    let now = host.now();
    let since = parse_when(since, now)?;
    let scoped = host.store_to_write(None)?;
    let found = report(&scoped.store, since, now)?;
    let project = host.project.as_ref().filter(|_| scoped.scope == StoreScope::Project);
    let name = project.map_or_else(
        || "global".to_owned(),
        |project| {
            let folder = project.path.file_name().map(|name| name.to_string_lossy().into_owned());
            project.name.clone().or(folder).unwrap_or_default()
        },
    );
    if let Some(file) = html {
        write(host, file, &page(&found, &name))?;
    }
    match (ui.is_json(), html) {
        (true, _) => ui.json(&json!({ "project": name, "html": html, "report": found }))?,
        (false, Some(file)) => ui.status(format!("Written to {}", Shown(file).one_line()))?,
        (false, None) => print(ui, &name, &found)?,
    }
    Ok(Exit::Done)
}

fn write(host: &Host, file: &str, page: &str) -> Result<(), OpError> {
    let path = host.environment.absolute(Path::new(file));
    let name = path.file_name().and_then(|name| name.to_str());
    let (Some(folder), Some(name)) = (path.parent(), name) else {
        return Err(OpError::usage(format!("`{file}` is no name for a file")));
    };
    let scope = WriteScope::open(folder, Access::Shared)?;
    scope.put_output(&RelPath::new(name)?, page.as_bytes(), &host.owner("report"))?;
    Ok(())
}

fn print(ui: &mut Ui, name: &str, report: &Report) -> Result<(), OpError> {
    let day = |time: jiff::Timestamp| time.strftime("%Y-%m-%d").to_string();
    let title =
        format!("{}, {} to {}", Shown(name).one_line(), day(report.since), day(report.until));
    ui.line(ui.paint(Role::Title, title))?;
    let kinds: Vec<String> = report.learned.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
    let now: Vec<String> =
        report.memories.iter().map(|(status, n)| format!("{n} {status}")).collect();
    let n_learned: usize = report.learned.values().sum();
    let numbers = [
        ("memories", now.join(", ")),
        ("learned", join(n_learned, &kinds.join(", "))),
        ("sessions", report.sessions.to_string()),
        ("merged", report.merged.len().to_string()),
        ("archived", report.archived.len().to_string()),
        ("overturned", join(report.contradictions.len(), &open(report))),
        ("never used", report.n_never_used.to_string()),
    ];
    let rows: Vec<_> = numbers
        .into_iter()
        .map(|(what, told)| vec![(Role::Faint, format!("  {what}")), (Role::Good, told)])
        .collect();
    ui.table(&rows)?;
    listed(ui, "Most used", &report.most_used)?;
    listed(ui, "Never used", &report.never_used)?;
    happened(ui, "Overturned", &report.contradictions)?;
    happened(ui, "Merged", &report.merged)?;
    happened(ui, "Archived", &report.archived)
}

fn open(report: &Report) -> String {
    match report.open_contradictions {
        0 => String::new(),
        n => format!("{n} more left to you"),
    }
}

fn join(n: usize, more: &str) -> String {
    if more.is_empty() { n.to_string() } else { format!("{n} ({more})") }
}

fn listed(ui: &mut Ui, title: &str, listed: &[Listed]) -> Result<(), OpError> {
    if listed.is_empty() {
        return Ok(());
    }
    ui.line(ui.paint(Role::Title, format!("\n{title}")))?;
    let rows: Vec<_> = listed
        .iter()
        .map(|one| {
            vec![
                (Role::Id, format!("  {}", one.id)),
                (Role::Faint, format!("{}×", one.uses)),
                (Role::Faint, format!("{:.2}", one.effective)),
                (Role::Title, Shown(&one.title).one_line()),
            ]
        })
        .collect();
    ui.table(&rows)
}

fn happened(ui: &mut Ui, title: &str, happened: &[Happened]) -> Result<(), OpError> {
    if happened.is_empty() {
        return Ok(());
    }
    ui.line(ui.paint(Role::Title, format!("\n{title}")))?;
    for one in happened.iter().take(MAX_LINES) {
        let with = one.with.as_ref().map(|with| format!(" → {with}")).unwrap_or_default();
        let line = format!("{}{with}: {}", one.target, one.reason);
        ui.line(format!("  {}", Shown(&line).one_line()))?;
    }
    let n_more = happened.len().saturating_sub(MAX_LINES);
    if n_more > 0 {
        ui.line(ui.paint(Role::Faint, format!("  and {n_more} more; `--json` has them all")))?;
    }
    Ok(())
}
