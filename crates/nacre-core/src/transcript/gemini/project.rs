//! Which folder a session belongs to: its records do not say.
//!
//! The folder of a project's sessions is named by a short name or a hash. Which project that is
//! stands in a file inside it, in a list of all projects, and in the context that the agent adds.

use std::path::Path;

use super::super::names::short_name;
use super::super::view::{Fields, text_of};
use super::super::whole::sidecar;
use super::CHATS;

/// The file that names the project.
const PROJECT_ROOT: &str = ".project_root";
/// The list of all projects, in the folder above `tmp`.
const PROJECTS: &str = "projects.json";
/// What stands before the folder in the context that the agent adds, in newer and older versions.
const FOLDER_HEADINGS: [&str; 2] =
    ["**Workspace Directories:**\n  - ", "I'm currently working in the directory: "];

/// The folder that a session's place tells.
pub(super) fn folder_of(path: &Path) -> Option<String> {
    let chats =
        path.ancestors().find(|above| above.file_name().is_some_and(|name| name == CHATS))?;
    let project = chats.parent()?;
    named_inside(project).or_else(|| listed(project))
}

fn named_inside(project: &Path) -> Option<String> {
    let text = sidecar(&project.join(PROJECT_ROOT))?;
    absolute(text.trim())
}

fn listed(project: &Path) -> Option<String> {
    let own = project.file_name()?.to_str()?;
    let text = sidecar(&project.parent()?.parent()?.join(PROJECTS))?;
    let list = Fields::of(&text);
    let projects = list.object("projects");
    let found = projects
        .members()
        .find(|(_, name)| text_of(name).is_some_and(|name| name.decode() == own))?;
    // The path is a key, as written.
    absolute(&super::super::json::Text::written(found.0).decode())
}

fn absolute(path: &str) -> Option<String> {
    let is_path = path.starts_with('/') && !path.contains('\n');
    is_path.then(|| short_name(path))
}

/// The folder in the context that the agent adds to a session.
pub(super) fn folder_in(text: &str) -> Option<&str> {
    if !text.trim_start().starts_with("<session_context>")
        && !text.starts_with("This is the Gemini CLI")
    {
        return None;
    }
    // Names of files follow: the first heading is the agent's.
    let headings = FOLDER_HEADINGS.iter().filter_map(|heading| text.split_once(heading));
    let (_, after) = headings.min_by_key(|(before, _)| before.len())?;
    let folder = after.lines().next()?.trim();
    folder.starts_with('/').then_some(folder)
}
