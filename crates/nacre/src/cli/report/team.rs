//! `nacre report --team`

use nacre_api::wire::{
    ContestedPair, MemoryUse, ProjectContradiction, ProjectMemory, TeamProject, TeamReport,
    TeamReportRequest,
};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, team as ops};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};
use super::day;

pub(super) fn report_of_team(
    ui: &mut Ui,
    host: &Host,
    since: Option<String>,
) -> Result<Exit, OpError> {
    let events = ui.cancellable_events();
    let report = ops::report(host, &TeamReportRequest { since }, &events)?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &TeamReport) -> Result<(), OpError> {
    let TeamReport { since, until, projects, n_projects, across, n_not_compared, unreadable } =
        report;
    let title = format!("{n_projects} projects, {} to {}", day(since), day(until));
    ui.line(ui.paint(Role::Title, title))?;
    for project in projects {
        print_project(ui, project)?;
    }
    if !across.is_empty() {
        ui.line(ui.paint(Role::Title, "\nProjects that contradict each other"))?;
    }
    for ProjectContradiction { newer, older, .. } in across {
        print_line(ui, &format!("{}, but {}", named(newer), named(older)))?;
    }
    if *n_not_compared > 0 {
        ui.hint(&format!("{n_not_compared} older memories were not compared"));
    }
    for name in unreadable {
        ui.warning(format!("`{}` cannot be read", Shown(name).one_line()), None);
    }
    Ok(())
}

fn named(memory: &ProjectMemory) -> String {
    format!("{} says \u{201c}{}\u{201d} [{}]", memory.project, memory.title, memory.id)
}

fn print_project(ui: &mut Ui, project: &TeamProject) -> Result<(), OpError> {
    let TeamProject { project, learned, n_learned, contested, unused, n_unused } = project;
    ui.line(ui.paint(Role::Title, format!("\n{}", Shown(project).one_line())))?;
    print_memories(ui, "learned", *n_learned, learned)?;
    if !contested.is_empty() {
        ui.line(format!("  {} contested", contested.len()))?;
    }
    for ContestedPair { newer, newer_title, older, older_title, .. } in contested {
        let line = format!("  {newer_title} [{newer}], but {older_title} [{older}]");
        print_line(ui, &line)?;
    }
    print_memories(ui, "used by nobody", *n_unused, unused)
}

fn print_memories(
    ui: &mut Ui,
    what: &str,
    n_all: usize,
    memories: &[MemoryUse],
) -> Result<(), OpError> {
    if memories.is_empty() {
        return Ok(());
    }
    ui.line(format!("  {n_all} {what}"))?;
    for memory in memories {
        print_line(ui, &format!("  {} [{}]", memory.title, memory.id))?;
    }
    match n_all - memories.len().min(n_all) {
        0 => Ok(()),
        n_more => ui.line(ui.paint(Role::Faint, format!("    and {n_more} more"))),
    }
}

fn print_line(ui: &mut Ui, line: &str) -> Result<(), OpError> {
    ui.line(format!("  {}", ui.fitted(2, &Shown(line).one_line())))
}
