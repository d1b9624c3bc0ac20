//! The boundary of an agent that only reads: one folder, and nothing outside it.

use std::path::{Path, PathBuf};

use nacre_core::safefs::RelPath;

use super::path::{followed, strangeness};
use super::{Refusal, shown};
use crate::tools::workspace::{BadGlob, Denied};

/// What makes a path a pattern.
const GLOB_MARKS: [char; 6] = ['*', '?', '[', '{', '!', '('];

/// Judges what may be read below one folder. What cannot be judged is refused.
#[derive(Debug)]
pub struct ReadGuard {
    root: PathBuf,
    denied: Denied,
}

/// Why there is no guard.
#[derive(Debug, thiserror::Error)]
pub enum ReadGuardError {
    #[error("The folder that may be read cannot be found")]
    NoRoot(#[source] std::io::Error),
    #[error(transparent)]
    Glob(#[from] BadGlob),
}

impl ReadGuard {
    /// Everything below `root` may be read but what `denied` names.
    pub fn new(root: &Path, denied: &[String]) -> Result<Self, ReadGuardError> {
        let root = root.canonicalize().map_err(ReadGuardError::NoRoot)?;
        Ok(Self { root, denied: Denied::new(denied)? })
    }

    /// The folder, as it really lies.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Judges one path. A relative one starts in the folder.
    pub fn refuse_path(&self, text: &str) -> Option<Refusal> {
        self.check(text).err().map(|why| Refusal { why: format!("{}: {why}", shown(text)) })
    }

    /// Judges a pattern of paths by the folder that it starts in.
    pub fn refuse_pattern(&self, text: &str) -> Option<Refusal> {
        let refusal = |why: &str| Some(Refusal { why: format!("{}: {why}", shown(text)) });
        if text.split(['/', '\\', '{', ',', '}']).any(|part| part == "..") {
            return refusal("it goes up");
        }
        if text.contains("{/") || text.contains(",/") {
            return refusal("it is several paths in one");
        }
        let plain = &text[..text.find(GLOB_MARKS).unwrap_or(text.len())];
        let folder = if plain.len() == text.len() {
            plain
        } else {
            plain.rfind('/').map_or("", |end| &plain[..=end])
        };
        if folder.is_empty() { None } else { self.refuse_path(folder) }
    }

    fn check(&self, text: &str) -> Result<(), &'static str> {
        if let Some(strange) = strangeness(text) {
            return Err(strange);
        }
        if text.starts_with('~') {
            return Err("it is in the home of somebody");
        }
        let real = followed(&self.root.join(text))?;
        let inside = real.strip_prefix(&self.root).map_err(|_| "it leads out of the memory")?;
        let inside = inside.to_str().ok_or("its name is not text")?;
        if inside.is_empty() {
            return Ok(());
        }
        let path = RelPath::new(inside).map_err(|_| "it is not a plain path")?;
        match self.denied.is_sensitive(&path) {
            true => Err("it is not for an agent to read"),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests play whoever plants files")]
mod tests {
    use std::fs;

    use super::*;

    fn folder() -> (tempfile::TempDir, ReadGuard) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("memory");
        fs::create_dir_all(root.join("decisions")).unwrap();
        fs::create_dir_all(root.join("summaries")).unwrap();
        fs::write(root.join("decisions/a.md"), "a").unwrap();
        fs::write(folder.path().join("outside.md"), "o").unwrap();
        std::os::unix::fs::symlink(folder.path(), root.join("out")).unwrap();
        fs::hard_link(folder.path().join("outside.md"), root.join("second.md")).unwrap();
        let guard = ReadGuard::new(&root, &["summaries".to_owned()]).unwrap();
        (folder, guard)
    }

    #[test]
    fn only_what_lies_below_the_folder_is_read() {
        let (folder, guard) = folder();
        let inside = guard.root().join("decisions/a.md");
        for path in
            [inside.to_str().unwrap(), "decisions/a.md", "./decisions", ".", "decisions/new.md"]
        {
            assert_eq!(guard.refuse_path(path), None, "{path}");
        }
        let outside = folder.path().join("outside.md");
        for path in [
            outside.to_str().unwrap(),
            "/etc/passwd",
            "../outside.md",
            "decisions/../../outside.md",
            "~/.ssh/id_ed25519",
            "out/outside.md",
            "second.md",
            "summaries/s.md",
            "summaries",
            ".env",
            "/proc/self/environ",
            "%2e%2e/outside.md",
            "file:///etc/passwd",
            "",
        ] {
            assert!(guard.refuse_path(path).is_some(), "{path}");
        }
    }

    #[test]
    fn a_pattern_starts_below_the_folder() {
        let (_folder, guard) = folder();
        let inside = guard.root().join("decisions/*.md");
        for pattern in
            [inside.to_str().unwrap(), "**/*.md", "*", "decisions/*", "{decisions,learnings}/*.md"]
        {
            assert_eq!(guard.refuse_pattern(pattern), None, "{pattern}");
        }
        for pattern in [
            "/etc/host*",
            "/*",
            "/etc/passwd",
            "~/.ssh/*",
            "../*",
            "decisions/../../*",
            "{../*,a}",
            "{/etc/*,a}",
            "{a,/etc/*}",
            "out/*",
            "summaries/*",
        ] {
            assert!(guard.refuse_pattern(pattern).is_some(), "{pattern}");
        }
        assert!(ReadGuard::new(&guard.root().join("nowhere"), &[]).is_err());
    }
}
