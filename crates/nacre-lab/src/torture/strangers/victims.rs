//! The simulated user: a home directory, a repository, and marker files that show whether a program
//! was started.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use super::Site;
use super::repositories::git;
use crate::AnyError;

/// The tool calls that the scripted model makes.
const SCRIPT: &str = r#"
[[turns]]
calls = [{ name = "git_status", arguments = {} }, { name = "git_diff", arguments = {} }, { name = "git_log", arguments = {} }, { name = "git_show", arguments = {} }, { name = "git_diff", arguments = { from = "HEAD" } }]

[[turns]]
calls = [{ name = "answer", arguments = { answer = "Here.", citations = [{ file = "a.txt", first_line = 1, last_line = 1, quote = "one" }] } }]
"#;

pub(crate) struct Victims {
    base: PathBuf,
    uid: Option<u32>,
}

impl Victims {
    pub(super) fn make(base: &Path, uid: Option<u32>) -> Result<Self, AnyError> {
        fs::create_dir_all(base)?;
        let victims = Self { base: fs::canonicalize(base)?, uid };
        for folder in ["home/.nacre", "marks", "own"] {
            fs::create_dir_all(victims.base.join(folder))?;
        }
        fs::set_permissions(victims.marks_folder(), fs::Permissions::from_mode(0o777))?;
        fs::write(victims.script(), SCRIPT)?;
        let own = victims.own();
        git(&own, &["init", "-q", "-b", "main"])?;
        fs::write(own.join("secret.txt"), "the person's own\n")?;
        git(&own, &["add", "."])?;
        git(&own, &["commit", "-q", "-m", "mine"])?;
        Ok(victims)
    }

    pub(super) fn home(&self) -> PathBuf {
        self.base.join("home")
    }

    /// The user's own repository.
    pub(super) fn own(&self) -> PathBuf {
        self.base.join("own")
    }

    pub(super) fn site(&self) -> PathBuf {
        self.base.join("site")
    }

    pub(super) fn script(&self) -> PathBuf {
        self.base.join("script.toml")
    }

    pub(super) fn output(&self) -> PathBuf {
        self.base.join("output")
    }

    fn marks_folder(&self) -> PathBuf {
        self.base.join("marks")
    }

    pub(super) fn marking(&self, name: &str) -> String {
        format!("touch {}; false", self.marks_folder().join(plain(name)).display())
    }

    pub(super) fn program(&self, name: &str) -> Result<PathBuf, AnyError> {
        let folder = self.base.join("programs");
        fs::create_dir_all(&folder)?;
        let path = folder.join(plain(name));
        fs::write(&path, format!("#!/bin/sh\n{}\n", self.marking(name)))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        Ok(path)
    }

    pub(super) fn marks(&self) -> Result<Vec<String>, AnyError> {
        let mut marks = Vec::new();
        for entry in fs::read_dir(self.marks_folder())? {
            marks.push(entry?.file_name().to_string_lossy().into_owned());
        }
        Ok(marks)
    }

    pub(super) fn clear_marks(&self) -> Result<(), AnyError> {
        for mark in self.marks()? {
            fs::remove_file(self.marks_folder().join(mark))?;
        }
        Ok(())
    }

    /// Changes the owner of all files to the user that runs the commands.
    pub(super) fn hand_over(&self, site: &Site) -> Result<(), AnyError> {
        fs::write(self.home().join(".nacre/config.toml"), &site.home_config)?;
        let Some(uid) = self.uid else { return Ok(()) };
        let mut queue = vec![self.home(), self.own(), self.site(), self.script()];
        while let Some(path) = queue.pop() {
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            std::os::unix::fs::lchown(&path, Some(uid), Some(uid))?;
            if metadata.is_dir() {
                queue.extend(fs::read_dir(&path)?.flatten().map(|entry| entry.path()));
            }
        }
        chown(self.marks_folder(), Some(uid), Some(uid))?;
        Ok(())
    }

    /// Fingerprints everything that commands must not change. This includes all files except the
    /// stores and git's index, which git itself rewrites.
    pub(super) fn fingerprint(&self, site: &Path) -> Result<BTreeMap<PathBuf, String>, AnyError> {
        let mut seen = BTreeMap::new();
        let mut queue = vec![self.home(), self.own(), site.to_owned()];
        while let Some(path) = queue.pop() {
            let is_store = path.file_name().is_some_and(|name| name == ".nacre");
            let is_own = path.starts_with(self.own());
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            if is_store && !is_own && metadata.is_dir() {
                continue;
            }
            // Creating a store changes the modification time of its parent directory.
            let time = if metadata.is_dir() { 0 } else { metadata.mtime() };
            let mut stamp = format!("{:o} {time} {}", metadata.mode(), metadata.uid());
            if metadata.is_dir() {
                queue.extend(fs::read_dir(&path)?.flatten().map(|entry| entry.path()));
            } else if metadata.is_symlink() {
                stamp += &fs::read_link(&path)?.display().to_string();
            } else if metadata.is_file() && metadata.len() < 1 << 16 {
                stamp += &format!("{:?}", fs::read(&path)?);
            }
            seen.insert(path, stamp);
        }
        Ok(seen)
    }
}

fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

pub(super) fn difference(
    before: &BTreeMap<PathBuf, String>,
    after: &BTreeMap<PathBuf, String>,
) -> Option<String> {
    let paths = before.keys().chain(after.keys());
    let mut differing = paths.filter(|path| before.get(*path) != after.get(*path));
    differing.next().map(|path| path.display().to_string())
}
