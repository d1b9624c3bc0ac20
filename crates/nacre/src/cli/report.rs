//! `nacre report`

use nacre_ops::{report as ops, team};
use nacre_types::{
    ContestedPair, MemoryUse, ProjectContradiction, ProjectMemory, ProjectReport, RepeatedClaim,
    ReportRequest, ReportedAction, SinceRequest, Speaker, TeamProject, TeamReport,
};

use super::layout::day;
use super::prelude::*;
use super::render::{count, memories_text};

const MAX_LINES: usize = 10;

/// Report what was learned, merged, archived and used
///
/// Counts memories and run directories; undone changes are not counted. A memory counts as used
/// when an answer cites it, a session states it again, or you rate it as useful.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Only activity since this date, time or age [default: 30d; with --team 7d]
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Report on all projects: learned, contested and unused memories
    #[arg(long, conflicts_with = "html")]
    team: bool,
    /// Write a self-contained HTML page with plots
    #[arg(long, value_name = "FILE")]
    html: Option<String>,
    /// Overwrite a file that is not a Nacre report
    #[arg(long, requires = "html")]
    force: bool,
    /// List the claims that several sessions made, and whether Nacre already knew them
    #[arg(long, conflicts_with_all = ["team", "html"])]
    repeats: bool,
}

pub(crate) fn cmd_report(ui: &mut Ui, host: &Host, args: ReportArgs) -> CommandResult {
    let ReportArgs { since, team, html, force, repeats } = args;
    if team {
        let report = team::report(host, &SinceRequest { since }, &ui.cancellable_events())?;
        return ui.report(&report, print_team);
    }
    let report = ops::report(host, &ReportRequest { since, html, force })?;
    ui.shorten_ids(host, None);
    ui.report(&report, |ui, report| match &report.html {
        Some(file) => ui.status(format!("Written to {}", Shown(file).one_line())),
        None if repeats => print_repeats(ui, &report.report.repeats),
        None => print(ui, report),
    })
}

fn print(ui: &mut Ui, ProjectReport { project, report, .. }: &ProjectReport) {
    ui.note(0, Role::Title, format!("{project}, {} to {}", day(&report.since), day(&report.until)));
    let join = |parts: Vec<String>| parts.join(", ");
    let with_note = |n: usize, note: &str| {
        if note.is_empty() { n.to_string() } else { format!("{n} ({note})") }
    };
    let memories = report.memories.iter().map(|(status, n)| format!("{n} {status}")).collect();
    let kinds = report.learned.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
    let fates = report.learned_now.iter().map(|(fate, n)| format!("{n} {fate}")).collect();
    let open = match report.open_contradictions {
        0 => String::new(),
        n => format!("{n} more need your decision"),
    };
    let (used, never, young) = (report.n_used, report.n_never_used, report.n_young);
    let held = memories_text(used + never + young);
    let mut numbers = vec![
        ("memories", join(memories)),
        ("learned", with_note(report.learned.values().sum(), &join(kinds))),
    ];
    numbers.extend((!report.learned_now.is_empty()).then(|| ("of these", join(fates))));
    if report.n_taken_back > 0 {
        let taken_back = format!("{} more (undone, rejected or forgotten)", report.n_taken_back);
        numbers.push(("taken back", taken_back));
    }
    numbers.extend([
        ("sessions", report.sessions.to_string()),
        ("merged", report.merged.len().to_string()),
        ("archived", with_note(report.archived.len(), "by maintain")),
        ("overturned", with_note(report.contradictions.len(), &open)),
        ("uses", format!("{held}: {used} used, {never} never used, {young} too recent to tell")),
    ]);
    numbers.extend((report.n_given > 0).then(|| {
        let sessions = count(report.n_given_sessions, "recent session");
        let given = memories_text(report.n_given);
        ("given", format!("{given} to {sessions}; {} were used", report.n_given_used))
    }));
    ui.table(
        numbers
            .into_iter()
            .map(|(name, number)| [faint(format!("  {name}")), cell(Role::Good, number)]),
    );
    print_uses(ui, "Most used", &report.most_used);
    print_uses(ui, "Never used", &report.never_used);
    print_actions(ui, "Overturned", &report.contradictions);
    print_actions(ui, "Merged", &report.merged);
    print_actions(ui, "Archived", &report.archived);
}

