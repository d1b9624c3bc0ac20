//! `nacre memory`: everything a person does with memories by hand.

mod add;
mod archive;
mod copies;
mod edit;
mod forget;
mod list;
mod output;
mod related;
mod reset;
mod restore;
mod search;
mod show;
mod type_name;

use clap::{Args, Subcommand, ValueEnum};
use nacre_api::wire::{MemoryChangeReport, MemoryIdsRequest, MemoryRecordReport, Scope};
use nacre_ops::{Host, OpError};

pub(crate) use self::edit::{cmd_edit_one, run_editor};
pub(crate) use self::output::{
    counted, print_memory_row, print_more, print_undo, quote_place, report_changes, warn_broken,
};
pub(crate) use self::search::ModeName;
use self::type_name::TypeName;
use super::exit::Exit;
use super::ui::Ui;

/// Add, find, read and change memories
#[derive(Debug, Args)]
pub(crate) struct MemoryArgs {
    #[command(subcommand)]
    command: MemoryCommand,
}

#[derive(Debug, Subcommand)]
enum MemoryCommand {
    Add(add::AddArgs),
    List(list::ListArgs),
    Show(show::ShowArgs),
    Search(search::SearchArgs),
    Related(related::RelatedArgs),
    Edit(edit::EditArgs),
    Archive(archive::ArchiveArgs),
    Restore(restore::RestoreArgs),
    Forget(forget::ForgetArgs),
    Reset(reset::ResetArgs),
}

impl MemoryArgs {
    /// Whether it only shows something.
    pub(crate) fn only_reads(&self) -> bool {
        matches!(
            self.command,
            MemoryCommand::List(_)
                | MemoryCommand::Show(_)
                | MemoryCommand::Search(_)
                | MemoryCommand::Related(_)
        )
    }
}

/// Where to look.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ScopeArg {
    /// Where to look [default: the setting memory.scope]
    #[arg(long, value_name = "SCOPE")]
    scope: Option<ScopeName>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
enum ScopeName {
    /// The project first, then what you keep for all projects
    ProjectFallbackGlobal,
    /// The project alone
    ProjectOnly,
    /// What you keep for all projects
    GlobalOnly,
}

impl ScopeArg {
    pub(crate) fn mode(self) -> Option<Scope> {
        self.scope.map(|scope| match scope {
            ScopeName::ProjectFallbackGlobal => Scope::ProjectFallbackGlobal,
            ScopeName::ProjectOnly => Scope::ProjectOnly,
            ScopeName::GlobalOnly => Scope::GlobalOnly,
        })
    }
}

/// The memories that a command changes.
#[derive(Debug, Args)]
struct IdsArg {
    /// The memories' ids
    #[arg(required = true)]
    ids: Vec<String>,
    #[command(flatten)]
    scope: ScopeArg,
}

impl IdsArg {
    fn request(&self) -> MemoryIdsRequest {
        MemoryIdsRequest { ids: self.ids.clone(), scope: self.scope.mode() }
    }
}

pub(crate) fn cmd_memory(ui: &mut Ui, host: &Host, args: &MemoryArgs) -> Result<Exit, OpError> {
    match &args.command {
        MemoryCommand::Add(args) => add::cmd_add(ui, host, args),
        MemoryCommand::List(args) => list::cmd_list(ui, host, args),
        MemoryCommand::Show(args) => show::cmd_show(ui, host, args),
        MemoryCommand::Search(args) => search::cmd_search(ui, host, args),
        MemoryCommand::Related(args) => related::cmd_related(ui, host, args),
        MemoryCommand::Edit(args) => edit::cmd_edit(ui, host, args),
        MemoryCommand::Archive(args) => archive::cmd_archive(ui, host, args),
        MemoryCommand::Restore(args) => restore::cmd_restore(ui, host, args),
        MemoryCommand::Forget(args) => forget::cmd_forget(ui, host, args),
        MemoryCommand::Reset(args) => reset::cmd_reset(ui, host, args),
    }
}

/// Prints what became of a claim that was recorded with a quote.
fn print_recorded(ui: &mut Ui, report: &MemoryRecordReport) -> Result<(), OpError> {
    let MemoryRecordReport { done, id, path, change, .. } = report.clone();
    output::print_change(ui, &MemoryChangeReport { done, id, path, change })?;
    match report.status.as_deref() {
        Some("candidate") => ui.status("It is in review until the user accepts it."),
        _ => Ok(()),
    }
}
