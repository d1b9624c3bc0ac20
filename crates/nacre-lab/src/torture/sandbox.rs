//! Runs the real `nacre` with a separate home and repository, and with a fixed clock.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use nacre_base::fs::{Access, FsError, Owner, Seal, WriteScope};
use nacre_memory::{Rules, Store};
use tempfile::TempDir;

use crate::AnyError;
use crate::torture::tree::{self, Tree};

/// The fixed time that every run uses.
pub(crate) const NOW: &str = "2026-11-15T08:30:00Z";

pub(crate) fn find_nacre(named: Option<&Path>) -> Result<PathBuf, AnyError> {
    if let Some(path) = named {
        return Ok(fs::canonicalize(path)?);
    }
    let exe = std::env::current_exe()?;
    let beside = exe.parent().map(|dir| dir.join("nacre"));
    match beside.filter(|path| path.is_file()) {
        Some(path) => Ok(path),
        None => Err("`nacre` not found next to this program; run `cargo build -p nacre`".into()),
    }
}

pub(crate) fn this_program() -> Result<Command, AnyError> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("torture");
    Ok(command)
}

pub(crate) fn scratch(name: &str) -> Result<TempDir, AnyError> {
    Ok(tempfile::Builder::new().prefix(&format!("nacre-{name}-")).tempdir()?)
}

/// Creates a temporary directory for exercises that do not test disks, on a RAM disk if there is
/// one. `TMPDIR` takes precedence.
pub(crate) fn memory_scratch(name: &str) -> Result<TempDir, AnyError> {
    if std::env::var_os("TMPDIR").is_some() {
        return scratch(name);
    }
    let in_memory =
        tempfile::Builder::new().prefix(&format!("nacre-{name}-")).tempdir_in("/dev/shm");
    in_memory.map_or_else(|_| scratch(name), Ok)
}

pub(crate) fn keep_if_bad(dir: TempDir, is_clean: bool) {
    if !is_clean {
        println!("The files are in {}", dir.keep().display());
    }
}

pub(crate) fn owner(command: &str) -> Owner {
    Owner { pid: std::process::id(), command: command.to_owned(), since: NOW.to_owned() }
}

pub(crate) fn open_store(repo: &Path) -> Result<Store, FsError> {
    let scope = WriteScope::create_inside(repo, ".nacre", Access::Shared)?
        .with_seal(Seal::from_directory(&repo.join("../home/.nacre")));
    Ok(Store::new(scope, Rules::default()))
}

#[derive(Clone, Debug)]
pub(crate) struct Place {
    root: PathBuf,
    nacre: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stores {
    pub(crate) project: Tree,
    pub(crate) home: Tree,
    /// Files that may exist only while a change is interrupted.
    pub(crate) leftovers: Vec<String>,
}

impl Place {
    pub(crate) fn new(root: &Path, nacre: &Path) -> Self {
        Self { root: root.to_owned(), nacre: nacre.to_owned() }
    }

    pub(crate) fn make(&self) -> Result<(), AnyError> {
        fs::create_dir_all(self.repo().join(".git"))?;
        fs::create_dir_all(self.root.join("home"))?;
        Ok(())
    }

    pub(crate) fn repo(&self) -> PathBuf {
        self.root.join("repo")
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.repo().join(".nacre").join(name)
    }

    pub(crate) fn nacre(&self) -> &Path {
        &self.nacre
    }

    /// Returns a command with only the environment variables that Nacre reads.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
        command.env_clear().env("PATH", path).env("LC_ALL", "C.UTF-8");
        command.env("HOME", self.root.join("home")).env("NACRE_NOW", NOW);
        command.env("EDITOR", format!("sh {}", self.root.join("editor.sh").display()));
        command.current_dir(self.repo());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Result<Output, AnyError> {
        Ok(self.command(&self.nacre).args(args).output()?)
    }

    /// Runs `nacre`, and returns an error if it does not succeed.
    pub(crate) fn must(&self, args: &[&str]) -> Result<String, AnyError> {
        let output = self.run(args)?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        Err(format!("`nacre {}` failed in {}: {stderr}", args.join(" "), self.root.display())
            .into())
    }

    pub(crate) fn set_editor(&self, script: &str) -> Result<(), AnyError> {
        Ok(fs::write(self.root.join("editor.sh"), script)?)
    }

    /// Reads both stores, omitting derived indexes. Drafts are excluded because another check reads
    /// them. The trust ledger is excluded because it is written before each change and may be ahead
    /// of the store.
    pub(crate) fn stores(&self) -> Result<Stores, AnyError> {
        const APART: [&str; 4] = ["journal", "drafts", "trust", "cache"];
        let is_apart = |path: &str| APART.contains(&path.split('/').next().unwrap_or_default());
        let mut leftovers = Vec::new();
        let mut trees = Vec::new();
        for store in [self.repo().join(".nacre"), self.root.join("home/.nacre")] {
            let everything = tree::read(&store, |_| false)?;
            let is_leftover = |path: &&String| {
                path.contains(".nacre-tmp")
                    || (path.starts_with("journal/")
                        && !["journal/", "journal/lock", "journal/key"].contains(&path.as_str()))
            };
            leftovers.extend(everything.keys().filter(is_leftover).cloned());
            trees.push(everything.into_iter().filter(|(path, _)| !is_apart(path)).collect());
        }
        let home = trees.pop().unwrap_or_default();
        let project = trees.pop().unwrap_or_default();
        Ok(Stores { project, home, leftovers })
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) path: String,
    pub(crate) message: String,
}

pub(crate) fn doctor(place: &Place) -> Result<Vec<Finding>, String> {
    let output = place.run(&["doctor", "--json"]).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let json: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| format!("doctor: {error}: {text}"))?;
    let Some(stores) = json["stores"].as_array() else { return Err(format!("doctor: {text}")) };
    let found = stores.iter().flat_map(|store| store["findings"].as_array().cloned());
    let text_of = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    Ok(found
        .flatten()
        .map(|finding| Finding {
            path: text_of(&finding["path"]),
            message: text_of(&finding["message"]),
        })
        .collect())
}
