//! `nacre ask`

mod output;
mod sources;

use clap::Args;
use nacre_api::wire::{AskReport, AskRequest};
use nacre_ops::{Host, OpError, ask as ops};

use super::exit::Exit;
use super::memory::ScopeArg;
use super::remote::{Asked, by_server_or};
use super::ui::Ui;

/// How many memories a question is answered from.
const DEFAULT_LIMIT: usize = 5;

/// Ask what is remembered, and get an answer with proof
///
/// With a model the answer is written from the memories that fit, and every sentence names the ids
/// that prove it. Each id is looked up before the sentence is shown; what does not hold is left out,
/// and that is said. The question and those memories go to the model that is set for `ask`. Without
/// a model the memories themselves are the answer. When nothing fits, the memory does not know.
#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// The question
    #[arg(required = true)]
    question: Vec<String>,
    /// Answer from at most this many memories, 1 to 20
    #[arg(long, short = 'n', value_name = "N", default_value_t = DEFAULT_LIMIT)]
    limit: usize,
    /// Answer with the memories themselves, also where a model is set
    #[arg(long)]
    no_model: bool,
    /// Take the model's answers from this file, for tests
    #[arg(long, value_name = "FILE", conflicts_with = "no_model")]
    scripted: Option<String>,
    /// Answer from all registered projects, not from this one
    #[arg(long, conflicts_with = "scope")]
    all_projects: bool,
    #[command(flatten)]
    scope: ScopeArg,
}

pub(crate) fn cmd_ask(ui: &mut Ui, host: &Host, args: &AskArgs) -> Result<Exit, OpError> {
    let AskArgs { question, limit, no_model, scripted, all_projects, scope } = args;
    let request = AskRequest {
        question: question.join(" "),
        limit: Some(*limit),
        no_model: *no_model,
        scripted: scripted.clone(),
        scope: scope.mode(),
        all_projects: *all_projects,
    };
    let events = ui.cancellable_events();
    let names_file = request.scripted.is_some();
    let asked = Asked { route: ("POST", "/api/ask"), request: &request, names_file };
    let report = by_server_or((ui, host), &asked, &events, || ops::ask(host, &request, &events))?;
    ui.report(&report, |ui, report| match report {
        AskReport::Model(answer) => output::print_answer(ui, answer),
        AskReport::Memories(answer) => output::print_memories(ui, answer),
    })
}
