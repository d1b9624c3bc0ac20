//! `nacre memory forget`

use std::io::Write as _;

use clap::Args;
use nacre_api::wire::{MemoryIdsRequest, MemoryShowRequest};
use nacre_ops::text::ShownLine;
use nacre_ops::{Host, OpError, memory as ops};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};
use super::ScopeArg;
use super::output::{counted, report_changes};

/// Remove memories for good
///
/// The file, its evidence and its counters are removed, and other memories no longer name it. A
/// hash without text stays behind, so that the same claim does not come back by itself. Its words leave the
/// search index, the folders of runs and the index that servers share, and each place is looked into
/// afterwards; what cannot be reached now is named. Commits that hold the memory stay in git's history, and
/// so does the session that it came from. It cannot be undone: nothing of the memory is kept, and
/// what would undo earlier changes of it is removed as well. `nacre memory archive` puts a memory away
/// and can be undone.
///
/// In a terminal you are asked first; elsewhere it takes --yes and whole ids.
#[derive(Debug, Args)]
pub(crate) struct ForgetArgs {
    /// The memories' ids; in full, unless you can be asked
    #[arg(required = true)]
    ids: Vec<String>,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    scope: ScopeArg,
}

pub(crate) fn cmd_forget(ui: &mut Ui, host: &Host, args: &ForgetArgs) -> Result<Exit, OpError> {
    let ForgetArgs { ids, yes, scope } = args;
    let ids = match (*yes, ui.can_ask()) {
        (true, _) => ids.clone(),
        (false, true) => agreed(ui, host, args)?,
        (false, false) => return Err(not_agreed(ui, host, args)?),
    };
    let request = MemoryIdsRequest { ids, scope: scope.mode() };
    let report = ops::forget(host, &request, &ui.events())?;
    report_changes(ui, &report)
}

/// Says what to type where nobody can be asked. A memory that is not there is an error of its own.
fn not_agreed(ui: &mut Ui, host: &Host, args: &ForgetArgs) -> Result<OpError, OpError> {
    let mut ids = Vec::new();
    for id in &args.ids {
        let scope = args.scope.mode();
        let request = MemoryShowRequest { id: id.clone(), scope, ..MemoryShowRequest::default() };
        ids.push(ops::show(host, &request, &ui.events())?.memory.id);
    }
    let ids = ids.join(" ");
    let message = "A memory is forgotten only after a yes; nothing was changed";
    Ok(OpError::usage(message)
        .hint(format!("To remove it for good: nacre memory forget {ids} --yes"))
        .hint(format!("To put it away, which can be undone: nacre memory archive {ids}")))
}

/// Shows the memories and asks; returns their whole ids.
fn agreed(ui: &mut Ui, host: &Host, args: &ForgetArgs) -> Result<Vec<String>, OpError> {
    let mut ids = Vec::new();
    for id in &args.ids {
        let scope = args.scope.mode();
        let request = MemoryShowRequest { id: id.clone(), scope, ..MemoryShowRequest::default() };
        let shown = ops::show(host, &request, &ui.events())?.memory;
        ui.line(format!("{}  {}", ui.paint(Role::Id, &shown.id), ShownLine(&shown.title)))?;
        ids.push(shown.id);
    }
    ui.flush();
    let mut terminal = std::io::stderr();
    write!(terminal, "Forget {} for good? This cannot be undone. [y/N] ", counted(ids.len()))?;
    terminal.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    if matches!(answer.trim(), "y" | "Y" | "yes") {
        return Ok(ids);
    }
    Err(OpError::usage("Nothing was changed")
        .hint("To put it away instead: nacre memory archive ID"))
}
