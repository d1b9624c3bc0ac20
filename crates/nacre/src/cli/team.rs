//! `nacre push` and `nacre pull`: share memories through a team's server.

use std::io::{BufRead as _, Read as _};

use nacre_ops::team as ops;
use nacre_types::{
    EmptyRequest, ItemId, KeptMemory, PullReport, PushReport, PushRequest, PushState,
    PushedTranscripts, RefusedMemory, TranscriptListReport,
};

use super::prelude::*;
use super::render::{count, memories_text, print_undo};

/// Maximum input size, which is well above the length of a real token.
const MAX_TOKEN_BYTES: u64 = 4096;

/// Send this project's memories to your team's server
///
/// Sends active decisions and learnings that you trust, without secrets; no summaries and, by
/// default, no sessions. Only new and changed memories are sent; failed ones are sent with the next
/// push. The server adds them to its project of the same name, and others get them with `nacre
/// pull`. Memories that you deleted with `nacre memory forget` are deleted there too, if your token
/// allows it. See docs/team.md.
#[derive(Debug, Args)]
pub(crate) struct PushArgs {
    /// The server's URL, which is saved [default: the setting push.to]
    #[arg(long, value_name = "URL")]
    to: Option<String>,
    /// Read the token from standard input and save it in ~/.nacre/push.token
    #[arg(long)]
    token_stdin: bool,
    /// Only show how many would be sent
    #[arg(long)]
    dry_run: bool,
    /// Also send session transcripts, readable only by you and the server's owner [default: the
    /// setting push.transcripts]
    #[arg(long)]
    transcripts: bool,
    /// Send transcripts, readable by everyone with access to the project
    #[arg(long)]
    share: bool,
    /// List your transcripts on the server, and those shared by others
    #[arg(long, conflicts_with_all = ["to", "token_stdin", "dry_run", "transcripts", "share", "withdraw"])]
    list: bool,
    /// Delete one of your transcripts from the server, by the id shown by --list
    #[arg(long, value_name = "ID", conflicts_with_all = ["to", "token_stdin", "dry_run", "transcripts", "share"])]
    withdraw: Option<String>,
}

