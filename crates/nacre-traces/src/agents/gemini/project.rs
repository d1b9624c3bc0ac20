//! Finds a session's project directory, which its records do not contain. Sessions are in a
//! directory whose name is a short project name or a hash. The project's path is in a file inside
//! that directory, in a list of all projects, or in the context that Gemini CLI adds to a session.

use crate::transcript::toolkit::*;
use std::path::Path;

use super::CHATS;

const PROJECT_ROOT: &str = ".project_root";
const PROJECTS: &str = "projects.json";
const FOLDER_HEADINGS: [&str; 2] =
    ["**Workspace Directories:**\n  - ", "I'm currently working in the directory: "];

pub(super) fn folder_of(path: &Path) -> Option<String> {
    let chats =
        path.ancestors().find(|above| above.file_name().is_some_and(|name| name == CHATS))?;
    let project = chats.parent()?;
    let inside = whole::sidecar(&project.join(PROJECT_ROOT));
    inside.and_then(|text| absolute(text.trim())).or_else(|| look_up_root(project))
}

fn look_up_root(project: &Path) -> Option<String> {
    let own = project.file_name()?.to_str()?;
    let text = whole::sidecar(&project.parent()?.parent()?.join(PROJECTS))?;
    let list = Fields::of(&text);
    let projects = list.object("projects");
    let found =
        projects.members().find(|(_, name)| text_of(name).is_some_and(|name| name == own))?;
    // The path is a key of a JSON object.
    absolute(&decode(found.0))
}

fn absolute(path: &str) -> Option<String> {
    let is_path = path.starts_with('/') && !path.contains('\n');
    is_path.then(|| short_name(path))
}

pub(super) fn folder_in(text: &str) -> Option<&str> {
    if !text.trim_start().starts_with("<session_context>")
        && !text.starts_with("This is the Gemini CLI")
    {
        return None;
    }
    // File names follow the heading and may imitate it, so only its first occurrence counts.
    let headings = FOLDER_HEADINGS.iter().filter_map(|heading| text.split_once(heading));
    let (_, after) = headings.min_by_key(|(before, _)| before.len())?;
    let folder = after.lines().next()?.trim();
    folder.starts_with('/').then_some(folder)
}
