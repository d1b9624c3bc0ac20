//! A home and a repository of their own, and the real `nacre` run in them with a stopped clock.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use nacre_core::memory::{Rules, Store};
use nacre_core::safefs::{Access, FsError, Owner, Seal, WriteScope};
use tempfile::TempDir;

use crate::AnyError;
use crate::tree::{self, Tree};

/// The time it always is.
pub(crate) const NOW: &str = "2026-11-15T08:30:00Z";

/// The `nacre` beside this example, or the one that was named.
pub(crate) fn find_nacre(named: Option<&Path>) -> Result<PathBuf, AnyError> {
    if let Some(path) = named {
        return Ok(fs::canonicalize(path)?);
    }
    let exe = std::env::current_exe()?;
    let beside = exe.parent().and_then(Path::parent).map(|dir| dir.join("nacre"));
    match beside.filter(|path| path.is_file()) {
        Some(path) => Ok(path),
        None => Err("`nacre` is not built beside this example; `cargo build -p nacre` does".into()),
    }
}

/// This program, to start a worker with.
pub(crate) fn this_program() -> Result<Command, AnyError> {
    Ok(Command::new(std::env::current_exe()?))
}

/// A temporary folder; `torture` puts it where `TMPDIR` says.
pub(crate) fn scratch(name: &str) -> Result<TempDir, AnyError> {
    Ok(tempfile::Builder::new().prefix(&format!("nacre-{name}-")).tempdir()?)
}

/// The same in memory where the machine has such a place, for exercises that are not about disks;
/// `TMPDIR` still decides where it is set.
pub(crate) fn memory_scratch(name: &str) -> Result<TempDir, AnyError> {
    if std::env::var_os("TMPDIR").is_some() {
        return scratch(name);
    }
    let in_memory =
        tempfile::Builder::new().prefix(&format!("nacre-{name}-")).tempdir_in("/dev/shm");
    in_memory.map_or_else(|_| scratch(name), Ok)
}

/// Keeps the folder of a failed exercise for a person to look at.
pub(crate) fn keep_if_bad(dir: TempDir, is_clean: bool) {
    if !is_clean {
        println!("The files are kept in {}", dir.keep().display());
    }
}

/// Who writes in this process.
pub(crate) fn owner(command: &str) -> Owner {
    Owner { pid: std::process::id(), command: command.to_owned(), since: NOW.to_owned() }
}

/// Opens the store of the repository `repo`, making it where it is missing. The home beside it has the key.
pub(crate) fn open_store(repo: &Path) -> Result<Store, FsError> {
    let scope = WriteScope::create_inside(repo, ".nacre", Access::Shared)?
        .sealed_by(Seal::kept_in(&repo.join("../home/.nacre")));
    Ok(Store::new(scope, Rules::default()))
}

/// A home and a repository below one folder.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    root: PathBuf,
    nacre: PathBuf,
}

/// The files of the project's and of the global store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stores {
    pub(crate) project: Tree,
    pub(crate) home: Tree,
    /// What should not be there once nothing is interrupted.
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

    /// Everything of this place: the home, the repository and what lies outside.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.repo().join(".nacre").join(name)
    }

    pub(crate) fn nacre(&self) -> &Path {
        &self.nacre
    }

    /// `program` with the surroundings that Nacre reads, and no others.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
        command.env_clear().env("PATH", path).env("LC_ALL", "C.UTF-8");
        command.env("HOME", self.root.join("home")).env("NACRE_NOW", NOW);
        command.env("EDITOR", format!("sh {}", self.root.join("editor.sh").display()));
        command.current_dir(self.repo());
        command
    }

    /// Runs `nacre` to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Result<Output, AnyError> {
        Ok(self.command(&self.nacre).args(args).output()?)
    }

    /// Runs `nacre`, which must succeed.
    pub(crate) fn must(&self, args: &[&str]) -> Result<String, AnyError> {
        let output = self.run(args)?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        Err(format!("`nacre {}` failed in {}: {stderr}", args.join(" "), self.root.display())
            .into())
    }

    /// Sets what the editor does: a shell script that gets the draft as `$1`.
    pub(crate) fn set_editor(&self, script: &str) -> Result<(), AnyError> {
        Ok(fs::write(self.root.join("editor.sh"), script)?)
    }

    /// Reads both stores. The drafts of edits are a person's, and looked at elsewhere. What a change will leave is entered in the
    /// ledger of trust before it is made, so that is ahead of the store at times; indexes are derived.
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

/// A finding of `nacre doctor`.
#[derive(Clone, Debug)]
pub(crate) struct Finding {
    pub(crate) path: String,
    pub(crate) message: String,
}

/// What `nacre doctor` says.
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
