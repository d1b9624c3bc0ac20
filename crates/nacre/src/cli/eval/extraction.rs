//! `nacre eval extraction`

use std::path::PathBuf;

use clap::Args;
use nacre_api::wire::{EvalExtractionReport, EvalExtractionRequest, ExtractionScores, Slip};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, eval as ops};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};

/// Extract from labelled sessions, and count what was rightly kept
///
/// Odd lines of the data set are for tuning, even lines are held out. Nothing is written, sent or random.
/// docs/extraction.md describes the format and the numbers.
#[derive(Debug, Args)]
pub(crate) struct ExtractionArgs {
    /// The data set's file
    #[arg(long, value_name = "FILE")]
    dataset: PathBuf,
    /// List what was kept without a label, and labels that were not found
    #[arg(long)]
    slips: bool,
}

pub(crate) fn cmd_extraction(
    ui: &mut Ui,
    host: &Host,
    args: &ExtractionArgs,
) -> Result<Exit, OpError> {
    let ExtractionArgs { dataset, slips } = args;
    let request = EvalExtractionRequest { dataset: dataset.display().to_string(), slips: *slips };
    let report = ops::extraction(host, &request)?;
    ui.report(&report, print)
}

fn print(ui: &mut Ui, report: &EvalExtractionReport) -> Result<(), OpError> {
    let head =
        ["", "sessions", "kept", "precision", "empty stays empty", "explicit recall", "recall"];
    let halves = &report.halves;
    ui.table(&[
        head.iter().map(|name| (Role::Faint, (*name).to_owned())).collect(),
        row("tune", &halves.tune),
        row("held out", &halves.held_out),
        row("all", &halves.all),
    ])?;
    for slip in &report.slips {
        let (what, session, text) = match slip {
            Slip::Wrong { session, wrong } => ("wrong ", session, wrong),
            Slip::Missed { session, missed } => ("missed", session, missed),
        };
        ui.line(format!("{what} {}  {}", Shown(session).one_line(), Shown(text).one_line()))?;
    }
    Ok(())
}

fn row(name: &str, scores: &ExtractionScores) -> Vec<(Role, String)> {
    let share = |share: f64, part: usize, whole: usize| {
        (Role::Title, format!("{:.1} ({part}/{whole})", share * 100.0))
    };
    vec![
        (Role::Faint, name.to_owned()),
        (Role::Faint, scores.sessions.to_string()),
        (Role::Faint, scores.kept.to_string()),
        share(scores.precision, scores.right, scores.kept),
        share(scores.empty_stays_empty, scores.stayed_empty, scores.empty),
        share(scores.explicit_recall, scores.explicit_found, scores.explicit),
        share(scores.recall, scores.labels_found, scores.labels),
    ]
}
