//! The write boundary for other agents' tools: decides which of their calls to refuse.
//!
//! The links in a path are resolved one by one, and the resulting path is checked. Writes to
//! ambiguous paths are refused. Shell commands are checked word by word, which is a heuristic and
//! not a security boundary; see `docs/sandbox.md`.

#[cfg(test)]
mod tests;

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use nacre_base::fs::RelPath;
use nacre_base::{is_hidden_char, platform};

use nacre_types::ToolAccess;

use crate::tools::footprint::Area;
use crate::tools::workspace::{BadGlob, Denied, is_machinery};

#[derive(Clone, Debug, Default)]
pub struct GuardRules {
    /// Root of the project. Writes outside the project are refused.
    pub root: PathBuf,
    pub folder: PathBuf,
    pub home: Option<PathBuf>,
    pub secrets: Vec<PathBuf>,
    /// Directories outside the project that may be written to.
    pub folders: Vec<PathBuf>,
    /// Globs of denied files, in addition to the built-in ones.
    pub denied: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Guard {
    rules: GuardRules,
    denied: Denied,
}

impl Guard {
    pub fn new(rules: GuardRules) -> Result<Self, BadGlob> {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let denied = Denied::new(&rules.denied)?;
        let rules = GuardRules {
            root: real(&rules.root),
            folder: real(&rules.folder),
            folders: rules.folders.iter().map(|folder| real(folder)).collect(),
            ..rules
        };
        Ok(Self { rules, denied })
    }

    pub fn refuse_path(&self, text: &str, touch: ToolAccess) -> Option<String> {
        let judged = match touch {
            ToolAccess::Read => self.check_read(text),
            ToolAccess::Write => self.check_write(text),
        };
        judged.err().map(|why| format!("{}: {why}", quote_start(text)))
    }

    pub fn refuse_command(&self, command: &str) -> Option<String> {
        let paths = paths(&command.replace("${HOME}", "~").replace("$HOME", "~"));
        paths.iter().find_map(|(path, touch)| self.refuse_path(path, *touch))
    }

    fn check_write(&self, text: &str) -> Result<(), &'static str> {
        if let Some(strange) = strangeness(text) {
            return Err(strange);
        }
        if text.split(['/', '\\']).any(is_machinery) {
            return Err("it belongs to git or to Nacre");
        }
        let real = resolve_links(&self.absolute(text)?)?;
        self.check_secret(&real)?;
        let inside = self.inside(&real).ok_or("it leads outside the project")?;
        let path =
            RelPath::new(&inside).map_err(|_| "it is not a plain path inside the project")?;
        if self.denied.forbids_writing(&Area::File(path)) {
            return Err("it is protected: git, Nacre, or a file with secrets");
        }
        Ok(())
    }

    fn check_read(&self, text: &str) -> Result<(), &'static str> {
        let Ok(absolute) = self.absolute(text) else { return Ok(()) };
        let real = resolve_links(&absolute).unwrap_or(absolute);
        self.check_secret(&real)?;
        let whole = nacre_base::platform::with_slashes(&real.to_string_lossy());
        let drive = whole.split_once(":/").filter(|_| cfg!(windows));
        let below = drive.map_or(whole.as_str(), |(_, below)| below);
        let is_sensitive = |path: &str| {
            RelPath::new(path.trim_start_matches('/'))
                .is_ok_and(|path| self.denied.is_sensitive(&path))
        };
        match is_sensitive(&self.inside(&real).unwrap_or_else(|| below.to_owned())) {
            true => Err("it is a file with secrets"),
            false => Ok(()),
        }
    }

    fn check_secret(&self, real: &Path) -> Result<(), &'static str> {
        match self.rules.secrets.iter().any(|secret| real.starts_with(secret)) {
            true => Err("it is a location for keys and passwords"),
            false => Ok(()),
        }
    }

    fn inside(&self, real: &Path) -> Option<String> {
        let roots = [&self.rules.root].into_iter().chain(&self.rules.folders);
        let mut below = roots.filter_map(|root| real.strip_prefix(root).ok());
        below.next().and_then(Path::to_str).map(nacre_base::platform::with_slashes)
    }

    fn absolute(&self, text: &str) -> Result<PathBuf, &'static str> {
        match text.strip_prefix('~') {
            None => Ok(self.rules.folder.join(text)),
            Some(rest) => match (&self.rules.home, rest.strip_prefix('/')) {
                (Some(home), Some(below)) => Ok(home.join(below)),
                _ => Err("it is in a user's home directory"),
            },
        }
    }
}

