//! Asks a person once whether their agent may read sessions, on a terminal; flags answer it in scripts.

use std::io::Write as _;

use clap::Args;
use nacre_api::wire::{LeadRuntime, ModelReaderReport, ModelReaderRequest};
use nacre_ops::{Host, OpError, model as ops, sync};

use super::intake::sessions_text;
use super::ui::Ui;

/// About what a session costs an agent that reads it, in thousands of tokens.
const KILOTOKENS_PER_SESSION: u64 = 12;

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

/// Settles who may read sessions, where that is open and there is somebody to say so. `n_now` sessions wait, where that is
/// known.
pub(crate) fn settle_reader(
    ui: &mut Ui,
    host: &Host,
    args: &ReaderArgs,
    n_now: Option<u64>,
) -> Result<(), OpError> {
    let ReaderArgs { yes, no } = args;
    let Some(question) = ops::reader_question(host) else { return Ok(()) };
    let answer = match (yes, no) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => ask(ui, &reader_text(&question, n_now))?,
    };
    let Some(allowed) = answer else { return Ok(()) };
    let report = ops::answer_reader(host, &ModelReaderRequest { allowed })?;
    tell(ui, &report)
}

/// What a person should know before they agree.
fn reader_text(question: &ops::ReaderQuestion, n_now: Option<u64>) -> String {
    let ops::ReaderQuestion { label, sessions_per_day } = question;
    let now = match n_now.filter(|n_now| *n_now > 0) {
        Some(n_now) => {
            let n_today = n_now.min(*sessions_per_day);
            let sessions = sessions_text(n_now);
            let tokens = n_today * KILOTOKENS_PER_SESSION;
            format!(" {sessions} now, about {tokens},000 tokens today.")
        }
        None => String::new(),
    };
    format!(
        "{label} is installed. Let it read your sessions?\nTheir text goes to the provider of {label} and counts against \
         your plan: about {KILOTOKENS_PER_SESSION},000 tokens a session, at most {sessions_per_day} sessions a day.{now}\n\
         Without it, sessions are read by rules on this computer; `nacre sync --dry-run` shows what they find. [y/N] "
    )
}

/// Settles whether Claude Code may be the lead, where it is to be and nobody said yes or no before.
pub(crate) fn settle_lead(
    ui: &mut Ui,
    host: &Host,
    args: &ReaderArgs,
    runtime: Option<LeadRuntime>,
) -> Result<(), OpError> {
    let Some(question) = sync::lead_question(host, runtime) else { return Ok(()) };
    let sync::LeadQuestion { label, sessions_per_day } = question;
    let answer = match (args.yes, args.no) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => ask(
            ui,
            &format!(
                "Let {label} settle what is unclear? It reads memories of the project, with your login, for at most \
                 {sessions_per_day} sessions a day. [y/N] "
            ),
        )?,
    };
    let Some(allowed) = answer else { return Ok(()) };
    sync::allow_lead(host, allowed)?;
    if allowed {
        ui.status(format!("{label} settles what is unclear."))?;
        ui.status("To stop that: nacre config set reading.agent none")
    } else {
        ui.status("What is unclear is settled by rule.")
    }
}

/// Asks on a terminal; elsewhere nothing is asked and nothing changes.
fn ask(ui: &Ui, question: &str) -> Result<Option<bool>, OpError> {
    if !ui.can_ask() || ui.is_json() {
        return Ok(None);
    }
    let mut terminal = std::io::stderr();
    write!(terminal, "{question}")?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_says_where_the_text_goes_and_how_much_it_is_now() {
        let question = ops::ReaderQuestion { label: "Claude Code", sessions_per_day: 20 };
        let text = reader_text(&question, Some(30));
        for sign in [
            "goes to the provider of Claude Code and counts against your plan",
            "30 sessions now, about 240,000 tokens today",
            "nacre sync --dry-run",
        ] {
            assert!(text.contains(sign), "{sign} is not in {text}");
        }
        assert!(!reader_text(&question, None).contains("now,"));
    }
}
