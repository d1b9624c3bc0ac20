//! The files that statements are taken from, each read whole and within bounds.
//!
//! Below the project no link is followed. A file elsewhere is read only where a person names it, and is known by its name
//! alone, since others read where a memory comes from.

use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use nacre_api::wire::{FileFault, ImportRequest};
use nacre_core::memory::Speaker;
use nacre_core::safefs::{Access, EntryKind, FsError, RelPath, WriteScope};

use crate::error::OpError;
use crate::host::{Host, homes};

/// How the source of an imported memory begins; the file follows.
pub(super) const SOURCE: &str = "import:";

/// A larger file is not an instruction.
const MAX_FILE_BYTES: u64 = 256 << 10;

/// More files are not looked at.
const MAX_FILES: usize = 200;

/// All files together hold no more.
const MAX_BYTES: usize = 1 << 20;

/// The instruction files of a project.
const USUAL_FILES: [&str; 7] = [
    "AGENTS.md",
    "CLAUDE.md",
    ".claude/CLAUDE.md",
    PERSONAL_FILE,
    "GEMINI.md",
    ".cursorrules",
    ".github/copilot-instructions.md",
];

/// Git ignores it: it is one person's.
const PERSONAL_FILE: &str = "CLAUDE.local.md";

/// The folder with the rules of Cursor.
const RULES_FOLDER: &str = ".cursor/rules";

/// How files are named that Claude Code wrote about the project.
const CLAUDE_MEMORY: &str = "claude-memory";

/// Sessions that are looked at to see whose folder it is, and how far.
const MAX_SESSIONS: usize = 64;
const MAX_HEAD_BYTES: u64 = 64 << 10;

/// Names of folders are cut there, and a hash follows.
const MAX_SLUG: usize = 200;

/// A file, and who wrote it.
#[derive(Debug)]
pub(super) struct SourceFile {
    /// What memories name as their source: no path of this machine.
    pub(super) label: String,
    pub(super) text: Result<String, FileFault>,
    pub(super) speaker: Speaker,
    /// It is one person's, and not the project's.
    pub(super) is_personal: bool,
}

/// The files that are asked for, or those that are usual.
pub(super) fn sources(
    host: &Host,
    root: Option<&Path>,
    request: &ImportRequest,
) -> Result<Vec<SourceFile>, OpError> {
    let mut files = Vec::new();
    match request.paths.as_slice() {
        [] => {
            let root = root.ok_or_else(|| host.no_project())?;
            usual(root, &mut files)?;
            claude_memory(host, root, &mut files);
        }
        paths => {
            for path in paths {
                named(host, root, path, &mut files)?;
            }
        }
    }
    leave_out(&mut files);
    Ok(files)
}

/// Leaves out what is more than a person can review: each statement is compared with all that is known.
fn leave_out(files: &mut [SourceFile]) {
    let mut n_bytes = 0;
    for (n_files, file) in files.iter_mut().enumerate() {
        let length = file.text.as_ref().map_or(0, String::len);
        if MAX_FILES <= n_files || MAX_BYTES < n_bytes + length {
            file.text = Err(FileFault::OverLimit);
        } else {
            n_bytes += length;
        }
    }
}

fn usual(root: &Path, files: &mut Vec<SourceFile>) -> Result<(), OpError> {
    let scope = WriteScope::open(root, Access::Shared)?;
    for name in USUAL_FILES {
        files.extend(read(&scope, &RelPath::new(name)?, name));
    }
    let rules = RelPath::new(RULES_FOLDER)?;
    match scope.list(&rules) {
        Ok(_) => read_folder(&scope, Some(&rules), &|name| format!("{RULES_FOLDER}/{name}"), files),
        // A link in its place is not followed.
        Err(_) => files.push(unread(RULES_FOLDER, FileFault::NotPlain)),
    }
    Ok(())
}

/// What Claude Code wrote about the project, in its own folder.
fn claude_memory(host: &Host, root: &Path, files: &mut Vec<SourceFile>) {
    let Ok(homes) = homes(host) else { return };
    let usual = || vec![host.environment.home.as_deref().unwrap_or(Path::new("/")).join(".claude")];
    let configs = if homes.claude_config.is_empty() { usual() } else { homes.claude_config };
    for config in configs {
        for folder in memory_folders(&config.join("projects"), root) {
            if !is_about(&folder, root) {
                continue;
            }
            let Ok(scope) = WriteScope::open(&folder, Access::Private) else { continue };
            let from = files.len();
            read_folder(&scope, None, &|name| format!("{CLAUDE_MEMORY}/{name}"), files);
            for file in &mut files[from..] {
                (file.speaker, file.is_personal) = (Speaker::Assistant, true);
            }
        }
    }
}

/// The folders whose name is made of the project's path.
fn memory_folders(projects: &Path, root: &Path) -> Vec<PathBuf> {
    let slug: String = root
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    if slug.len() <= MAX_SLUG {
        return vec![projects.join(slug).join("memory")];
    }
    let head = format!("{}-", &slug[..MAX_SLUG]);
    let listed = WriteScope::open(projects, Access::Private).and_then(|scope| scope.root()?.list());
    let named =
        listed.unwrap_or_default().into_iter().filter(|entry| entry.name.starts_with(&head));
    named.map(|entry| projects.join(entry.name).join("memory")).collect()
}