fn quote_start(text: &str) -> String {
    const MAX_SHOWN: usize = 120;
    let start = &text[..text.floor_char_boundary(MAX_SHOWN)];
    let cut = if start.len() < text.len() { "…" } else { "" };
    format!("`{}{cut}`", nacre_base::Shown(start).one_line())
}

const MAX_BYTES: usize = 4096;

/// Characters that some programs may interpret as a dot or a slash.
const LOOK_ALIKES: [char; 10] = ['．', '․', '‥', '…', '／', '∕', '⁄', '＼', '\u{fe68}', '\u{29f5}'];

/// Encodings that some programs may decode to path characters.
const ENCODED: [&str; 6] = ["%2e", "%2f", "%5c", "%00", "%c0", "%c1"];

fn strangeness(text: &str) -> Option<&'static str> {
    let lower = text.to_ascii_lowercase();
    match text {
        "" => Some("it is empty"),
        _ if text.len() > MAX_BYTES => Some("it is too long"),
        _ if text.contains(is_hidden_char) => Some("it has a control or invisible character"),
        _ if text.contains(LOOK_ALIKES) || ENCODED.iter().any(|byte| lower.contains(byte)) => {
            Some("it is ambiguous and may refer to another path")
        }
        _ if text.contains("://") => Some("it is a URL"),
        _ => None,
    }
}

/// Resolves the symbolic links in an absolute path. If the file does not exist yet, its directory
/// is resolved.
fn resolve_links(path: &Path) -> Result<PathBuf, &'static str> {
    let mut real = PathBuf::new();
    let mut is_missing = false;
    for component in path.components() {
        match component {
            Component::Prefix(_) | Component::RootDir => real.push(component),
            Component::CurDir => {}
            Component::ParentDir if is_missing => {
                return Err("it goes up from a missing directory");
            }
            Component::ParentDir => {
                real.pop();
            }
            Component::Normal(name) => (real, is_missing) = step(&real.join(name), is_missing)?,
        }
    }
    match real.symlink_metadata() {
        Ok(metadata) if metadata.is_file() && platform::has_other_names(&real) => {
            Err("it has another hard link")
        }
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => Err("not a regular file"),
        _ if is_of_the_system(&real) => Err("it belongs to the system"),
        _ => Ok(real),
    }
}

/// Resolves one path component. Returns the path and whether it is missing.
fn step(next: &Path, is_missing: bool) -> Result<(PathBuf, bool), &'static str> {
    if is_missing {
        return Ok((next.to_owned(), true));
    }
    match next.symlink_metadata() {
        Ok(metadata) if metadata.is_symlink() => match next.canonicalize() {
            Ok(target) => Ok((target, false)),
            Err(_) => Err("it contains a broken link"),
        },
        Ok(_) => Ok((next.to_owned(), false)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok((next.to_owned(), true)),
        Err(_) => Err("it cannot be resolved"),
    }
}

fn is_of_the_system(path: &Path) -> bool {
    ["/proc", "/dev", "/sys"].iter().any(|folder| path.starts_with(folder))
}

const WRITERS: &[&str] = &[
    "chmod", "chown", "cp", "dd", "install", "ln", "mkdir", "mv", "rm", "rmdir", "rsync", "shred",
    "tee", "touch", "truncate", "unlink",
];

/// Commands that write only to their last argument.
const COPIERS: &[&str] = &["cp", "install", "rsync"];

const SINKS: &[&str] = &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];

/// Maximum words in a command. Longer commands are treated as scripts.
const MAX_WORDS: usize = 4096;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Into,
    End,
}

