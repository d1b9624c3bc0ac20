//! A program's sandbox: the files that it may read and change, and the system calls that it may
//! make.
//!
//! A process sandboxes itself before it executes the program. It then tests the sandbox from
//! inside. If it can write a file outside the permitted directories or open a network connection,
//! the program is not started. `docs/sandbox.md` describes the sandbox's limits.

#[cfg(target_os = "linux")]
mod probe;
#[cfg(target_os = "linux")]
mod readable;
#[cfg(target_os = "linux")]
mod syscalls;

use std::path::{Path, PathBuf};

use nacre_base::secret_places;
use serde::{Deserialize, Serialize};

/// The files that a program may use. The program cannot create sockets, except for connected pairs,
/// and cannot change a file's mode, owner, timestamps or attributes, which Landlock does not
/// restrict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// Readable and writable. Nothing below it is hidden.
    pub workspace: PathBuf,
    pub scratch: PathBuf,
    /// A Nacre directory that the program must not be able to write to. Used to test the sandbox.
    pub outside: PathBuf,
    /// Readable, except for secrets and entries that begin with a dot.
    pub home: Option<PathBuf>,
    /// The user's tool directories. Readable even if they are inside a hidden entry of the home
    /// directory.
    pub own: Vec<PathBuf>,
    pub secrets: Vec<PathBuf>,
}

/// Returns the secrets to hide below this home directory, besides those that the sandbox always
/// hides. `more` is another directory to hide, such as Nacre's own home. If a path is a link, its
/// target is also hidden.
pub fn secrets_of_home(home: Option<&Path>, more: Option<&Path>) -> Vec<PathBuf> {
    let places = || secret_places().filter(|place| !place.contains('*'));
    let own = home.into_iter().flat_map(|home| places().map(|place| home.join(place)));
    let mut all: Vec<PathBuf> = own.chain(more.map(Path::to_owned)).collect();
    all.extend(all.clone().iter().filter_map(|path| nacre_base::platform::canonicalize(path).ok()));
    all.sort();
    all.dedup();
    all
}

impl Confinement {
    pub(super) fn check(&self) -> Result<(), String> {
        let inside = |hidden: &&PathBuf| hidden.starts_with(&self.workspace);
        if let Some(secret) = self.home.iter().chain(&self.secrets).find(inside) {
            let (workspace, secret) = (self.workspace.display(), secret.display());
            return Err(format!(
                "the workspace `{workspace}` contains `{secret}`, which must be hidden from \
                 programs"
            ));
        }
        let writable = [&self.workspace, &self.scratch];
        if writable.iter().any(|folder| self.outside.starts_with(folder)) {
            let outside = self.outside.display();
            return Err(format!(
                "the directory `{outside}` cannot be used to test the sandbox: programs may write \
                 to it"
            ));
        }
        Ok(())
    }

    /// Sandboxes the current process, which must be single-threaded, and tests the result.
    #[cfg(target_os = "linux")]
    pub(super) fn enter(&self) -> Result<(), String> {
        self.check()?;
        probe::confine(self)?;
        syscalls::confine()?;
        probe::try_walls(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn confinement(workspace: &str, outside: &str) -> Confinement {
        Confinement {
            workspace: workspace.into(),
            scratch: "/run/nacre/tmp".into(),
            outside: outside.into(),
            home: Some("/home/ada".into()),
            own: Vec::new(),
            secrets: vec!["/home/ada/.ssh".into()],
        }
    }

    #[test]
    fn a_workspace_that_holds_the_secrets_is_refused() {
        for (workspace, outside, expected) in [
            ("/home/ada/project", "/run/nacre", "ok"),
            ("/home/ada", "/run/nacre", "secrets"),
            ("/", "/run/nacre", "secrets"),
            ("/home/ada/.ssh/project", "/run/nacre", "ok"),
            ("/home/ada/project", "/home/ada/project/target", "outside"),
            ("/home/ada/project", "/run/nacre/tmp", "outside"),
        ] {
            let got = match confinement(workspace, outside).check() {
                Ok(()) => "ok",
                Err(why) if why.contains("must be hidden") => "secrets",
                Err(_) => "outside",
            };
            assert_eq!(got, expected, "{workspace} {outside}");
        }
    }

    #[test]
    fn a_secret_behind_a_link_is_hidden_where_it_really_is() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().canonicalize().unwrap();
        rustix::fs::mkdir(home.join("keys"), rustix::fs::Mode::RWXU).unwrap();
        rustix::fs::symlink(home.join("keys"), home.join(".ssh")).unwrap();
        let secrets = secrets_of_home(Some(&home), Some(Path::new("/srv/nacre")));
        for hidden in [home.join(".ssh"), home.join("keys"), "/srv/nacre".into()] {
            assert!(secrets.contains(&hidden), "{}", hidden.display());
        }
    }
}
