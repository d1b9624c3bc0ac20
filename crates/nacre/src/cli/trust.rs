//! `nacre trust`

use nacre_types::{TrustItem, TrustReport, TrustRequest};

use super::prelude::*;
use super::render::{memories_text, print_diff, print_memory_row, print_undo};

/// List memories that came from elsewhere, and trust them
///
/// Memories from a clone or a pull are not used in briefs and hooks until you trust them. Without
/// ids, lists them; with ids or --all, asks for confirmation and trusts them. Memories that contain
/// instructions with a URL, a command or a password are quarantined and must be named by id.
#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// The memories' ids
    ids: Vec<String>,
    /// Trust all untrusted memories except quarantined ones
    #[arg(long)]
    all: bool,
    /// Show the full text, or what changed since you trusted it
    #[arg(long)]
    diff: bool,
    /// Show what would be trusted without changing anything
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation
    #[arg(long, short = 'y')]
    yes: bool,
    #[command(flatten)]
    scope: ScopeArg,
}

pub(crate) fn cmd_trust(ui: &mut Ui, host: &Host, args: TrustArgs) -> CommandResult {
    let TrustArgs { ids, all, diff, dry_run, yes, scope } = args;
    let is_listed = dry_run || (ids.is_empty() && !all);
    let mut request = TrustRequest {
        ids,
        all,
        dry_run: true,
        // Before many memories are trusted at once, their full text is shown.
        diff: diff || all,
        seen: Vec::new(),
        scope: scope.mode(),
    };
    let shown = nacre_ops::trust(host, &request)?;
    if is_listed || shown.memories.is_empty() {
        return ui.report(&shown, print_list);
    }
    if !yes {
        agree(ui, &shown)?;
    }
    request.dry_run = false;
    request.seen = shown.memories.iter().map(|item| item.hash.clone()).collect();
    ui.report(&nacre_ops::trust(host, &request)?, print_done)
}

/// Shows the memories and asks for confirmation. Returns an error if the user declines.
fn agree(ui: &mut Ui, shown: &TrustReport) -> Result<()> {
    if !ui.can_ask() || ui.is_json() {
        return Err(OpError::usage(
            "Memories are trusted only after confirmation; nothing was changed",
        )
        .hint("Add --dry-run to see what would be trusted, or --yes to trust it"));
    }
    for item in &shown.memories {
        print_item(ui, item);
    }
    match ui.confirm(&format!("Trust {}?", memories_text(shown.memories.len())))? {
        true => Ok(()),
        false => Err(OpError::usage("Nothing was changed")),
    }
}

fn print_list(ui: &mut Ui, report: &TrustReport) {
    for item in &report.memories {
        print_item(ui, item);
    }
    let TrustReport { foreign, quarantined, .. } = report;
    if *foreign == 0 && *quarantined == 0 {
        return ui.status("No foreign memories.");
    }
    ui.status(format!(
        "\n{} from elsewhere, {quarantined} quarantined; none is used in briefs.",
        memories_text(*foreign)
    ));
    print_more(ui, report);
    ui.status("Show the full text: nacre trust --diff. Trust: nacre trust ID, nacre trust --all");
}

fn print_done(ui: &mut Ui, report: &TrustReport) {
    for item in report.memories.iter().filter(|item| !item.trusted) {
        ui.warning(format!("{} changed in the meantime and is not trusted", item.memory.id), None);
    }
    let is_candidate = |item: &&TrustItem| item.trusted && item.memory.status == "candidate";
    for item in report.memories.iter().filter(is_candidate) {
        ui.hint(&format!("Still a candidate; accept it: nacre review accept {}", item.memory.id));
    }
    ui.status(format!("Trusted {}.", memories_text(report.trusted)));
    print_more(ui, report);
    print_undo(ui, report.change.as_deref());
}

fn print_more(ui: &mut Ui, report: &TrustReport) {
    if report.more > 0 {
        ui.status(format!("{} more; run the command again.", memories_text(report.more)));
    }
}

fn print_item(ui: &mut Ui, item: &TrustItem) {
    print_memory_row(ui, &item.memory);
    let who = match (&item.committed_by, &item.committed) {
        (Some(who), Some(when)) => format!("; committed by {who} on {when}"),
        _ => String::new(),
    };
    ui.note(4, Role::Warning, format!("{}{who}", item.reason));
    if let Some(text) = &item.text {
        print_diff(ui, 4, " ", item.before.as_deref().unwrap_or_default(), text);
    }
}
