//! What an agent is told of the project at the start: a few lines, read once, each within bounds.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;

use nacre_core::base::ShownLine;
use nacre_core::base::git::GitFolder;
use nacre_core::base::redact::redact;
use nacre_core::instructions::blank_out;
use nacre_core::safefs::RelPath;

use super::folders::Folder;
use crate::model::Cancel;
use crate::tools::{ApprovalPolicy, Workspace};
use crate::tools::{Walk, WalkedFile};

/// The files that say how work is done in a project; of two with the same text the first counts.
const INSTRUCTION_FILES: &[&str] = &["AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md"];

const MAX_INSTRUCTION_BYTES: usize = 16_000;

/// What of the tree is looked at.
const MAX_ENTRIES: usize = 20_000;

/// What an agent is told of where it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Orientation {
    /// The folder that it works in.
    pub folder: String,
    pub branch: Option<String>,
    /// The date, as the person's clock says it.
    pub today: String,
    /// What it may do without asking, where that is known.
    pub policy: Option<ApprovalPolicy>,
    /// The files of the project in a few lines.
    pub tree: String,
    pub instructions: Vec<InstructionFile>,
    /// What is remembered of the project, where something is.
    pub brief: Option<String>,
}

/// An instruction file of the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstructionFile {
    pub name: String,
    pub text: String,
}

impl Orientation {
    /// Looks at the workspace. It reads files, so not on the threads of a runtime.
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

/// The branch that is checked out; for a commit, its beginning.
fn branch(root: &Path) -> Option<String> {
    // Read as a stranger's file: a pipe in its place would keep us waiting.
    let head = GitFolder::of(root)?.read("HEAD")?;
    let head = head.trim();
    let name = match head.strip_prefix("ref: refs/heads/") {
        Some(branch) => branch.to_owned(),
        None => format!("no branch, at {}", head.get(..12)?),
    };
    Some(ShownLine(&name).to_string())
}

/// Folders with the number of their files, and the files at the top.
fn tree(workspace: &Workspace) -> String {
    let mut top = Folder::default();
    let mut at_top: Vec<String> = Vec::new();
    let never = Cancel::never();
    let walked = Walk::new(workspace, &never).at_most(MAX_ENTRIES).run(None, &mut |found| {
        if let WalkedFile::File { path, .. } = found {
            match path.parent() {
                Some(parent) => top.add(parent.components()),
                None => at_top.push(path.to_string()),
            }
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
    lines.extend(top.lines());
    if walked.is_ok_and(|end| end.is_cut) {
        lines.push("and more than was looked at".to_owned());
    }
    let mut text = String::new();
    for line in lines {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "  {}", ShownLine(&line));
    }
    text.trim_end().to_owned()
}

fn instructions(workspace: &Workspace) -> Vec<InstructionFile> {
    let mut found: Vec<InstructionFile> = Vec::new();
    for name in INSTRUCTION_FILES {
        let Ok(path) = RelPath::new(name) else { continue };
        let Ok(text) = workspace.read_text(&path) else { continue };
        let text = told(&text);
        let is_new = found.iter().all(|known| known.text != text);
        if is_new && !text.trim().is_empty() {
            found.push(InstructionFile { name: (*name).to_owned(), text });
        }
    }
    found
}

/// The text without Nacre's own block, which the agent has better, and without secrets; cut where it is long.
fn told(text: &str) -> String {
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