fn print_repeats(ui: &mut Ui, repeats: &[RepeatedClaim]) {
    if repeats.is_empty() {
        return ui.status("No claim was made in more than one session.");
    }
    ui.line(ui.paint(Role::Title, "Repetitions before and after Nacre knew the claim"));
    let row = |claim: &RepeatedClaim| {
        let by = if claim.by == Speaker::User { "you" } else { "the agent" };
        let agent = claim.agent.as_deref().unwrap_or("unknown agent");
        vec![
            id(format!("  {}", ui.short_id(&claim.id))),
            cell(Role::Good, format!("{} before, {} after", claim.before, claim.after)),
            faint(format!("{by} ({agent})")),
            title(&claim.title),
        ]
    };
    let rows: Vec<Row> = repeats.iter().map(row).collect();
    ui.table(rows);
}

fn print_heading(ui: &mut Ui, title: &str) {
    ui.line(ui.paint(Role::Title, format!("\n{title}")));
}

fn print_uses(ui: &mut Ui, heading: &str, memories: &[MemoryUse]) {
    if memories.is_empty() {
        return;
    }
    print_heading(ui, heading);
    let row = |memory: &MemoryUse| {
        vec![
            id(format!("  {}", ui.short_id(&memory.id))),
            faint(format!("{}×", memory.uses)),
            faint(format!("{:.2}", memory.effective)),
            title(&memory.title),
        ]
    };
    let rows: Vec<Row> = memories.iter().map(row).collect();
    ui.table(rows);
}

fn print_actions(ui: &mut Ui, heading: &str, actions: &[ReportedAction]) {
    if actions.is_empty() {
        return;
    }
    print_heading(ui, heading);
    for action in actions.iter().take(MAX_LINES) {
        let with = action.with.as_ref().map(|with| format!(" → {with}")).unwrap_or_default();
        print_line(ui, &format!("{}{with}: {}", action.target, action.reason));
    }
    let n_more = actions.len().saturating_sub(MAX_LINES);
    if n_more > 0 {
        ui.line(ui.paint(Role::Faint, format!("  and {n_more} more; `--json` shows all")));
    }
}

fn print_line(ui: &mut Ui, line: &str) {
    ui.line(format!("  {}", ui.fit(2, &Shown(line).one_line())));
}

fn print_team(ui: &mut Ui, report: &TeamReport) {
    let TeamReport { since, until, projects, n_projects, across, n_not_compared, unreadable } =
        report;
    let heading = format!("{n_projects} projects, {} to {}", day(since), day(until));
    ui.line(ui.paint(Role::Title, heading));
    for project in projects {
        let TeamProject { project, learned, n_learned, contested, unused, n_unused } = project;
        print_heading(ui, &Shown(project).one_line());
        print_memories(ui, "learned", *n_learned, learned);
        if !contested.is_empty() {
            ui.line(format!("  {} contested", contested.len()));
        }
        for ContestedPair { newer, newer_title, older, older_title, .. } in contested {
            print_line(ui, &format!("  {newer_title} [{newer}], but {older_title} [{older}]"));
        }
        print_memories(ui, "used by nobody", *n_unused, unused);
    }
    if !across.is_empty() {
        print_heading(ui, "Projects with contradicting memories");
    }
    let named = |memory: &ProjectMemory| {
        format!("{} says \u{201c}{}\u{201d} [{}]", memory.project, memory.title, memory.id)
    };
    for ProjectContradiction { newer, older, .. } in across {
        print_line(ui, &format!("{}, but {}", named(newer), named(older)));
    }
    if *n_not_compared > 0 {
        ui.hint(&format!("{n_not_compared} older memories were not compared"));
    }
    for name in unreadable {
        ui.warning(format!("Could not read `{}`", Shown(name).one_line()), None);
    }
}

fn print_memories(ui: &mut Ui, what: &str, n_all: usize, memories: &[MemoryUse]) {
    if memories.is_empty() {
        return;
    }
    ui.line(format!("  {n_all} {what}"));
    for memory in memories {
        print_line(ui, &format!("  {} [{}]", memory.title, memory.id));
    }
    let n_more = n_all.saturating_sub(memories.len());
    if n_more > 0 {
        ui.note(4, Role::Faint, format!("and {n_more} more"));
    }
}
