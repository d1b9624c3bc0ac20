//! `nacre summarize`

use clap::Args;
use nacre_api::wire::{Report as _, SummarizeFileReport, SummarizeFileRequest, SummarizeRequest};
use nacre_ops::text::Shown;
use nacre_ops::{Host, OpError, extract as ops};

use super::exit::Exit;
use super::strategy::StrategyArgs;
use super::ui::Ui;

/// Tell what one session was about, and write it to a file
///
/// Works without a model: intent, requests, outcome, files and commands, in the words that were said. With one, the model
/// tells what happened; files and commands stay what was counted. No memory is written.
#[derive(Debug, Args)]
pub(crate) struct SummarizeArgs {
    /// A trace of any agent, or the id of a session that was seen
    #[arg(long, value_name = "TRACE")]
    trace: String,
    /// The file to write; `-` prints it
    #[arg(long, value_name = "FILE")]
    out: String,
    /// Write over a file that is not the result of an earlier summarize
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    strategy: StrategyArgs,
}

pub(crate) fn cmd_summarize(
    ui: &mut Ui,
    host: &Host,
    args: &SummarizeArgs,
) -> Result<Exit, OpError> {
    let SummarizeArgs { trace, out, force, strategy } = args;
    let (trace, strategy) = (trace.clone(), strategy.choice());
    if out == "-" {
        let report = ops::summarize(host, &SummarizeRequest { trace, strategy }, &ui.events())?;
        ui.json(&report)?;
        return Ok(report.outcome().into());
    }
    let request = SummarizeFileRequest { trace, strategy, out: out.clone(), force: *force };
    let report = ops::summarize_to_file(host, &request, &ui.events())?;
    ui.report(&report, |ui, SummarizeFileReport { title, out, .. }| {
        let (title, out) = (Shown(title), Shown(out));
        ui.status(format!("{}; written to {}", title.one_line(), out.one_line()))
    })
}