/// Whether the memory is about this project. The folder's name does not say so: `work/acme` and `work-acme` share one. Its
/// sessions do.
fn is_about(memory: &Path, root: &Path) -> bool {
    let Some(sessions) = memory.parent() else { return false };
    let listed = WriteScope::open(sessions, Access::Private).and_then(|scope| scope.root()?.list());
    let names = listed.unwrap_or_default().into_iter();
    let names = names.filter(|at| at.kind == EntryKind::File && at.name.ends_with(".jsonl"));
    let mut folders =
        names.take(MAX_SESSIONS).filter_map(|at| first_folder(&sessions.join(at.name)));
    folders.all(|folder| folder.starts_with(root))
}

/// The folder that a session of Claude Code began in.
fn first_folder(session: &Path) -> Option<PathBuf> {
    let mut head = Vec::new();
    std::fs::File::open(session).ok()?.take(MAX_HEAD_BYTES).read_to_end(&mut head).ok()?;
    let head = String::from_utf8_lossy(&head);
    let (_, after) = head.split_once("\"cwd\":")?;
    let mut values = serde_json::Deserializer::from_str(after).into_iter::<String>();
    values.next()?.ok().map(PathBuf::from)
}

/// A file or folder that a person named.
fn named(
    host: &Host,
    root: Option<&Path>,
    path: &str,
    files: &mut Vec<SourceFile>,
) -> Result<(), OpError> {
    let full = unresolved(host, root, path);
    let missing = || {
        OpError::not_found(format!("There is no `{path}`"))
            .hint("Without a path, `nacre import` looks for the usual files itself")
    };
    let below = root.and_then(|root| Some((root, full.strip_prefix(root).ok()?.to_str()?)));
    let (scope, rel) = match below {
        Some((root, "")) => (WriteScope::open(root, Access::Shared)?, None),
        Some((root, below)) => {
            (WriteScope::open(root, Access::Shared)?, Some(RelPath::new(below)?))
        }
        None => {
            let name = full.file_name().and_then(|name| name.to_str()).ok_or_else(missing)?;
            let parent = full.parent().ok_or_else(missing)?;
            let scope = WriteScope::open(parent, Access::Private).map_err(|_| missing())?;
            (scope, Some(RelPath::new(name)?))
        }
    };
    let from = files.len();
    match &rel {
        Some(rel) if !is_folder(&scope, rel) => {
            files.push(read(&scope, rel, rel.as_str()).ok_or_else(missing)?);
        }
        folder => {
            let label = |name: &str| match folder {
                Some(folder) => format!("{folder}/{name}"),
                None => name.to_owned(),
            };
            read_folder(&scope, folder.as_ref(), &label, files);
        }
    }
    for file in &mut files[from..] {
        file.is_personal |= below.is_none();
    }
    Ok(())
}

/// Where a named path leads. Below the project no link on the way is followed: one that a repository brings along would have
/// its statements taken from any file of the person's.
fn unresolved(host: &Host, root: Option<&Path>, path: &str) -> PathBuf {
    let mut full = PathBuf::new();
    for part in host.environment.folder.join(path).components() {
        match part {
            Component::ParentDir => {
                full.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => full.push(part),
        }
    }
    let is_below = root.is_some_and(|root| full.starts_with(root));
    if is_below { full } else { host.environment.absolute(Path::new(path)) }
}

fn is_folder(scope: &WriteScope, path: &RelPath) -> bool {
    matches!(scope.folder(path), Ok(Some(_)))
}

/// The Markdown files of a folder, in the order of their names.
fn read_folder(
    scope: &WriteScope,
    folder: Option<&RelPath>,
    label: &dyn Fn(&str) -> String,
    files: &mut Vec<SourceFile>,
) {
    let listed = match folder {
        Some(folder) => scope.list(folder),
        None => scope.root().and_then(|root| root.list()),
    };
    let is_text = |name: &str| name.ends_with(".md") || name.ends_with(".mdc");
    for entry in listed.unwrap_or_default() {
        if entry.kind == EntryKind::Folder || !is_text(&entry.name) || files.len() > MAX_FILES {
            continue;
        }
        let path = match folder {
            Some(folder) => RelPath::new(&format!("{folder}/{}", entry.name)),
            None => RelPath::new(&entry.name),
        };
        let Ok(path) = path else { continue };
        files.extend(read(scope, &path, &label(&entry.name)));
    }
}

/// A file; `None` where there is none.
fn read(scope: &WriteScope, path: &RelPath, label: &str) -> Option<SourceFile> {
    let text = match scope.read_optional(path, MAX_FILE_BYTES) {
        Ok(None) => return None,
        Ok(Some(bytes)) => String::from_utf8(bytes).map_err(|_| FileFault::NotText),
        Err(FsError::NotAFile { .. } | FsError::NotAFolder { .. }) => Err(FileFault::NotPlain),
        Err(FsError::TooLarge { .. }) => Err(FileFault::TooLarge),
        Err(_) => Err(FileFault::Unreadable),
    };
    let is_personal = path.name() == PERSONAL_FILE;
    Some(SourceFile { label: label.to_owned(), text, speaker: Speaker::User, is_personal })
}

fn unread(label: &str, fault: FileFault) -> SourceFile {
    let (text, speaker) = (Err(fault), Speaker::User);
    SourceFile { label: label.to_owned(), text, speaker, is_personal: false }
}