/// Get this project's memories from your team's server
///
/// Pulled memories are untrusted until you trust them: search finds them, but they are not injected
/// into agents. Memories that you changed locally are kept.
#[derive(Debug, Args)]
pub(crate) struct PullArgs {
    /// Only show what would be pulled
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn cmd_push(ui: &mut Ui, host: &Host, args: PushArgs) -> CommandResult {
    let PushArgs { to, token_stdin, dry_run, transcripts, share, list, withdraw } = args;
    if list {
        return ui.report(&ops::sent(host, &EmptyRequest {})?, print_transcripts);
    }
    if let Some(id) = withdraw {
        let report = ops::withdraw_transcript(host, &ItemId { id })?;
        return ui.report(&report, |ui, report| {
            let id = ShownLine(&report.id);
            ui.status(format!("Deleted transcript {id} from the server."));
        });
    }
    let token = token_stdin.then(read_token).transpose()?;
    let request = PushRequest { to, token, dry_run, transcripts, share };
    let report = ops::push(host, &request, &ui.cancellable_events())?;
    ui.report(&report, print_pushed)
}

/// Reads the token from standard input, which keeps it out of process lists and the shell history.
fn read_token() -> Result<String> {
    let mut token = String::new();
    std::io::stdin().lock().take(MAX_TOKEN_BYTES).read_line(&mut token)?;
    match token.trim() {
        "" => Err(OpError::usage("No token on standard input")
            .hint("nacre push --to URL --token-stdin < FILE")),
        token => Ok(token.to_owned()),
    }
}

fn print_pushed(ui: &mut Ui, report: &PushReport) {
    let PushReport { to, project, sent, known, refused, waiting, .. } = report;
    let PushReport { dry_run, withdrawn, kept, transcripts, stopped, .. } = report;
    if *dry_run {
        ui.status(format!(
            "Would send {} of `{project}` to {to}; {known} already there.",
            memories_text(*waiting)
        ));
        if let Some(PushedTranscripts { waiting, known, .. }) = transcripts {
            let waiting = count(*waiting, "transcript");
            ui.status(format!("Would send {waiting}; {known} already there."));
        }
        return ui.hint("Send them: nacre push");
    }
    let n_sent = memories_text(sent.len());
    ui.status(format!("Sent {n_sent} of `{project}` to {to}; {known} already there."));
    for RefusedMemory { id, reason } in refused {
        let why = match reason {
            PushState::Differs => "the server has another version and keeps it",
            PushState::Forgotten => "it was deleted on the server",
            PushState::Invalid | PushState::Taken | PushState::Known => {
                "the server could not read it"
            }
        };
        ui.warning(format!("Not sent: {id}: {why}"), None);
    }
    if !withdrawn.is_empty() {
        let withdrawn = memories_text(withdrawn.len());
        ui.status(format!("Deleted {withdrawn} there that you deleted here."));
    }
    for KeptMemory { id, reason } in kept {
        let hint =
            "Someone with the `admin` scope on the server can delete it: nacre memory forget";
        ui.warning(format!("The server still has {id}: {reason}"), Some(hint));
    }
    let n_left = waiting + transcripts.as_ref().map_or(0, |transcripts| transcripts.waiting);
    if let Some(PushedTranscripts { sent, known, refused, waiting }) = transcripts {
        let n_sent = count(sent.len(), "transcript");
        ui.status(format!("Sent {n_sent}; {known} already there."));
        if !refused.is_empty() {
            let (n_refused, why) = (count(refused.len(), "transcript"), refused.join(", "));
            ui.warning(format!("{n_refused} cannot be sent: {why}"), None);
        }
        if *waiting > 0 && stopped.is_none() {
            let waiting = count(*waiting, "transcript");
            ui.hint(&format!("Send the remaining {waiting}: nacre push --transcripts"));
        }
    }
    if let Some(stopped) = stopped {
        let hint = Some("No data was lost. Continue: nacre push");
        ui.warning(format!("Could not send everything ({n_left} left): {stopped}"), hint);
    }
}

fn print_transcripts(ui: &mut Ui, report: &TranscriptListReport) {
    for entry in &report.transcripts {
        let shared = if entry.shared { "shared" } else { "private" };
        let who = entry.person.as_deref().unwrap_or("the owner");
        let line = format!("{}  {}:{}  {who}  {shared}", entry.id, entry.agent, entry.session);
        ui.line(ShownLine(&line));
    }
    ui.status(format!("{} on the server.", count(report.transcripts.len(), "transcript")));
}

pub(crate) fn cmd_pull(ui: &mut Ui, host: &Host, PullArgs { dry_run }: PullArgs) -> CommandResult {
    let report = ops::pull(host, dry_run, &ui.cancellable_events())?;
    ui.report(&report, print_pulled)
}

fn print_pulled(ui: &mut Ui, report: &PullReport) {
    let PullReport { from, project, dry_run, new, updated, differ, same, .. } = report;
    for (sign, ids) in [("+", new), ("~", updated)] {
        for id in ids {
            ui.line(format_args!("{sign} {id}"));
        }
    }
    let verb = if *dry_run { "Would pull" } else { "Pulled" };
    let (n_new, n_updated) = (new.len(), updated.len());
    ui.status(format!(
        "{verb} {n_new} new and {n_updated} changed memories of `{project}` from {from}; {same} were already here."
    ));
    if let Some(first) = differ.first() {
        let n_differ = memories_text(differ.len());
        let message = format!("{n_differ} unlike yours; yours are kept");
        ui.warning(message, Some(&format!("Show one: nacre memory show {first}")));
    }
    if report.forgotten > 0 {
        ui.status(format!("Skipped {} that you deleted here.", report.forgotten));
    }
    if report.waiting > 0 {
        ui.hint(&format!("{} more: nacre pull", report.waiting));
    }
    if !dry_run && n_new + n_updated > 0 {
        ui.hint("They are untrusted until you trust them: nacre trust");
    }
    print_undo(ui, report.change.as_deref());
}
