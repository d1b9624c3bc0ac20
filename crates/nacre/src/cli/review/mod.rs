//! `nacre review`: what waits for a person's word.

mod accept;
mod choice;
mod output;
mod picker;
mod reject;

use clap::{Args, Subcommand};
use nacre_api::wire::ReviewListRequest;
use nacre_ops::{Host, OpError, review as ops};

use super::exit::Exit;
use super::memory::ScopeArg;
use super::ui::Ui;

/// Accept or reject what a sync proposes
///
/// A candidate is a memory that a sync is not sure of, or that `nacre import` found. It is in no brief, and below active
/// memories in answers, until you accept it. In a terminal, you are asked about one candidate after the
/// other; elsewhere they are
/// listed, the newest first.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ReviewArgs {
    #[command(subcommand)]
    command: Option<ReviewCommand>,
    /// List the candidates and ask nothing
    #[arg(long)]
    list: bool,
    /// At most this many; 0 for all [default: the setting memory.max_results]
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    scope: ScopeArg,
}

#[derive(Debug, Subcommand)]
enum ReviewCommand {
    Accept(accept::AcceptArgs),
    Reject(reject::RejectArgs),
}

pub(crate) fn cmd_review(ui: &mut Ui, host: &Host, args: &ReviewArgs) -> Result<Exit, OpError> {
    let ReviewArgs { command, list, limit, scope } = args;
    match command {
        Some(ReviewCommand::Accept(args)) => return accept::cmd_accept(ui, host, args),
        Some(ReviewCommand::Reject(args)) => return reject::cmd_reject(ui, host, args),
        None => {}
    }
    let report = ops::list(host, &ReviewListRequest { limit: *limit, scope: scope.mode() })?;
    ui.shorten_ids(host, scope.mode());
    if *list || ui.is_json() || !ui.can_ask() || report.candidates.is_empty() {
        return ui.report(&report, output::print);
    }
    picker::pick(ui, host, &report, *scope)
}
