//! `nacre memory`: everything a person does with memories by hand.

mod add;
mod archive;
mod edit;
mod forget;
mod list;
mod output;
mod related;
mod reset;
mod restore;
mod search;
mod show;

use clap::{Args, Subcommand, ValueEnum};
use nacre_api::wire::Scope;
use nacre_core::memory::{MemoryId, MemoryType, Redactions};
use nacre_core::safefs::RelPath;
use serde_json::json;

pub(crate) use self::output::counted;
pub(crate) use self::search::ModeName;
use super::exit::Exit;
use super::ui::{Role, Ui};
use nacre_ops::Host;
use nacre_ops::OpError;

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

/// A memory type on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum TypeName {
    Decision,
    Learning,
    Summary,
}

impl From<TypeName> for MemoryType {
    fn from(name: TypeName) -> Self {
        match name {
            TypeName::Decision => Self::Decision,
            TypeName::Learning => Self::Learning,
            TypeName::Summary => Self::Summary,
        }
    }
}

impl From<TypeName> for nacre_api::wire::MemoryType {
    fn from(name: TypeName) -> Self {
        match name {
            TypeName::Decision => Self::Decision,
            TypeName::Learning => Self::Learning,
            TypeName::Summary => Self::Summary,
        }
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

/// Tells what kinds of secrets were kept out.
fn warn_redacted(ui: &mut Ui, redactions: &Redactions) {
    for kind in redactions.keys() {
        ui.warning(
            format!("A secret was not stored; `[redacted:{kind}]` stands in its place"),
            None,
        );
    }
}

/// Tells of a person's bytes that could only be kept beside their file.
fn warn_kept(ui: &mut Ui, kept: &[RelPath]) {
    for path in kept {
        ui.warning(
            format!("Someone wrote into the file meanwhile; their version is `{path}`"),
            None,
        );
    }
}

/// Does one thing to each of several memories, each in a change set of its own, and tells the outcome.
fn for_each_id(
    ui: &mut Ui,
    verb: &str,
    ids: &[String],
    act: impl Fn(&mut Ui, &str) -> Result<MemoryId, OpError>,
) -> Result<Exit, OpError> {
    let mut done = Vec::new();
    let mut failed = Vec::new();
    for id in ids {
        match act(ui, id) {
            Ok(id) => done.push(id.to_string()),
            Err(error) if ids.len() == 1 => return Err(error),
            Err(error) => failed.push((id, error)),
        }
    }
    if ui.is_json() {
        let failed: Vec<_> = failed
            .iter()
            .map(|(id, error)| {
                json!({
                    "id": id, "kind": error.code.as_str(), "message": error.message,
                    "causes": error.causes, "hints": error.hints,
                })
            })
            .collect();
        ui.json(&json!({ "done": verb, "ids": done, "failed": failed }))?;
    }
    for id in &done {
        ui.status(format!("{} {}", output::capitalized(verb), ui.paint(Role::Id, id)))?;
    }
    for (_, error) in &failed {
        ui.warning(&error.message, error.hints.first().map(String::as_str));
    }
    match failed.first() {
        None => Ok(Exit::Done),
        Some(_) if !done.is_empty() => Ok(Exit::Partial),
        Some((_, error)) => Ok(error.code.into()),
    }
}
