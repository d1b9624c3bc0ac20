//! Asks a person once whether their agent may read sessions, on a terminal; flags answer it in scripts.

use std::io::Write as _;

use clap::Args;
use nacre_api::wire::{ModelReaderReport, ModelReaderRequest};
use nacre_ops::{Host, OpError, model as ops};

use super::ui::Ui;

/// About what a session costs an agent that reads it.
const TOKENS_PER_SESSION: &str = "12,000";

/// The answer, given beforehand.
#[derive(Debug, Args)]
pub(crate) struct ReaderArgs {
    /// Let the agent that is installed read your sessions, without being asked
    #[arg(long, short, conflicts_with = "no")]
    yes: bool,
    /// Let no agent read your sessions, without being asked
    #[arg(long)]
    no: bool,
}

/// Settles who may read sessions, where that is open and there is somebody to say so.
pub(crate) fn settle_reader(ui: &mut Ui, host: &Host, args: &ReaderArgs) -> Result<(), OpError> {
    let ReaderArgs { yes, no } = args;
    let Some(question) = ops::reader_question(host) else { return Ok(()) };
    let answer = match (yes, no) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => ask(ui, &question)?,
    };
    let Some(allowed) = answer else { return Ok(()) };
    let report = ops::answer_reader(host, &ModelReaderRequest { allowed })?;
    tell(ui, &report)
}

/// Asks on a terminal; elsewhere nothing is asked and nothing changes.
fn ask(ui: &Ui, question: &ops::ReaderQuestion) -> Result<Option<bool>, OpError> {
    if !ui.can_ask() || ui.is_json() {
        return Ok(None);
    }
    let ops::ReaderQuestion { label, sessions_per_day } = question;
    let mut terminal = std::io::stderr();
    write!(
        terminal,
        "{label} is installed. Let it read your sessions? About {TOKENS_PER_SESSION} tokens a session, at most \
         {sessions_per_day} sessions a day. [y/N] "
    )?;
    terminal.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(Some(matches!(answer.trim(), "y" | "Y" | "yes")))
}

fn tell(ui: &mut Ui, report: &ModelReaderReport) -> Result<(), OpError> {
    let ModelReaderReport { agent: _, label, model, allowed } = report;
    if *allowed {
        ui.status(format!("{label} reads your sessions, as {model}."))?;
        ui.status("To stop that: nacre config set reading.agent none")
    } else {
        ui.status("Sessions are read by rules alone.")?;
        ui.status(format!("To change that: nacre config set roles.default.model {model}"))
    }
}
