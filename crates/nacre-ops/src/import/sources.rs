//! Finds and reads the files to import, within limits.
//!
//! Links inside the project are not followed. A file outside the project is read only if the user
//! names it. Such a file is labeled with its name instead of its path, because other people can see
//! where a memory comes from.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use nacre_base::fs::{Access, EntryKind, FsError, RelPath, WriteScope, without_dots};
use nacre_base::text::collapse_whitespace;
use nacre_memory::{Speaker, Trust};
use nacre_traces::agents::claude_config_folders;
use nacre_types::{FileFault, ImportRequest};

use crate::error::{OpError, Result};
use crate::host::{Host, homes};

const MAX_FILE_BYTES: u64 = 256 << 10;

const MAX_FILES: usize = 200;

const MAX_BYTES: usize = 1 << 20;

const USUAL_FILES: [&str; 7] = [
    "AGENTS.md",
    "CLAUDE.md",
    ".claude/CLAUDE.md",
    PERSONAL_FILE,
    "GEMINI.md",
    ".cursorrules",
    ".github/copilot-instructions.md",
];

/// Git ignores this file, so its content is personal.
const PERSONAL_FILE: &str = "CLAUDE.local.md";

const RULES_FOLDER: &str = ".cursor/rules";

/// Label of the files in which Claude Code stores its memories of the project.
const CLAUDE_MEMORY: &str = "claude-memory";

/// Number of sessions to read, and number of bytes to read from each, when determining which
/// project a directory belongs to.
const MAX_SESSIONS: usize = 64;
const MAX_HEAD_BYTES: u64 = 64 << 10;

/// Returns the text of the project instruction files that an agent loads, as a single line.
pub(crate) fn loaded_text(host: &Host, agent: &str) -> String {
    let names: &[&str] = match agent {
        "claude" => &["CLAUDE.md", ".claude/CLAUDE.md", PERSONAL_FILE],
        "gemini" => &["GEMINI.md"],
        "copilot" => &["AGENTS.md", ".github/copilot-instructions.md"],
        "cursor" => &["AGENTS.md", ".cursorrules"],
        _ => &["AGENTS.md"],
    };
    let Some(root) = host.project.as_ref().map(|project| project.path.as_path()) else {
        return String::new();
    };
    let scope = WriteScope::open(root, Access::Shared).ok();
    let read = |name: &str| read(scope.as_ref()?, &RelPath::new(name).ok()?, name)?.text.ok();
    let mut texts: Vec<String> = names.iter().filter_map(|name| read(name)).collect();
    if agent == "claude" {
        let mut memory = Vec::new();
        claude_memory(host, root, &mut memory);
        // Claude Code loads this file at the start, and the files that it lists only on demand.
        memory.retain(|file| file.label.ends_with("/MEMORY.md"));
        texts.extend(memory.into_iter().filter_map(|file| file.text.ok()));
        if texts.iter().any(|text| text.contains("@AGENTS.md")) {
            texts.extend(read("AGENTS.md"));
        }
    }
    collapse_whitespace(&texts.join("\n"))
}

#[derive(Debug)]
pub(super) struct SourceFile {
    /// The name by which a memory's source refers to this file. Does not contain a local path.
    pub(super) label: String,
    pub(super) text: Result<String, FileFault>,
    pub(super) speaker: Speaker,
    /// Whether the content belongs to the user and not to the project.
    pub(super) is_personal: bool,
    /// The maximum trust level of the statements. Files in the project may come from a clone.
    pub(super) limit: Trust,
}

pub(super) fn sources(
    host: &Host,
    root: Option<&Path>,
    request: &ImportRequest,
) -> Result<Vec<SourceFile>> {
    let mut files = Vec::new();
    if request.paths.is_empty() {
        let root = root.ok_or_else(|| host.no_project())?;
        read_usual(root, &mut files)?;
        claude_memory(host, root, &mut files);
    }
    for path in &request.paths {
        read_named(host, root, path, &mut files)?;
    }
    leave_out(&mut files);
    Ok(files)
}

/// Excludes files that exceed the limits. The limits bound the number of comparisons with memories.
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

