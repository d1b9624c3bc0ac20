//! `nacre init`: a repository gets its store.

use std::path::Path;

use clap::Args;
use nacre_core::base::ShownLine;
use nacre_core::config::projects;
use nacre_core::memory;
use nacre_core::safefs::{Access, WriteScope};
use serde::Serialize;

use super::exit::Exit;
use super::memory::counted;
use super::ui::{Role, Ui};
use nacre_ops::Host;
use nacre_ops::OpError;
use nacre_ops::host::STORE_FOLDER;
use nacre_ops::host::git_root;

/// What a repository's own settings start with.
const REPO_CONFIG: &str = "\
# Settings of this repository, shared through git. `nacre config show` lists every key.
# What runs commands or sends data is a person's own to set, and ignored here.
";

/// Prepare this repository for memory
///
/// Makes `.nacre/` at the root of the git repository around the current folder (or in the folder
/// itself), with a `.gitignore` that shares memories and their evidence and nothing else, and
/// registers the project. Running it again changes nothing.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Name of the project [default: the folder's name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

#[derive(Serialize)]
struct InitOutput {
    root: String,
    /// `None` when it could not be registered.
    project: Option<String>,
    is_git: bool,
    /// What was made now; nothing when the store was there already.
    created: Vec<String>,
    memories: usize,
    next: String,
}

pub(crate) fn cmd_init(ui: &mut Ui, host: &Host, args: &InitArgs) -> Result<Exit, OpError> {
    let InitArgs { name } = args;
    let folder = &host.environment.folder;
    let git = git_root(&host.person, folder);
    let root = git.as_deref().unwrap_or(folder);
    if Some(root.join(STORE_FOLDER).as_path()) == host.home().ok() {
        return Err(OpError::failed("This folder's `.nacre` is the global store")
            .hint("Run `nacre init` inside a repository"));
    }
    let scope = WriteScope::create_inside(root, STORE_FOLDER, Access::Shared)?;
    nacre_ops::host::check_owner(&host.person, root)?;
    let writer = scope.lock(&host.owner("init"), host.settings().lock.wait)?;
    let created = memory::init(&writer, REPO_CONFIG)?;
    drop(writer);
    let registered = register(host, root, name.as_deref());
    let project = registered.as_ref().ok().cloned();
    let store = memory::Store::new(scope, memory::Rules::default());
    let output = InitOutput {
        root: root.display().to_string(),
        project,
        is_git: git.is_some(),
        created: created.iter().map(|path| format!("{STORE_FOLDER}/{path}")).collect(),
        memories: store.list(|_| true)?.memories.len(),
        next: "nacre memory add \"Use SQLite for the queue\" --body \"One file, no server.\""
            .to_owned(),
    };
    print(ui, &output)?;
    match registered {
        Ok(_) => Ok(Exit::Done),
        Err(error) => {
            ui.warning(format!("The project could not be registered: {}", error.message), None);
            Ok(Exit::Partial)
        }
    }
}

/// Puts the project into the register, unless it is there.
fn register(host: &Host, root: &Path, name: Option<&str>) -> Result<String, OpError> {
    if let Some(known) = host.projects.iter().find(|project| project.path == root)
        && name.is_none_or(|name| name == known.name)
    {
        return Ok(known.name.clone());
    }
    let name = name.map_or_else(|| projects::name_for(root, &host.projects), str::to_owned);
    add_project(host, &name, root)?;
    Ok(name)
}

/// Writes a project into the register.
pub(super) fn add_project(host: &Host, name: &str, root: &Path) -> Result<(), OpError> {
    edit_projects(host, |text, origin| Ok(projects::add(text, origin, name, root)?))
}

/// Changes the register's text.
pub(super) fn edit_projects(
    host: &Host,
    change: impl FnOnce(&str, &Path) -> Result<String, OpError>,
) -> Result<(), OpError> {
    host.edit_text(&host.home_scope()?, "projects.toml", "project", change)
}

fn print(ui: &mut Ui, output: &InitOutput) -> Result<Exit, OpError> {
    if ui.is_json() {
        ui.json(output)?;
        return Ok(Exit::Done);
    }
    let place = if output.is_git {
        "git repository"
    } else {
        "folder (no git: history is kept by runs only)"
    };
    ui.status(format!("Found {place} {}", ShownLine(&output.root)))?;
    match output.created.as_slice() {
        [] => ui.status("The store was there already; nothing changed.")?,
        created => ui.status(format!("Made {}", created.join(", ")))?,
    }
    let name = output.project.as_deref().unwrap_or("not registered");
    ui.status(format!("Project `{}`, {}.", ShownLine(name), counted(output.memories)))?;
    let next = ui.paint(Role::Title, &output.next);
    ui.status(format!("\nNext: {next}"))?;
    Ok(Exit::Done)
}
