//! A temporary home and repository in which tests run `nacre-lab`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A temporary home that contains an empty git repository.
pub(crate) struct Lab {
    dir: tempfile::TempDir,
}

impl Lab {
    pub(crate) fn new() -> Self {
        let lab = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir_all(lab.root().join("work")).unwrap();
        lab.git(&["init", "-q", "-b", "main"]);
        lab
    }

    pub(crate) fn root(&self) -> PathBuf {
        fs::canonicalize(self.dir.path()).unwrap()
    }

    /// The repository.
    pub(crate) fn work(&self) -> PathBuf {
        self.root().join("work")
    }

    /// Writes a file in the repository.
    pub(crate) fn put(&self, path: &str, text: &str) {
        let full = self.work().join(path);
        fs::create_dir_all(full.parent().unwrap()).unwrap();
        fs::write(full, text).unwrap();
    }

    /// Runs a command in the repository. Returns its output, and the exit code if it is not 0.
    pub(crate) fn run(&self, args: &[&str]) -> String {
        let output = self.lab(args);
        let code = output.status.code().unwrap_or(-1);
        let end = if code == 0 { String::new() } else { format!("[exit {code}]\n") };
        self.cleaned(&output.stdout) + &self.cleaned(&output.stderr) + &end
    }

    /// Runs a command that must succeed, and returns its standard output.
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let output = self.lab(args);
        assert!(output.status.success(), "nacre-lab {args:?}: {}", self.run(args));
        self.cleaned(&output.stdout)
    }

    /// Runs a command that must print one JSON object, and returns the object.
    pub(crate) fn json(&self, args: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.ok(args)).unwrap()
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        let named = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"];
        let output = self.command(Path::new("git")).args(named).args(args).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", self.cleaned(&output.stderr));
        self.cleaned(&output.stdout).trim().to_owned()
    }

    fn lab(&self, args: &[&str]) -> Output {
        self.command(Path::new(env!("CARGO_BIN_EXE_nacre-lab"))).args(args).output().unwrap()
    }

    /// Creates a command whose environment contains no settings from this machine.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.work()).env_clear().env("HOME", self.root());
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
    }

    /// Returns the text with the path of the test's directory replaced by `$HOME`.
    fn cleaned(&self, bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes).replace(&*self.root().to_string_lossy(), "$HOME")
    }
}
