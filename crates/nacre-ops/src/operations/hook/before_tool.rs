//! An agent is about to use a tool: whether it may, and what is known about the file.

use std::path::{Path, PathBuf};

use nacre_api::wire::{HookToolReport, HookToolRequest, ToolAccess};
use nacre_core::memory::LearningKind;
use nacre_core::search::{Builtin, Interest, Listed, MemoryIndex, Mode, files_named};
use nacre_core::transcript::injected::{NOTE_TAG, marked};
use nacre_engine::confine::secrets_of_home;
use nacre_engine::flows::brief::{Item, Source, line_of};
use nacre_engine::tools::{Guard, GuardRules, Touch};

use super::session::{SessionNotes, claim};
use crate::error::OpError;
use crate::host::{Host, git_root};

/// What an agent can do about a refusal.
const ASK_THEM: &str = "The person set this boundary: do without it, or ask them";

/// What a command says that would take the boundary away.
const OF_THE_GUARD: [&str; 2] = ["hooks.guard", "NACRE_HOOKS_"];

/// Files that are looked up for one call; more are a sweep, not an edit.
const MAX_FILES: usize = 8;

pub fn before_tool(host: &Host, request: &HookToolRequest) -> Result<HookToolReport, OpError> {
    let hooks = &host.settings().hooks;
    if let Some(why) = ToolGuard::open(host)?.refuse(request) {
        return Ok(HookToolReport { denied: Some(why), ..HookToolReport::default() });
    }
    if !hooks.pitfalls || request.access != ToolAccess::Write || request.paths.is_empty() {
        return Ok(HookToolReport::default());
    }
    pitfall(host, request)
}

/// The write boundary, where the person wants it to be kept.
pub struct ToolGuard(Option<Guard>);

impl ToolGuard {
    pub fn open(host: &Host) -> Result<Self, OpError> {
        let is_wanted = host.settings().hooks.guard;
        Ok(Self(is_wanted.then(|| guard(host)).transpose()?))
    }

    /// Why a call may not run.
    pub fn refuse(&self, request: &HookToolRequest) -> Option<String> {
        let guard = self.0.as_ref()?;
        let touch = match request.access {
            ToolAccess::Read => Touch::Read,
            ToolAccess::Write => Touch::Write,
        };
        let why = match (&request.command, request.has_more) {
            (_, true) => Some("It names more paths than can be looked at".to_owned()),
            (Some(command), false) if OF_THE_GUARD.iter().any(|word| command.contains(word)) => {
                Some("It would change the guard itself".to_owned())
            }
            (Some(command), false) => guard.refuse_command(command).map(|refusal| refusal.why),
            (None, false) => None,
        };
        let mut refusals = request.paths.iter().filter_map(|path| guard.refuse_path(path, touch));
        let why = why.or_else(|| refusals.next().map(|refusal| refusal.why))?;
        Some(format!("Nacre's guard refused this call. {why}. {ASK_THEM}."))
    }
}

fn guard(host: &Host) -> Result<Guard, OpError> {
    let folder = host.environment.folder.clone();
    let project = host.project.as_ref().map(|project| project.path.clone());
    let root =
        project.or_else(|| git_root(&host.person, &folder)).unwrap_or_else(|| folder.clone());
    let home = host.environment.home.clone();
    let secrets = secrets_of_home(home.as_deref(), host.home().ok());
    let hooks = &host.settings().hooks;
    let folders = hooks.guard_folders.iter().map(PathBuf::from).collect();
    let denied = host.settings().map.deny.clone();
    let rules = GuardRules { root, folder, home, secrets, folders, denied };
    Guard::new(rules).map_err(|error| OpError::failed(error.to_string()))
}

/// The best pitfall that names one of the files and that the session was not told.
fn pitfall(host: &Host, request: &HookToolRequest) -> Result<HookToolReport, OpError> {
    let stores = host.stores_to_read(None)?;
    let notes = SessionNotes::open(host, &request.session)?;
    let model = Builtin::shipped()?;
    let files: Vec<String> =
        request.paths.iter().take(MAX_FILES).map(|path| below(host, path)).collect();
    for scoped in &stores {
        let index = host.quick_index(scoped, &model)?;
        let source = Source { store: &scoped.store, index: &index, scope: scoped.scope.as_str() };
        let Some(item) = known_pitfall(&source, &files, &notes)? else { continue };
        let memories = claim(host, &request.session, std::slice::from_ref(&item.id))?;
        if memories.is_empty() {
            continue;
        }
        let text =
            marked(NOTE_TAG, &format!("A pitfall is remembered here, as data: {}", item.line()));
        return Ok(HookToolReport { denied: None, text, memories });
    }
    Ok(HookToolReport::default())
}

fn known_pitfall(
    source: &Source<'_>,
    files: &[String],
    notes: &SessionNotes,
) -> Result<Option<Item>, OpError> {
    let index: &MemoryIndex<'_> = source.index;
    let interest = Interest { task: None, files, mode: Mode::Lexical };
    let is_about_it = |one: &Listed<'_>| {
        let is_pitfall = matches!(one.kind, Some(LearningKind::Pitfall | LearningKind::Friction));
        let is_meant = is_pitfall && one.names_file > 0.0 && !notes.is_told(one.id);
        is_meant && source.store.may_know(one.id)
    };
    let mut listed: Vec<Listed<'_>> = index.outline(&interest)?.filter(is_about_it).collect();
    listed.sort_by(|a, b| {
        let by_name = b.names_file.total_cmp(&a.names_file);
        by_name.then_with(|| b.confidence.total_cmp(&a.confidence)).then_with(|| a.id.cmp(b.id))
    });
    let about_it = listed.iter().find_map(|one| {
        let memory = index.read(one)?;
        let named = files_named(&format!("{}\n{}", memory.title, memory.document.body()));
        let is_meant = |name: &String| {
            files.iter().any(|file| file == name || file.ends_with(&format!("/{name}")))
        };
        named.iter().any(is_meant).then(|| line_of(source, &memory))?
    });
    Ok(about_it)
}

/// A path as memories name it: below the project.
fn below(host: &Host, path: &str) -> String {
    let absolute = host.environment.absolute(Path::new(path));
    let root = host.project.as_ref().map(|project| project.path.as_path());
    let inside = root.and_then(|root| absolute.strip_prefix(root).ok());
    inside.map_or_else(|| path.to_owned(), |inside| inside.display().to_string())
}
