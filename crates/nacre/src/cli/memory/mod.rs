//! `nacre memory`: adds, finds and changes memories.

mod add;
mod list;
mod search;
mod show;

use std::path::Path;

use nacre_ops::memory as ops;
use nacre_types::{MemoryEditRequest, MemoryIdsRequest, MemoryShowRequest, Scope};

use super::prelude::*;
use super::render::{memories_text, print_change, print_undo, report_changes};

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    Add(add::AddArgs),
    List(list::ListArgs),
    Show(show::ShowArgs),
    Search(search::SearchArgs),
    Related(list::RelatedArgs),
    /// Edit a memory in your editor; it is validated when you save
    ///
    /// Uses the setting ui.editor, then $VISUAL, then $EDITOR, then vi.
    Edit {
        /// The memory's id or a prefix of it
        id: String,
        /// Discard the draft of an earlier edit
        #[arg(long)]
        discard: bool,
        #[command(flatten)]
        scope: ScopeArg,
    },
    /// Archive memories; `restore` reverses this
    Archive(IdsArg),
    /// Restore archived memories
    Restore(IdsArg),
    /// Delete memories permanently
    ///
    /// Removes the file, its evidence, its counters and the links to it, and its text from the
    /// search index, the run directories and the servers' shared index. Each location is checked
    /// afterwards, and locations that cannot be reached are listed. Only a hash of the text is
    /// kept, so the same claim does not come back. Git commits that contain the memory, and the
    /// session that it came from, are not changed. This cannot be undone, and neither can earlier
    /// changes to the memory. To be able to undo it, use `nacre memory archive`.
    ///
    /// Asks for confirmation in a terminal; elsewhere it needs --yes and full ids.
    Forget {
        /// The memories' ids; required in full without a terminal
        #[arg(required = true)]
        ids: Vec<String>,
        /// Do not ask for confirmation
        #[arg(long, short)]
        yes: bool,
        #[command(flatten)]
        scope: ScopeArg,
    },
    /// Move all of a store's memories aside and start empty
    ///
    /// Nothing is deleted: memories and their sidecars are moved to `.nacre/reset/`, which Git does
    /// not share; `nacre undo` moves them back.
    Reset {
        /// Do not ask for confirmation
        #[arg(long, short)]
        yes: bool,
        #[command(flatten)]
        scope: ScopeArg,
    },
}

#[derive(Debug, Args)]
pub(crate) struct IdsArg {
    /// The memories' ids
    #[arg(required = true)]
    ids: Vec<String>,

    #[command(flatten)]
    scope: ScopeArg,
}

impl MemoryCommand {
    pub(crate) fn only_reads(&self) -> bool {
        matches!(self, Self::List(_) | Self::Show(_) | Self::Search(_) | Self::Related(_))
    }
}

impl IdsArg {
    fn request(self) -> MemoryIdsRequest {
        MemoryIdsRequest { ids: self.ids, scope: self.scope.mode() }
    }
}

pub(crate) fn cmd_memory(ui: &mut Ui, host: &Host, command: MemoryCommand) -> CommandResult {
    match command {
        MemoryCommand::Add(args) => add::cmd_add(ui, host, args),
        MemoryCommand::List(args) => list::cmd_list(ui, host, args),
        MemoryCommand::Show(args) => show::cmd_show(ui, host, args),
        MemoryCommand::Search(args) => search::cmd_search(ui, host, args),
        MemoryCommand::Related(args) => list::cmd_related(ui, host, args),
        MemoryCommand::Edit { id, discard, scope } => {
            let request = MemoryEditRequest { id, discard, scope: scope.mode() };
            let editor = host.editor()?;
            let run = |draft: &Path| run_editor(host, editor, draft);
            let report = ops::edit(host, &request, &run, &ui.events())?;
            ui.report(&report, print_change)
        }
        MemoryCommand::Archive(ids) => {
            let report = ops::archive(host, &ids.request(), &ui.events())?;
            report_changes(ui, &report)
        }
        MemoryCommand::Restore(ids) => {
            let report = ops::restore(host, &ids.request(), &ui.events())?;
            report_changes(ui, &report)
        }
        MemoryCommand::Forget { ids, yes, scope } => {
            let scope = scope.mode();
            let ids = if yes { ids } else { confirm_forget(ui, host, &ids, scope)? };
            let report = ops::forget(host, &MemoryIdsRequest { ids, scope }, &ui.events())?;
            report_changes(ui, &report)
        }
        MemoryCommand::Reset { yes, scope } => {
            let scope = scope.mode();
            if !yes {
                let scoped = host.store_to_write(scope)?;
                let question =
                    format!("Move all memories of {} aside?", scoped.store.path().display());
                if !(ui.can_ask() && ui.confirm(&question)?) {
                    let error = OpError::usage("Nothing was changed");
                    return Err(error.hint("nacre memory reset --yes"));
                }
            }
            let report = ops::reset(host, scope, &ui.events())?;
            ui.report(&report, |ui, report| {
                let path = ShownLine(&report.path);
                ui.status(format!("Moved {} to {path}", memories_text(report.set_aside)));
                print_undo(ui, report.change.as_deref());
            })
        }
    }
}

/// Opens the draft in the user's editor. The `editor` command may include arguments.
pub(crate) fn run_editor(host: &Host, editor: &str, draft: &Path) -> Result<()> {
    let status = nacre_ops::host::platform::shell(editor, Some(draft))
        .env("PATH", host.environment.var("PATH").unwrap_or_default())
        .status()?;
    if status.success() {
        return Ok(());
    }
    Err(OpError::failed(format!("The editor `{editor}` exited with {status}"))
        .hint("The memory is unchanged; your draft is saved"))
}

/// Shows the memories, asks for confirmation, and returns their full ids. If there is no terminal,
/// the error contains the command to run instead.
fn confirm_forget(
    ui: &mut Ui,
    host: &Host,
    ids: &[String],
    scope: Option<Scope>,
) -> Result<Vec<String>> {
    let mut whole_ids = Vec::new();
    for id in ids {
        let request = MemoryShowRequest { id: id.clone(), scope, ..MemoryShowRequest::default() };
        let memory = ops::show(host, &request, &ui.events())?.memory;
        if ui.can_ask() {
            ui.line(format!("{}  {}", ui.paint(Role::Id, &memory.id), ShownLine(&memory.title)));
        }
        whole_ids.push(memory.id);
    }
    if !ui.can_ask() {
        let ids = whole_ids.join(" ");
        let message = "Memories are deleted only after confirmation; nothing was changed";
        return Err(OpError::usage(message)
            .hint(format!("To delete it permanently: nacre memory forget {ids} --yes"))
            .hint(format!("To archive it, which can be undone: nacre memory archive {ids}")));
    }
    let memories = memories_text(whole_ids.len());
    if ui.confirm(&format!("Delete {memories} permanently? This cannot be undone."))? {
        return Ok(whole_ids);
    }
    Err(OpError::usage("Nothing was changed")
        .hint("To archive it instead: nacre memory archive ID"))
}
