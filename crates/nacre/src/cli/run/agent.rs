//! `nacre run QUESTION`: an agent's answer, with the places that prove it.

use clap::{Args, ValueEnum};
use nacre_api::wire::{self, AgentRunReport, AgentRunRequest, CheckedCitation};
use nacre_ops::text::{Shown, ShownLine};
use nacre_ops::{Host, OpError, agent as ops};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};

/// The longest quote that a line shows, in characters.
const MAX_QUOTE_CHARS: usize = 100;

/// Which agent works on what.
#[derive(Debug, Args)]
pub(super) struct AgentArgs {
    /// What to find out
    #[arg(required = true)]
    question: Option<String>,
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

pub(super) fn cmd_agent(ui: &mut Ui, host: &Host, args: &AgentArgs) -> Result<Exit, OpError> {
    let AgentArgs { question, agent, scripted } = args;
    let request = AgentRunRequest {
        question: question.clone().unwrap_or_default(),
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