fn read_usual(root: &Path, files: &mut Vec<SourceFile>) -> Result<()> {
    let scope = WriteScope::open(root, Access::Shared)?;
    for name in USUAL_FILES {
        files.extend(read(&scope, &RelPath::new(name)?, name));
    }
    let rules = RelPath::new(RULES_FOLDER)?;
    match scope.list(&rules) {
        Ok(_) => read_folder(&scope, Some(&rules), &|name| format!("{RULES_FOLDER}/{name}"), files),
        Err(_) => files.push(source_file(RULES_FOLDER, Err(FileFault::NotPlain))),
    }
    Ok(())
}

fn claude_memory(host: &Host, root: &Path, files: &mut Vec<SourceFile>) {
    let Ok(homes) = homes(host) else { return };
    let usual = || vec![host.environment.home.as_deref().unwrap_or(Path::new("/")).join(".claude")];
    let named = claude_config_folders(&homes);
    let configs = if named.is_empty() { usual() } else { named };
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let slug: String = root.to_string_lossy().chars().map(letter).collect();
    for config in configs {
        let sessions = config.join("projects").join(&slug);
        let Ok(scope) = WriteScope::open(&sessions.join("memory"), Access::Private) else {
            continue;
        };
        if !is_about(&sessions, root) {
            continue;
        }
        let from = files.len();
        read_folder(&scope, None, &|name| format!("{CLAUDE_MEMORY}/{name}"), files);
        for file in &mut files[from..] {
            (file.speaker, file.is_personal) = (Speaker::Assistant, true);
            file.limit = Trust::User;
        }
    }
}

/// Returns whether the sessions in a directory belong to this project. The directory's name is
/// ambiguous, because `work/acme` and `work-acme` have the same abbreviation.
fn is_about(sessions: &Path, root: &Path) -> bool {
    let listed = WriteScope::open(sessions, Access::Private).and_then(|scope| scope.root()?.list());
    let names = listed.unwrap_or_default().into_iter();
    let names = names.filter(|at| at.kind == EntryKind::File && at.name.ends_with(".jsonl"));
    let mut folders =
        names.take(MAX_SESSIONS).filter_map(|at| first_folder(&sessions.join(at.name)));
    folders.all(|folder| folder.starts_with(root))
}

fn first_folder(session: &Path) -> Option<PathBuf> {
    let mut head = Vec::new();
    std::fs::File::open(session).ok()?.take(MAX_HEAD_BYTES).read_to_end(&mut head).ok()?;
    let head = String::from_utf8_lossy(&head);
    let (_, after) = head.split_once("\"cwd\":")?;
    let mut values = serde_json::Deserializer::from_str(after).into_iter::<String>();
    values.next()?.ok().map(PathBuf::from)
}

fn read_named(
    host: &Host,
    root: Option<&Path>,
    path: &str,
    files: &mut Vec<SourceFile>,
) -> Result<()> {
    let full = resolve_path(host, root, path);
    let missing = || {
        OpError::not_found(format!("`{path}` not found"))
            .hint("Without a path, `nacre import` looks in the default locations")
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
        Some(rel) if !matches!(scope.folder(rel), Ok(Some(_))) => {
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
    for file in files[from..].iter_mut().filter(|_| below.is_none()) {
        (file.is_personal, file.limit) = (true, Trust::User);
    }
    Ok(())
}

/// Resolves a path given by the user. Links inside the project are not resolved, because a link in
/// a repository could point to any of the user's files.
fn resolve_path(host: &Host, root: Option<&Path>, path: &str) -> PathBuf {
    let full = without_dots(&host.environment.folder.join(path));
    let is_below = root.is_some_and(|root| full.starts_with(root));
    if is_below { full } else { host.environment.absolute(Path::new(path)) }
}

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

fn read(scope: &WriteScope, path: &RelPath, label: &str) -> Option<SourceFile> {
    let text = match scope.read_optional(path, MAX_FILE_BYTES) {
        Ok(None) => return None,
        Ok(Some(bytes)) => String::from_utf8(bytes).map_err(|_| FileFault::NotText),
        Err(FsError::NotAFile { .. } | FsError::NotAFolder { .. }) => Err(FileFault::NotPlain),
        Err(FsError::TooLarge { .. }) => Err(FileFault::TooLarge),
        Err(_) => Err(FileFault::Unreadable),
    };
    let is_personal = path.name() == PERSONAL_FILE;
    Some(SourceFile { is_personal, ..source_file(label, text) })
}

fn source_file(label: &str, text: Result<String, FileFault>) -> SourceFile {
    let (label, limit) = (label.to_owned(), Trust::Derived);
    SourceFile { label, text, speaker: Speaker::User, is_personal: false, limit }
}
