//! Where the agent is: what a person would tell a newcomer before the first question.

use std::path::Path;

use nacre_api::wire::BriefRequest;
use nacre_core::base::git::GitFolder;
use nacre_core::transcript::injected::{BRIEF_TAG, marked};
use nacre_engine::agents::Orientation;

use crate::host::{Host, read_plain};
use crate::operations::brief::brief;

/// Lines of the tree.
const MAX_ENTRIES: usize = 60;

/// The files that people write for agents.
const INSTRUCTIONS: &[&str] = &["AGENTS.md", "CLAUDE.md"];

/// Larger files are no instructions.
const MAX_INSTRUCTION_BYTES: u64 = 256 << 10;

/// Looks around in a workspace. What cannot be found out is left out.
pub(super) fn orientation(host: &Host, root: &Path) -> Orientation {
    Orientation {
        date: host.now().strftime("%Y-%m-%d").to_string(),
        branch: branch(root),
        tree: tree(root),
        instructions: instructions(root),
        brief: remembered(host),
    }
}

fn branch(root: &Path) -> Option<String> {
    let head = GitFolder::of(root)?.read("HEAD")?;
    let name = head.trim().strip_prefix("ref: refs/heads/")?;
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_./+@".contains(c));
    (is_plain && name.len() <= 200).then(|| name.to_owned())
}

/// The first level of folders and files, folders first.
fn tree(root: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(root) else { return Vec::new() };
    let mut names: Vec<(bool, String)> = entries
        .filter_map(Result::ok)
        .take(MAX_ENTRIES * 20)
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let is_folder = entry.file_type().ok()?.is_dir();
            let is_shown = !name.starts_with('.') && !name.contains(char::is_control);
            is_shown.then_some((!is_folder, name))
        })
        .collect();
    names.sort();
    let n_more = names.len().saturating_sub(MAX_ENTRIES);
    let shown = names.into_iter().take(MAX_ENTRIES);
    let mut lines: Vec<String> =
        shown.map(|(is_file, name)| if is_file { name } else { format!("{name}/") }).collect();
    if n_more > 0 {
        lines.push(format!("and {n_more} more"));
    }
    lines
}

/// The first instruction file that there is: where there are several, they say the same.
fn instructions(root: &Path) -> Vec<(String, String)> {
    let read = |name: &&str| {
        let path = root.join(name);
        let facts = std::fs::symlink_metadata(&path).ok()?;
        if !facts.is_file() || MAX_INSTRUCTION_BYTES < facts.len() {
            return None;
        }
        Some(((*name).to_owned(), read_plain(&path).ok()?))
    };
    INSTRUCTIONS.iter().find_map(|name| read(name)).into_iter().collect()
}

/// What the next session should know, as a hook would tell another agent.
fn remembered(host: &Host) -> Option<String> {
    let budget = host.settings().hooks.start_tokens;
    if budget == 0 {
        return None;
    }
    let request = BriefRequest { budget: Some(budget), ..BriefRequest::default() };
    let report = brief(host, &request).ok()?;
    (!report.text.is_empty()).then(|| marked(BRIEF_TAG, &report.text))
}
