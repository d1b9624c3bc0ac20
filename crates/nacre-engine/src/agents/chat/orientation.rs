//! Describes the project in a few lines for an agent's prompt.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

use nacre_base::ShownLine;
use nacre_base::fs::RelPath;
use nacre_base::git::GitFolder;
use nacre_base::redact::redact;
use nacre_traces::instructions::blank_out;
use nacre_types::ApprovalPolicy;

use crate::model::Cancel;
use crate::tools::{Walk, Workspace};

/// Files that may contain instructions for agents. If two of them have the same content, only the
/// first is included.
const INSTRUCTION_FILES: &[&str] = &["AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md"];

const MAX_INSTRUCTION_BYTES: usize = 16_000;

const MAX_ENTRIES: usize = 20_000;
const MAX_FOLDERS: usize = 40;

/// A directory with more subdirectories than this is listed on a single line.
const MAX_OPENED: usize = 14;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Orientation {
    pub folder: String,
    pub branch: Option<String>,
    pub today: String,
    pub policy: Option<ApprovalPolicy>,
    pub tree: String,
    pub instructions: Vec<InstructionFile>,
    pub brief: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionFile {
    pub name: String,
    pub text: String,
}

impl Orientation {
    /// Collects the orientation from the workspace. Blocks, so do not call it on async threads.
    pub fn look(workspace: &Workspace, today: &str) -> Self {
        Self {
            folder: ShownLine(&workspace.root().display().to_string()).to_string(),
            branch: branch(workspace.root()),
            today: today.to_owned(),
            policy: None,
            tree: tree(workspace),
            instructions: instructions(workspace),
            brief: None,
        }
    }
}

fn branch(root: &Path) -> Option<String> {
    // `GitFolder` does not hang if `HEAD` is a named pipe.
    let head = GitFolder::of(root)?.read("HEAD")?;
    let head = head.trim();
    let name = match head.strip_prefix("ref: refs/heads/") {
        Some(branch) => branch.to_owned(),
        None => format!("detached HEAD at {}", head.get(..12)?),
    };
    Some(ShownLine(&name).to_string())
}

fn tree(workspace: &Workspace) -> String {
    let mut folders: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    let mut at_top: Vec<String> = Vec::new();
    let never = Cancel::new();
    let walked = Walk::new(workspace, &never).at_most(MAX_ENTRIES).run(None, &mut |path, _| {
        match path.parent() {
            Some(parent) => {
                let names: Vec<&str> = parent.components().take(2).collect();
                let inside = folders.entry(names[0].to_owned()).or_default();
                *inside.entry(names.join("/")).or_default() += 1;
            }
            None => at_top.push(path.to_string()),
        }
        ControlFlow::Continue(())
    });
    let mut lines: Vec<String> = Vec::new();
    if !at_top.is_empty() {
        at_top.sort();
        let n_more = at_top.len().saturating_sub(30);
        at_top.truncate(30);
        let more = if n_more == 0 { String::new() } else { format!(" and {n_more} more") };
        lines.push(format!("{}{more}", at_top.join(" ")));
    }
    let folders = folders.into_iter().flat_map(|(path, inside)| match inside.len() {
        2..=MAX_OPENED => inside,
        _ => BTreeMap::from([(path, inside.into_values().sum())]),
    });
    let folders: Vec<(String, usize)> = folders.collect();
    for (path, n_files) in folders.iter().take(MAX_FOLDERS) {
        let files = if *n_files == 1 { "file" } else { "files" };
        lines.push(format!("{path}/ ({n_files} {files})"));
    }
    if MAX_FOLDERS < folders.len() {
        lines.push(format!("and {} more directories", folders.len() - MAX_FOLDERS));
    }
    if walked.is_ok_and(|end| end.is_cut) {
        lines.push("and more that were not scanned".to_owned());
    }
    let mut text = String::new();
    for line in lines {
        let _ = writeln!(text, "  {}", ShownLine(&line));
    }
    text.trim_end().to_owned()
}

fn instructions(workspace: &Workspace) -> Vec<InstructionFile> {
    let mut found: Vec<InstructionFile> = Vec::new();
    for name in INSTRUCTION_FILES {
        let Ok(path) = RelPath::new(name) else { continue };
        let Ok(text) = workspace.read_text(&path) else { continue };
        let text = shorten(&text);
        let is_new = found.iter().all(|known| known.text != text);
        if is_new && !text.trim().is_empty() {
            found.push(InstructionFile { name: (*name).to_owned(), text });
        }
    }
    found
}

/// Redacts secrets, removes the block that Nacre maintains in the file, and shortens long text. The
/// block's content is passed to the agent separately.
fn shorten(text: &str) -> String {
    let (own, _) = blank_out(text);
    let clean = redact(own.trim());
    match clean.len() <= MAX_INSTRUCTION_BYTES {
        true => clean.into_owned(),
        false => {
            let end = clean.floor_char_boundary(MAX_INSTRUCTION_BYTES);
            format!("{}\n[There is more; read the file.]", &clean[..end])
        }
    }
}