/// Returns the paths in a command and how each is accessed. Words with variables, globs or
/// substitutions cannot be resolved and are skipped.
fn paths(command: &str) -> Vec<(String, ToolAccess)> {
    let mut found = Vec::new();
    for part in tokens(command).split(|token| *token == Token::End) {
        let mut words: Vec<&str> = Vec::new();
        let mut is_target = false;
        for token in part {
            match token {
                Token::Into => is_target = true,
                Token::Word(word) if is_target => {
                    found.push((word.clone(), ToolAccess::Write));
                    is_target = false;
                }
                Token::Word(word) => words.push(word),
                Token::End => {}
            }
        }
        found.extend(of_words(&words));
    }
    found.retain(|(path, _)| is_known(path) && !SINKS.contains(&path.as_str()));
    found
}

fn of_words(words: &[&str]) -> Vec<(String, ToolAccess)> {
    let is_assigned = |word: &&&str| word.contains('=') && !word.starts_with(['-', '/', '.']);
    let mut words =
        words.iter().skip_while(is_assigned).copied().skip_while(|word| *word == "sudo");
    let Some(program) = words.next() else { return Vec::new() };
    let program = program.rsplit('/').next().unwrap_or(program);
    let arguments: Vec<&str> = words.collect();
    let edits_in_place = ["sed", "perl"].contains(&program)
        && arguments.iter().any(|word| word.starts_with("-i") || word.starts_with("--in-place"));
    let is_writer = WRITERS.contains(&program) || edits_in_place;
    let files: Vec<&str> = arguments
        .iter()
        .map(|word| word.strip_prefix("of=").unwrap_or(word))
        .filter(|word| !word.starts_with('-'))
        .collect();
    let last = files.len().saturating_sub(1);
    let touch = |number: usize| match is_writer && (!COPIERS.contains(&program) || number == last) {
        true => ToolAccess::Write,
        false => ToolAccess::Read,
    };
    let looks_like_path = |word: &str| word.contains('/') || word.starts_with(['.', '~']);
    let paths = files.iter().enumerate().map(|(number, word)| (*word, touch(number)));
    // For commands that write, every argument counts as a file. For other commands, only path-like
    // words do.
    let paths = paths.filter(|(word, touch)| {
        (*touch == ToolAccess::Write && !edits_in_place) || looks_like_path(word)
    });
    paths.map(|(word, touch)| (word.to_owned(), touch)).collect()
}

fn is_known(path: &str) -> bool {
    !path.is_empty()
        && !path.contains(['$', '`', '*', '?', '{', '(', '\n'])
        && !path.starts_with("s/")
}

fn tokens(command: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut word = String::new();
    let mut quote: Option<char> = None;
    let mut chars = command.chars().peekable();
    while let Some(c) = chars.next() {
        if tokens.len() > MAX_WORDS {
            break;
        }
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.push(c),
            (None, '"' | '\'') => quote = Some(c),
            (None, '\\') => word.extend(chars.next()),
            (None, '>') => {
                // In `2>` and `&>`, the text before the `>` is part of the redirection, not a word.
                if word.chars().any(|c| !c.is_ascii_digit() && c != '&') {
                    flush(&mut word, &mut tokens);
                }
                word.clear();
                while chars.next_if(|next| ['>', '|'].contains(next)).is_some() {}
                // `>&2` redirects to a stream, not a file.
                if chars.next_if_eq(&'&').is_none() {
                    tokens.push(Token::Into);
                }
            }
            (None, ';' | '|' | '&' | '\n' | '(' | ')') => {
                flush(&mut word, &mut tokens);
                tokens.push(Token::End);
            }
            (None, c) if c.is_whitespace() => flush(&mut word, &mut tokens),
            (None, c) => word.push(c),
        }
    }
    flush(&mut word, &mut tokens);
    tokens
}

fn flush(word: &mut String, tokens: &mut Vec<Token>) {
    if !word.is_empty() {
        tokens.push(Token::Word(std::mem::take(word)));
    }
}
