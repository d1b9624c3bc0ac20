//! `nacre run`: asks an agent and prints its answer with citations.

use std::path::PathBuf;

use nacre_ops::agent as ops;
use nacre_types::{AgentRunReport, CheckedCitation};

use super::prelude::*;

const MAX_QUOTE_CHARS: usize = 100;

/// Let an agent answer a question about this repository
///
/// The agent can read files but not change them. It cites files and lines; each citation is
/// verified, and sentences without evidence are marked `[not verified]`. The question and
/// everything the agent reads are sent to the configured model; see `nacre model`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The question
    question: String,
    /// Read the model's responses from this file, for tests
    #[arg(long, value_name = "FILE")]
    scripted: Option<PathBuf>,
}

pub(crate) fn cmd_run(ui: &mut Ui, host: &Host, args: RunArgs) -> CommandResult {
    let RunArgs { question, scripted } = args;
    let report = ops::run(host, &question, scripted.as_deref(), &ui.cancellable_events())?;
    let exit = ui.report(&report, print)?;
    match report.failure {
        Some(failure) if !ui.is_json() => Err(failure.into()),
        _ => Ok(exit),
    }
}

fn print(ui: &mut Ui, report: &AgentRunReport) {
    let Some(answer) = &report.answer else { return };
    ui.text(answer);
    if !report.citations.is_empty() {
        ui.line("");
    }
    for CheckedCitation { file, first_line, last_line, quote, why, .. } in &report.citations {
        let lines = match first_line == last_line {
            true => first_line.to_string(),
            false => format!("{first_line}-{last_line}"),
        };
        let place = ui.paint(Role::Id, format!("{}:{lines}", ShownLine(file)));
        let proof = match why {
            None => {
                let quote: String = Shown(quote).one_line().chars().take(MAX_QUOTE_CHARS).collect();
                ui.paint(Role::Faint, quote)
            }
            Some(why) => {
                format!("{} {}", ui.paint(Role::Warning, "not verified:"), ShownLine(why))
            }
        };
        ui.line(format!("{place}  {proof}"));
    }
    if !report.verified && report.citations.is_empty() {
        ui.line(ui.paint(Role::Warning, "not verified: no citation"));
    }
}
