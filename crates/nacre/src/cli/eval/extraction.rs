//! `nacre eval extraction`

use std::path::PathBuf;

use clap::Args;
use nacre_core::base::Shown;
use nacre_engine::flows::extract::eval::{self, Half, Report, Scores, Slip};
use serde_json::{Value, json};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};
use super::read;
use nacre_ops::OpError;

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

const HALVES: &[(&str, Half)] =
    &[("tune", Half::Tune), ("held_out", Half::HeldOut), ("all", Half::All)];

pub(crate) fn cmd_extraction(ui: &mut Ui, args: &ExtractionArgs) -> Result<Exit, OpError> {
    let sessions = eval::read(&read(&args.dataset)?).map_err(|error| {
        OpError::failed(error.to_string()).hint("docs/extraction.md describes the format")
    })?;
    let reports: Vec<(&str, Report)> =
        HALVES.iter().map(|(name, half)| (*name, eval::run(&sessions, *half))).collect();
    if ui.is_json() {
        ui.json(&output(args, &reports))?;
        return Ok(Exit::Done);
    }
    print(ui, args, &reports)?;
    Ok(Exit::Done)
}

fn scores(scores: &Scores) -> Value {
    json!({
        "sessions": scores.sessions, "kept": scores.kept, "right": scores.right, "precision": scores.precision(),
        "empty": scores.empty, "stayed_empty": scores.stayed_empty, "empty_stays_empty": scores.empty_stays_empty(),
        "explicit": scores.explicit, "explicit_found": scores.explicit_found,
        "explicit_recall": scores.explicit_recall(), "labels": scores.labels, "recall": scores.recall(),
    })
}

fn output(args: &ExtractionArgs, reports: &[(&str, Report)]) -> Value {
    let halves: serde_json::Map<String, Value> =
        reports.iter().map(|(name, report)| ((*name).to_owned(), scores(&report.scores))).collect();
    let slips = reports
        .iter()
        .filter(|(name, _)| args.slips && *name == "all")
        .flat_map(|(_, report)| &report.slips);
    let slips: Vec<Value> = slips
        .map(|slip| match slip {
            Slip::Wrong { session, title } => json!({ "session": session, "wrong": title }),
            Slip::Missed { session, quote } => json!({ "session": session, "missed": quote }),
        })
        .collect();
    json!({ "dataset": args.dataset.display().to_string(), "halves": halves, "slips": slips })
}

fn print(ui: &mut Ui, args: &ExtractionArgs, reports: &[(&str, Report)]) -> Result<(), OpError> {
    let head =
        ["", "sessions", "kept", "precision", "empty stays empty", "explicit recall", "recall"];
    let mut rows = vec![head.iter().map(|name| (Role::Faint, (*name).to_owned())).collect()];
    rows.extend(reports.iter().map(|(name, report)| row(name, &report.scores)));
    ui.table(&rows)?;
    let all = reports.iter().filter(|(name, _)| args.slips && *name == "all");
    for slip in all.flat_map(|(_, report)| &report.slips) {
        let (what, session, text) = match slip {
            Slip::Wrong { session, title } => ("wrong ", session, title),
            Slip::Missed { session, quote } => ("missed", session, quote),
        };
        ui.line(format!("{what} {}  {}", Shown(session).one_line(), Shown(text).one_line()))?;
    }
    Ok(())
}

fn row(name: &str, scores: &Scores) -> Vec<(Role, String)> {
    let share = |share: f64, part: usize, whole: usize| {
        (Role::Title, format!("{:.1} ({part}/{whole})", share * 100.0))
    };
    vec![
        (Role::Faint, name.replace('_', " ")),
        (Role::Faint, scores.sessions.to_string()),
        (Role::Faint, scores.kept.to_string()),
        share(scores.precision(), scores.right, scores.kept),
        share(scores.empty_stays_empty(), scores.stayed_empty, scores.empty),
        share(scores.explicit_recall(), scores.explicit_found, scores.explicit),
        share(scores.recall(), scores.labels_found, scores.labels),
    ]
}
