//! `nacre runs show`

use clap::Args;
use nacre_api::wire::{
    MaintainAction, Relation, RunReport, RunShowReport, RunShowRequest, SessionAction, SessionRun,
    StoreMaintenance, UndoRunReport,
};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, run as ops};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};

/// Show what a run did, and why
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The run's id, or the start or end of it
    id: String,
}

pub(crate) fn cmd_show(ui: &mut Ui, host: &Host, args: &ShowArgs) -> Result<Exit, OpError> {
    let ShowArgs { id } = args;
    let report = ops::show(host, &RunShowRequest { id: id.clone() })?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &RunShowReport) -> Result<(), OpError> {
    if report.runs.is_empty() {
        return print_run(ui, &report.id, report.report.as_ref());
    }
    let n_runs = report.runs.len();
    ui.line(format!("{}: {n_runs} runs, one a session", ui.paint(Role::Title, &report.id)))?;
    report.runs.iter().try_for_each(|run| {
        ui.line("")?;
        print_run(ui, &run.id, run.report.as_ref())
    })
}

fn print_run(ui: &mut Ui, id: &str, report: Option<&RunReport>) -> Result<(), OpError> {
    ui.line(ui.paint(Role::Title, id))?;
    match report {
        Some(RunReport::Sync(run)) => print_session(ui, run),
        Some(RunReport::Maintain(run)) => print_maintenance(ui, run),
        Some(RunReport::Undo(run)) => print_undo(ui, run),
        None => ui.line(ui.paint(Role::Faint, "It left no report that can be read.")),
    }
}

fn print_session(ui: &mut Ui, run: &SessionRun) -> Result<(), OpError> {
    print_facts(ui, &run.trace_path, &run.finished_at)?;
    for action in &run.actions {
        let target = action.target.as_deref().unwrap_or_default();
        print_action(ui, action.action.as_str(), target)?;
        print_reason(ui, &action.title, &session_reason(action))?;
    }
    for (reason, n) in &run.dropped {
        ui.line(format!("\ndropped {n} {}", reason.as_str()))?;
    }
    match &run.summary_path {
        Some(path) => ui.line(format!("\nsummary {}", Shown(path).one_line())),
        None => Ok(()),
    }
}

fn print_maintenance(ui: &mut Ui, run: &StoreMaintenance) -> Result<(), OpError> {
    print_facts(ui, "", &run.finished_at)?;
    for action in &run.actions {
        print_action(ui, action.action.as_str(), &action.target)?;
        print_reason(ui, &action.title, &maintenance_reason(action))?;
    }
    Ok(())
}

fn print_undo(ui: &mut Ui, run: &UndoRunReport) -> Result<(), OpError> {
    print_facts(ui, &run.of, &run.finished_at)?;
    let mut actions = run.actions.iter();
    actions.try_for_each(|action| print_action(ui, action.action.as_str(), &action.target))
}

/// What the run was about, and when it ended.
fn print_facts(ui: &mut Ui, of: &str, finished_at: &str) -> Result<(), OpError> {
    let facts = [of, &ui.when(finished_at)].map(|fact| Shown(fact).one_line());
    let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
    ui.line(ui.paint(Role::Faint, facts.join(" · ")))
}

fn print_action(ui: &mut Ui, verb: &str, target: &str) -> Result<(), OpError> {
    let target = ui.paint(Role::Id, Shown(target).one_line());
    ui.line(format!("\n{} {target}", ui.paint(Role::Good, verb)))
}

fn print_reason(ui: &mut Ui, title: &str, reason: &str) -> Result<(), OpError> {
    ui.line(format!("  {}", Shown(title).one_line()))?;
    ui.line(format!("  {}", ui.paint(Role::Faint, Shown(reason).one_line())))
}

/// The reason, the band and the numbers behind an action.
fn session_reason(action: &SessionAction) -> String {
    let mut why = action.reason.clone();
    if let Some(likelihood) = action.likelihood {
        let relation = action.relation.map(Relation::as_str).unwrap_or_default();
        why.push_str(&format!(" ({relation} {likelihood:.2}, {})", action.band.as_str()));
    }
    if let Some(note) = &action.note {
        why.push_str(&format!("; the lead: {note}"));
    }
    if let Some(nearest) = &action.nearest {
        why.push_str(&format!("; nearest {nearest}"));
    }
    why
}

fn maintenance_reason(action: &MaintainAction) -> String {
    let with = action.with.as_ref().map(|with| format!("; {with}")).unwrap_or_default();
    format!("{}{with}", action.reason)
}
