//! An isolated environment for each test: an empty home, a repository, a fixed clock, and no
//! environment variables.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};

pub(crate) const NOW: &str = "2026-11-15T08:30:00Z";

/// A temporary home that contains an empty Git repository.
pub(crate) struct TestHome {
    dir: tempfile::TempDir,
    vars: Vec<(String, String)>,
}

impl TestHome {
    /// Creates a home and a repository without a store.
    pub(crate) fn empty() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("work/.git")).unwrap();
        Self { dir, vars: Vec::new() }
    }

    /// Creates a home and a repository with a store.
    pub(crate) fn new() -> Self {
        let home = Self::empty();
        home.ok(&["init"]);
        home
    }

    /// Creates a home without a store at a fixed path, which no other test may use.
    #[cfg(unix)]
    pub(crate) fn at(path: &str) -> Self {
        let _ = fs::remove_dir_all(path);
        let (parent, name) = path.rsplit_once('/').unwrap();
        let dir = tempfile::Builder::new().prefix(name).rand_bytes(0).tempdir_in(parent).unwrap();
        fs::create_dir_all(dir.path().join("work/.git")).unwrap();
        Self { dir, vars: Vec::new() }
    }

    /// Sets an environment variable for later commands.
    pub(crate) fn with_var(mut self, name: &str, value: &str) -> Self {
        self.vars.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Returns the current time as commands see it.
    pub(crate) fn now(&self) -> String {
        let set = self.vars.iter().rev().find(|(name, _)| name == "NACRE_NOW");
        set.map_or_else(|| NOW.to_owned(), |(_, value)| value.clone())
    }

    pub(crate) fn root(&self) -> PathBuf {
        fs::canonicalize(self.dir.path()).unwrap()
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.root().join("work")
    }

    /// Returns the path of a file in the repository's store.
    pub(crate) fn store(&self, path: &str) -> PathBuf {
        self.work().join(".nacre").join(path)
    }

    /// Returns the directory of the repository's index, in the user's data directory.
    pub(crate) fn index(&self) -> PathBuf {
        let stores = fs::read_dir(self.root().join(".nacre/cache/memories")).unwrap();
        let mut folders = stores.map(|entry| entry.unwrap().path().join("index"));
        let index = folders.find(|folder| folder.is_dir()).unwrap();
        assert!(folders.next().is_none(), "there is one repository");
        index
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.store(path)).unwrap()
    }

    /// Writes a file in the store directly instead of through a command.
    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let full = self.store(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, text).unwrap();
    }

    /// Returns the command, isolated from this machine's environment.
    pub(crate) fn command(&self, folder: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nacre"));
        command.args(args).current_dir(folder).env_clear();
        command.env("HOME", self.root()).env("NACRE_NOW", NOW);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.envs(self.vars.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs a command in the repository. Returns its output, and the exit code unless it is 0.
    pub(crate) fn run(&self, args: &[&str]) -> String {
        self.run_in(&self.work(), args)
    }

    pub(crate) fn run_in(&self, folder: &Path, args: &[&str]) -> String {
        let output = self.command(folder, args).output().unwrap();
        self.render(&output)
    }

    /// Runs a command that must succeed, and returns its standard output.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let output = self.command(&self.work(), args).output().unwrap();
        assert!(output.status.success(), "nacre {args:?}: {}", self.render(&output));
        self.cleaned(&output.stdout)
    }

    /// Runs a command with `--json`. Returns the exit code and the printed object.
    pub(crate) fn json(&self, args: &[&str]) -> (i32, serde_json::Value) {
        let args: Vec<&str> = ["--json"].iter().chain(args).copied().collect();
        let output = self.command(&self.work(), &args).output().unwrap();
        let text = self.cleaned(&output.stdout);
        let value = serde_json::from_str(&text).unwrap_or_else(|error| {
            panic!("nacre {args:?} printed no JSON object ({error}): {text}")
        });
        (output.status.code().unwrap_or(-1), value)
    }

    /// Combines the output, errors and exit code.
    pub(crate) fn render(&self, output: &Output) -> String {
        let mut text = self.cleaned(&output.stdout);
        text.push_str(&self.cleaned(&output.stderr));
        match output.status.code() {
            Some(0) => {}
            Some(code) => text.push_str(&format!("[exit {code}]\n")),
            None => text.push_str("[killed]\n"),
        }
        without_change_ids(&text)
    }

    /// Replaces the path of the test's directory with `$HOME`.
    fn cleaned(&self, bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes).replace(&*self.root().to_string_lossy(), "$HOME")
    }

    /// Adds a decision and returns its id.
    pub(crate) fn add(&self, title: &str, more: &[&str]) -> String {
        let args: Vec<&str> = ["memory", "add", title].iter().chain(more).copied().collect();
        let (_, value) = self.json(&args);
        value["id"].as_str().unwrap().to_owned()
    }

    /// Lists the files in a directory of the store, one per line.
    pub(crate) fn tree(&self, folder: &str) -> String {
        let mut files = Vec::new();
        walk(&self.store(folder), &mut files);
        let root = self.store("");
        let mut names: Vec<String> = files
            .iter()
            .map(|file| file.strip_prefix(&root).unwrap().display().to_string())
            .collect();
        names.sort();
        names.join("\n")
    }

    /// Returns all files in the store with their contents, for comparison.
    pub(crate) fn snapshot(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        walk(&self.store(""), &mut files);
        files.retain(|file| !file.ends_with("journal/lock"));
        files.sort();
        files.into_iter().map(|file| (file.clone(), fs::read(&file).unwrap())).collect()
    }
}

/// Replaces the end of the id in `Undo: nacre undo ID`, which is a hash or process id, with a fixed
/// word.
fn without_change_ids(text: &str) -> String {
    let masked = text.lines().map(|line| match line.rsplit_once(" nacre undo ") {
        Some((start @ ("Undo:" | "Hint: To keep only the older memory:"), id)) => {
            let id = id.rsplit_once('-').map_or(id, |(id, _)| id);
            format!("{start} nacre undo {id}-[id]\n")
        }
        Some(_) | None => format!("{line}\n"),
    });
    let masked: String = masked.collect();
    if text.ends_with('\n') { masked } else { masked.trim_end_matches('\n').to_owned() }
}

/// Sends Ctrl-C (SIGINT) to a process.
pub(crate) fn interrupt(child: &Child) {
    let pressed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(pressed.success());
}

/// Collects all files in `dir` and its subdirectories, without following links.
pub(crate) fn walk(dir: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            walk(&entry.path(), files);
        } else {
            files.push(entry.path());
        }
    }
}

/// Returns the repository that these tests are in.
pub(crate) fn repository() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}
