//! `nacre runs`: sync and maintenance runs.

use nacre_ops::run as ops;
use nacre_types::{
    ItemId, LimitRequest, MaintainVerb, Relation, RunCounts, RunEntry, RunListReport, RunMode,
    RunReport, RunShowReport, SessionAction,
};

use super::prelude::*;
use super::render::{print_more, unique_end};

/// Minimum length of the hash that a run id ends with.
const MIN_HASH: usize = 8;

/// List sync and maintenance runs, or show the actions of one run with reasons
#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// Show this run, by its id or the start or end of its id
    run: Option<String>,
    /// List at most this many, newest first; 0 for all [default: the setting memory.max_results]
    #[arg(long, short = 'n', value_name = "N", conflicts_with = "run")]
    limit: Option<usize>,
}

pub(crate) fn cmd_runs(ui: &mut Ui, host: &Host, args: RunsArgs) -> CommandResult {
    match args.run {
        Some(id) => ui.report(&ops::show(host, &ItemId { id })?, print_shown),
        None => {
            let report = ops::list(host, &LimitRequest { limit: args.limit }, &ui.events())?;
            ui.report(&report, print_list)
        }
    }
}

fn print_list(ui: &mut Ui, report: &RunListReport) {
    if report.runs.is_empty() {
        return ui.status("No runs yet.");
    }
    if ui.is_watched() {
        let head = ["run", "when", "what it did", "of"].map(faint).to_vec();
        let rows = report.runs.iter().map(|run| format_run_row(ui, run, &report.runs));
        let rows: Vec<Row> = std::iter::once(head).chain(rows).collect();
        ui.table(rows);
    } else {
        ui.table(report.runs.iter().map(|run| {
            let signs = run.counts.as_ref().map_or_else(|| "-".to_owned(), counts_in_signs);
            [id(&run.id), faint(signs), title(&run.of)]
        }));
    }
    print_more(ui, report.total - report.runs.len());
}

fn format_run_row(ui: &Ui, run: &RunEntry, all: &[RunEntry]) -> Row {
    let short =
        |id: &str| unique_end(id, all.iter().map(|run| run.id.as_str()), MIN_HASH).to_owned();
    let when = start_time(&run.id).map_or_else(String::new, |time| ui.when(&time));
    let mode = run.id.split('-').next().unwrap_or_default();
    let did = match &run.counts {
        Some(counts) => format!("{mode}: {}", counts_in_words(counts)),
        None => mode.to_owned(),
    };
    let is_run = all.iter().any(|other| other.id == run.of);
    // All rows have the same path prefix, so only the last part of the path is shown.
    let end = run.of.rsplit('/').next().unwrap_or(&run.of);
    let of = if is_run { short(&run.of) } else { end.to_owned() };
    vec![id(short(&run.id)), faint(when), title(did), faint(of)]
}

/// Parses the start time from a run id such as `sync-20261115-083000-abcdef12`.
fn start_time(id: &str) -> Option<String> {
    let mut parts = id.rsplit('-').skip(1);
    let (time, day) = (parts.next()?, parts.next()?);
    let (year, month, date) = (day.get(..4)?, day.get(4..6)?, day.get(6..8)?);
    let (hour, minute, second) = (time.get(..2)?, time.get(2..4)?, time.get(4..6)?);
    Some(format!("{year}-{month}-{date}T{hour}:{minute}:{second}Z"))
}

fn counts_in_words(counts: &RunCounts) -> String {
    let parts = match counts {
        RunCounts::Sync(counts) => vec![
            (counts.add + counts.supersede, "added"),
            (counts.update, "updated"),
            (counts.no_op, "known already"),
        ],
        RunCounts::Maintain(counts) => {
            let n = |verb: MaintainVerb| counts.get(&verb).copied().unwrap_or_default() as u64;
            let merged = n(MaintainVerb::Merge) + n(MaintainVerb::Consolidate);
            let (archived, all) = (n(MaintainVerb::Archive), counts.values().sum::<usize>() as u64);
            let other = all - merged - archived;
            vec![(merged, "merged"), (archived, "archived"), (other, "changed")]
        }
    };
    let parts = parts.into_iter().filter(|(n, _)| *n > 0);
    let parts: Vec<String> = parts.map(|(n, what)| format!("{n} {what}")).collect();
    if parts.is_empty() { "nothing new".to_owned() } else { parts.join(", ") }
}

