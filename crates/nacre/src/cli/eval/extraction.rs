//! `nacre eval extraction`

use std::path::PathBuf;

use clap::Args;
use nacre_api::wire::{EvalExtractionReport, EvalExtractionRequest, KeptEntries, MissedEntry};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, eval as ops};

use super::super::exit::Exit;
use super::super::strategy::StrategyArgs;
use super::super::ui::{Role, Ui};

/// Read labelled sessions, and count what was rightly kept
///
/// Entries are held against labels by place and quote. What matches none is neither right nor wrong by machine: `--missed`
/// lists it for a human eye, and `--verdicts` takes what was found. With a model every session costs its tokens. Nothing is
/// written. docs/evaluation.md describes the format and the numbers.
#[derive(Debug, Args)]
pub(crate) struct ExtractionArgs {
    /// The file of labels
    #[arg(long, value_name = "FILE")]
    dataset: PathBuf,
    /// The folder that the traces lie in [default: that of the labels]
    #[arg(long, value_name = "FOLDER")]
    traces: Option<PathBuf>,
    /// What people said of entries that match no label
    #[arg(long, value_name = "FILE")]
    verdicts: Option<PathBuf>,
    /// List labels that were not found, and entries that match none
    #[arg(long)]
    missed: bool,
    /// How many sessions to read at a time
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: usize,
    #[command(flatten)]
    strategy: StrategyArgs,
}

pub(crate) fn cmd_extraction(
    ui: &mut Ui,
    host: &Host,
    args: &ExtractionArgs,
) -> Result<Exit, OpError> {
    let ExtractionArgs { dataset, traces, verdicts, missed, jobs, strategy } = args;
    let text = |path: &PathBuf| path.display().to_string();
    let request = EvalExtractionRequest {
        dataset: text(dataset),
        traces: traces.as_ref().map(text),
        strategy: strategy.choice(),
        verdicts: verdicts.as_ref().map(text),
        missed: *missed,
        jobs: Some(*jobs),
    };
    let report = ops::extraction(host, &request, &ui.cancellable_events())?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &EvalExtractionReport) -> Result<(), OpError> {
    let EvalExtractionReport { sessions, active, candidates, empty, silent, found, cost, .. } =
        report;
    let head = ["", "kept", "right", "wrong", "not judged", "precision"];
    ui.table(&[
        head.iter().map(|name| (Role::Faint, (*name).to_owned())).collect(),
        kept_row("active", active),
        kept_row("candidates", candidates),
    ])?;
    ui.line("")?;
    let mut rows: Vec<Vec<(Role, String)>> = vec![
        ["", "labels", "found active", "found at all"]
            .iter()
            .map(|name| (Role::Faint, (*name).to_owned()))
            .collect(),
    ];
    rows.extend(found.iter().map(|group| {
        let share = format!("{} ({:.1} %)", group.found_active, group.recall() * 100.0);
        vec![
            (Role::Faint, group.group.clone()),
            (Role::Faint, group.labels.to_string()),
            (Role::Title, share),
            (Role::Faint, group.found.to_string()),
        ]
    }));
    ui.table(&rows)?;
    ui.line("")?;
    ui.line(format!("{sessions} sessions; silent in {silent} of {empty} with nothing to keep"))?;
    if cost.calls > 0 {
        let usd = cost.usd.map(|usd| format!(", ${usd:.2}")).unwrap_or_default();
        ui.line(format!(
            "{} calls, {} tokens in, {} out{usd}",
            cost.calls, cost.input_tokens, cost.output_tokens
        ))?;
    }
    report.missed.iter().try_for_each(|missed| print_missed(ui, missed))
}

fn kept_row(name: &str, kept: &KeptEntries) -> Vec<(Role, String)> {
    let KeptEntries { entries, right, wrong, unknown } = kept;
    let mut row = vec![(Role::Faint, name.to_owned())];
    row.extend([entries, right, wrong, unknown].map(|count| (Role::Faint, count.to_string())));
    row.push((Role::Title, format!("{:.1} %", kept.precision() * 100.0)));
    row
}

fn print_missed(ui: &mut Ui, missed: &MissedEntry) -> Result<(), OpError> {
    let (what, file, text) = match missed {
        MissedEntry::Label { file, claim, .. } => ("missed ", file, claim.clone()),
        MissedEntry::Tempting { file, title, why } => ("wrong  ", file, format!("{title} ({why})")),
        MissedEntry::Unknown { file, title, nearest, .. } => {
            let near = nearest.as_ref().map(|near| format!(" (near: {near})")).unwrap_or_default();
            ("unknown", file, format!("{title}{near}"))
        }
        MissedEntry::Unread { file, reason } => ("unread ", file, reason.clone()),
    };
    ui.line(format!("{what} {}  {}", Shown(file).one_line(), Shown(&text).one_line()))
}
