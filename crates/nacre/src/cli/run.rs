//! `nacre run`: an agent's answer, with the places that prove it.

use clap::{Args, ValueEnum};
use nacre_api::wire::{self, AgentRunReport, AgentRunRequest, CheckedCitation};
use nacre_ops::text::{Shown, ShownLine};
use nacre_ops::{Host, OpError, agent as ops};

use super::exit::Exit;
use super::ui::{Role, Ui};

/// The longest quote that a line shows, in characters.
const MAX_QUOTE_CHARS: usize = 100;

/// Let an agent find something out in this repository
///
/// The explorer reads files and can change nothing. It answers with the files and lines that prove
/// what it says. Each of them is looked up, and a sentence that they do not prove is marked
/// `[not verified]`. The question and what the agent reads go to the model that is set for it:
/// `nacre model list`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// What to find out
    question: String,
    /// Which agent
    #[arg(long, value_name = "AGENT", default_value = "explorer")]
    agent: AgentName,
    /// Take the model's answers from this file, for tests
    #[arg(long, value_name = "FILE")]
    scripted: Option<String>,
}

/// The agents that can be run by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AgentName {
    /// Reads the repository and answers with citations
    Explorer,
}

impl From<AgentName> for wire::AgentName {
    fn from(name: AgentName) -> Self {
        match name {
            AgentName::Explorer => Self::Explorer,
        }
    }
}

pub(crate) fn cmd_run(ui: &mut Ui, host: &Host, args: &RunArgs) -> Result<Exit, OpError> {
    let RunArgs { question, agent, scripted } = args;
    let request = AgentRunRequest {
        question: question.clone(),
        agent: (*agent).into(),
        scripted: scripted.clone(),
    };
    let report = ops::run(host, &request, &ui.cancellable_events())?;
    ui.report(&report, print)
}

/// Prints the answer; why there is none is an error.
fn print(ui: &mut Ui, report: &AgentRunReport) -> Result<(), OpError> {
    if let Some(answer) = &report.answer {
        ui.text(answer)?;
        print_citations(ui, &report.citations)?;
        if !report.verified && report.citations.is_empty() {
            ui.line(ui.paint(Role::Warning, "not verified: it cites nothing"))?;
        }
    }
    report.failure.clone().map_or(Ok(()), |failure| Err(failure.into()))
}

fn print_citations(ui: &mut Ui, citations: &[CheckedCitation]) -> Result<(), OpError> {
    if !citations.is_empty() {
        ui.line("")?;
    }
    for CheckedCitation { file, first_line, last_line, quote, why, .. } in citations {
        let lines = match first_line == last_line {
            true => first_line.to_string(),
            false => format!("{first_line}-{last_line}"),
        };
        let place = ui.paint(Role::Id, format!("{}:{lines}", ShownLine(file)));
        match why {
            None => {
                let quote: String = Shown(quote).one_line().chars().take(MAX_QUOTE_CHARS).collect();
                ui.line(format!("{place}  {}", ui.paint(Role::Faint, quote)))?;
            }
            Some(why) => {
                let mark = ui.paint(Role::Warning, "not verified:");
                ui.line(format!("{place}  {mark} {}", ShownLine(why)))?;
            }
        }
    }
    Ok(())
}