fn counts_in_signs(counts: &RunCounts) -> String {
    match counts {
        RunCounts::Sync(counts) => {
            format!("+{} ~{} ={}", counts.add + counts.supersede, counts.update, counts.no_op)
        }
        RunCounts::Maintain(_) => counts_in_words(counts),
    }
}

fn print_shown(ui: &mut Ui, report: &RunShowReport) {
    if report.runs.is_empty() {
        return print_run(ui, &report.id, report.report.as_ref());
    }
    let n_runs = report.runs.len();
    ui.line(format!("{}: {n_runs} runs, one per session", ui.paint(Role::Title, &report.id)));
    for run in &report.runs {
        ui.line("");
        print_run(ui, &run.id, run.report.as_ref());
    }
}

fn print_run(ui: &mut Ui, id: &str, report: Option<&RunReport>) {
    ui.line(ui.paint(Role::Title, id));
    match report {
        Some(RunReport::Sync(run)) => {
            print_facts(ui, &run.trace_path, &run.finished_at);
            for action in &run.actions {
                let target = action.target.as_deref().unwrap_or_default();
                print_action(ui, action.action.as_str(), target);
                print_reason(ui, &action.title, &session_reason(action));
            }
            for (reason, n) in &run.dropped {
                ui.line(format!("\ndropped {n} {}", reason.as_str()));
            }
            if let Some(path) = &run.summary_path {
                ui.line(format!("\nsummary {}", Shown(path).one_line()));
            }
        }
        Some(RunReport::Maintain(run)) => {
            print_facts(ui, "", &run.finished_at);
            for action in &run.actions {
                print_action(ui, action.action.as_str(), &action.target);
                let with = action.with.as_ref().map(|with| format!("; {with}"));
                let reason = format!("{}{}", action.reason, with.unwrap_or_default());
                print_reason(ui, &action.title, &reason);
            }
        }
        Some(RunReport::Undo(run)) => {
            print_facts(ui, &run.of, &run.finished_at);
            for action in &run.actions {
                print_action(ui, action.action.as_str(), &action.target);
            }
        }
        None => ui.line(ui.paint(Role::Faint, without_report(id))),
    }
}

fn without_report(id: &str) -> String {
    use RunMode::{Cold, Hot, Maintain, Sync, Undo};
    match id.split('-').next().and_then(RunMode::from_name) {
        None | Some(Sync | Hot | Cold | Maintain | Undo) => {
            "The run has no readable report.".to_owned()
        }
        Some(mode) => {
            let mode = mode.as_str();
            format!("A change by `nacre {mode}`. `nacre undo --list` shows what it changed.")
        }
    }
}

fn print_facts(ui: &mut Ui, of: &str, finished_at: &str) {
    let finished_at = ui.when(finished_at);
    let facts: Vec<&str> = [of, &finished_at].into_iter().filter(|fact| !fact.is_empty()).collect();
    ui.note(0, Role::Faint, facts.join(" · "));
}

fn print_action(ui: &mut Ui, verb: &str, target: &str) {
    let target = ui.paint(Role::Id, Shown(target).one_line());
    ui.line(format!("\n{} {target}", ui.paint(Role::Good, verb)));
}

fn print_reason(ui: &mut Ui, title: &str, reason: &str) {
    ui.line(format!("  {}", Shown(title).one_line()));
    ui.note(2, Role::Faint, reason);
}

fn session_reason(action: &SessionAction) -> String {
    let mut why = action.reason.clone();
    if let Some(likelihood) = action.likelihood {
        let relation = action.relation.map(Relation::as_str).unwrap_or_default();
        why.push_str(&format!(" ({relation} {likelihood:.2}, {})", action.band.as_str()));
    }
    if let Some(note) = &action.note {
        why.push_str(&format!("; lead: {note}"));
    }
    if let Some(nearest) = &action.nearest {
        why.push_str(&format!("; nearest {nearest}"));
    }
    why
}
