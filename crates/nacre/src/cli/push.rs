//! `nacre push`

use std::io::{BufRead as _, Read as _};

use clap::Args;
use nacre_api::wire::{
    KeptMemory, PushReport, PushRequest, PushState, PushedTranscripts, RefusedMemory,
    TranscriptListReport, TranscriptListRequest, TranscriptRequest,
};
use nacre_ops::text::ShownLine;
use nacre_ops::{Host, OpError, team as ops};

use super::exit::Exit;
use super::ui::Ui;

/// No token is longer.
const MAX_TOKEN_BYTES: u64 = 4096;

/// Send the memories of this project to the server of your team
///
/// Sends decisions and learnings that hold and that you trust, without secrets; no summaries and, unless you say so, no sessions. Nothing goes
/// twice, and what could not be sent goes with the next push. The server puts them into its project of the same name, where others bring them
/// with `nacre pull`. What you forgot here is forgotten there, if your token may. docs/team.md tells more.
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
    /// Send the transcripts of sessions, too: only you and whoever runs the server can read them [default: the setting push.transcripts]
    #[arg(long)]
    transcripts: bool,
    /// Send transcripts, and let everybody read them who may read the project
    #[arg(long)]
    share: bool,
    /// List the transcripts on the server: yours, and those that others share
    #[arg(long, conflicts_with_all = ["to", "token_stdin", "dry_run", "transcripts", "share", "withdraw"])]
    list: bool,
    /// Remove a transcript of yours from the server, by the id that --list shows
    #[arg(long, value_name = "ID", conflicts_with_all = ["to", "token_stdin", "dry_run", "transcripts", "share"])]
    withdraw: Option<String>,
}

pub(crate) fn cmd_push(ui: &mut Ui, host: &Host, args: &PushArgs) -> Result<Exit, OpError> {
    let PushArgs { to, token_stdin, dry_run, transcripts, share, list, withdraw } = args;
    if *list {
        return ui.report(&ops::sent(host, &TranscriptListRequest {})?, print_list);
    }
    if let Some(id) = withdraw {
        let report = ops::withdraw_transcript(host, &TranscriptRequest { id: id.clone() })?;
        return ui.report(&report, |ui, report| {
            let id = ShownLine(&report.id);
            ui.status(format!("The server has no transcript {id} any more."))
        });
    }
    let token = if *token_stdin { Some(read_token()?) } else { None };
    let request = PushRequest {
        to: to.clone(),
        token,
        dry_run: *dry_run,
        transcripts: *transcripts,
        share: *share,
    };
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
    let PushReport { to, project, sent, known, refused, waiting, .. } = report;
    let PushReport { dry_run, withdrawn, kept, transcripts, stopped, .. } = report;
    if *dry_run {
        let line =
            format!("Would send {waiting} memories of `{project}` to {to}; {known} are there.");
        ui.status(line)?;
        if let Some(PushedTranscripts { waiting, known, .. }) = transcripts {
            ui.status(format!("Would send {waiting} transcripts; {known} are there."))?;
        }
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
    let n_left = waiting + transcripts.as_ref().map_or(0, |transcripts| transcripts.waiting);
    if let Some(PushedTranscripts { sent, known, refused, waiting }) = transcripts {
        ui.status(format!("Sent {} transcripts; {known} were there.", sent.len()))?;
        if !refused.is_empty() {
            ui.warning(
                format!("{} transcripts cannot be sent: {}", refused.len(), refused.join(", ")),
                None,
            );
        }
        if *waiting > 0 && stopped.is_none() {
            ui.hint(&format!(
                "{waiting} transcripts go with the next push: nacre push --transcripts"
            ));
        }
    }
    if let Some(stopped) = stopped {
        let what = if transcripts.is_some() { "memories and transcripts" } else { "memories" };
        let hint = Some("Nothing is lost. Go on: nacre push");
        ui.warning(format!("{n_left} {what} wait: {stopped}"), hint);
    }
    Ok(())
}

fn print_list(ui: &mut Ui, report: &TranscriptListReport) -> Result<(), OpError> {
    for entry in &report.transcripts {
        let shared = if entry.shared { "shared" } else { "private" };
        let who = entry.person.as_deref().unwrap_or("the owner");
        let line = format!("{}  {}:{}  {who}  {shared}", entry.id, entry.agent, entry.session);
        ui.line(ShownLine(&line))?;
    }
    let n_found = report.transcripts.len();
    ui.status(format!("{n_found} transcripts are there."))
}
