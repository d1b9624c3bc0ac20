//! `nacre push`

use std::io::{BufRead as _, Read as _};

use clap::Args;
use nacre_api::wire::{KeptMemory, PushReport, PushRequest, PushState, RefusedMemory};
use nacre_ops::{Host, OpError, team as ops};

use super::exit::Exit;
use super::ui::Ui;

/// No token is longer.
const MAX_TOKEN_BYTES: u64 = 4096;

/// Send the memories of this project to the server of your team
///
/// Sends decisions and learnings that hold and that you trust, without secrets; no summaries and no sessions. Nothing goes twice, and what
/// could not be sent goes with the next push. The server puts them into its project of the same name, where others bring them with
/// `nacre pull`. What you forgot here is forgotten there, if your token may. docs/team.md tells more.
#[derive(Debug, Args)]
pub(crate) struct PushArgs {
    /// The server's URL; it is kept for the next time [default: the setting push.to]
    #[arg(long, value_name = "URL")]
    to: Option<String>,
    /// Read the token from standard input, and keep it for the next time in ~/.nacre/push.token
    #[arg(long)]
    token_stdin: bool,
    /// Only say how much would be sent
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn cmd_push(ui: &mut Ui, host: &Host, args: &PushArgs) -> Result<Exit, OpError> {
    let PushArgs { to, token_stdin, dry_run } = args;
    let token = if *token_stdin { Some(read_token()?) } else { None };
    let request = PushRequest { to: to.clone(), token, dry_run: *dry_run };
    let events = ui.cancellable_events();
    let report = ops::push(host, &request, &events);
    ui.report(&report?, print)
}

/// One line of standard input, so that the token is in no list of processes and no history of a shell.
fn read_token() -> Result<String, OpError> {
    let mut token = String::new();
    std::io::stdin().lock().take(MAX_TOKEN_BYTES).read_line(&mut token)?;
    match token.trim() {
        "" => Err(OpError::usage("There is no token on standard input")
            .hint("nacre push --to URL --token-stdin < FILE")),
        token => Ok(token.to_owned()),
    }
}

fn print(ui: &mut Ui, report: &PushReport) -> Result<(), OpError> {
    let PushReport { to, project, dry_run, sent, known, refused, waiting, .. } = report;
    let PushReport { withdrawn, kept, stopped, .. } = report;
    if *dry_run {
        let line =
            format!("Would send {waiting} memories of `{project}` to {to}; {known} are there.");
        ui.status(line)?;
        ui.hint("Send them: nacre push");
        return Ok(());
    }
    let n_sent = sent.len();
    ui.status(format!("Sent {n_sent} memories of `{project}` to {to}; {known} were there."))?;
    for RefusedMemory { id, reason } in refused {
        let why = match reason {
            PushState::Differs => "the server has another version, which stays",
            PushState::Forgotten => "it was forgotten there",
            PushState::Invalid | PushState::Taken | PushState::Known => "the server cannot read it",
        };
        ui.warning(format!("Not sent: {id}: {why}"), None);
    }
    if !withdrawn.is_empty() {
        ui.status(format!("{} memories that you forgot are forgotten there.", withdrawn.len()))?;
    }
    for KeptMemory { id, reason } in kept {
        let hint = "Whoever has the scope `admin` there can: nacre memory forget";
        ui.warning(format!("The server still has {id}: {reason}"), Some(hint));
    }
    if let Some(stopped) = stopped {
        ui.warning(
            format!("{waiting} memories wait: {stopped}"),
            Some("Nothing is lost. Go on: nacre push"),
        );
    }
    Ok(())
}
