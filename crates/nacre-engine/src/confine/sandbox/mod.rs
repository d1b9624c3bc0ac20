//! Walls around a program: which files it may see and change, and which system calls it may make.
//!
//! A program is confined by itself, in a process of its own, before it becomes that program; nothing has to be
//! trusted afterwards. Each time, the walls are tried from inside first: where a write outside or a connection is not
//! refused, the program is not started. What the walls do not hold is said at [`Metadata`] and in `docs/sandbox.md`.

#[cfg(target_os = "linux")]
mod files;
#[cfg(target_os = "linux")]
mod probe;
#[cfg(target_os = "linux")]
mod readable;
#[cfg(target_os = "linux")]
mod syscalls;

use std::path::{Path, PathBuf};

use nacre_core::base::secret_places;
use serde::{Deserialize, Serialize};

/// What a program may touch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// May be read and changed; nothing below it is hidden.
    pub workspace: PathBuf,
    /// The program's own folder for temporary files: may be read and changed.
    pub scratch: PathBuf,
    /// A folder of ours that the program must not be able to write to; it is tried.
    pub outside: PathBuf,
    /// The person's home: may be read but for the secrets and for entries that begin with a dot.
    pub home: Option<PathBuf>,
    /// Where the person's tools are: may be read, also in a dot entry of the home.
    pub own: Vec<PathBuf>,
    /// Files and folders that are not even read.
    pub secrets: Vec<PathBuf>,
    pub reach: Reach,
    pub metadata: Metadata,
}

/// Whether a program may open connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// No socket of any kind; pipes and pairs of connected sockets remain.
    Nothing,
    /// Internet addresses, this machine's own included; still no socket in the file system, behind which daemons
    /// with more rights listen.
    Internet,
}

/// Whether a program may change modes, owners, times and attributes of files.
///
/// The kernel's file rules do not cover them: where they are free, a program can `chmod` and `touch` what its user
/// owns, also outside the workspace. Where they are kept, linkers, `git init` and package managers fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metadata {
    Kept,
    Free,
}

/// The places to hide from programs of a person with this home, beside what the walls hide anyway; `more` are others, such as the
/// home of Nacre. A name that is a link is hidden with what it leads to.
pub fn secrets_of_home(home: Option<&Path>, more: Option<&Path>) -> Vec<PathBuf> {
    let places = || secret_places().filter(|place| !place.contains('*'));
    let own = home.into_iter().flat_map(|home| places().map(|place| home.join(place)));
    let mut all: Vec<PathBuf> = own.chain(more.map(Path::to_owned)).collect();
    all.extend(all.clone().iter().filter_map(|path| path.canonicalize().ok()));
    all.sort();
    all.dedup();
    all
}

/// Why walls could not be had.
#[derive(Debug, thiserror::Error)]
pub(super) enum WallError {
    #[error("the workspace `{}` holds what is to be hidden from programs, `{}`", .0.display(), .1.display())]
    SecretsInside(PathBuf, PathBuf),
    #[error("the folder `{}` cannot be used to try the walls: it lies in what may be changed", .0.display())]
    NothingOutside(PathBuf),
    #[cfg(target_os = "linux")]
    #[error(
        "this kernel cannot confine files (Landlock with `refer` and `truncate`, Linux 6.2 or newer)"
    )]
    Files(#[source] landlock::RulesetError),
    #[cfg(target_os = "linux")]
    #[error("a folder that the program needs cannot be opened")]
    Folder(#[source] landlock::PathFdError),
    #[cfg(target_os = "linux")]
    #[error("this kernel cannot confine system calls (seccomp)")]
    Syscalls(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("too many files beside what is to be hidden")]
    TooMany,
    #[error("the walls were set up, yet {0}")]
    Leaky(String),
}

impl Confinement {
    /// Refuses places that contradict each other.
    pub(super) fn check(&self) -> Result<(), WallError> {
        let inside = |hidden: &&PathBuf| hidden.starts_with(&self.workspace);
        if let Some(secret) = self.home.iter().chain(&self.secrets).find(inside) {
            return Err(WallError::SecretsInside(self.workspace.clone(), secret.clone()));
        }
        let writable = [&self.workspace, &self.scratch];
        if writable.iter().any(|folder| self.outside.starts_with(folder)) {
            return Err(WallError::NothingOutside(self.outside.clone()));
        }
        Ok(())
    }

    /// Confines the current process, which must have one thread, and tries the walls.
    #[cfg(target_os = "linux")]
    pub(super) fn enter(&self) -> Result<(), WallError> {
        self.check()?;
        files::confine(self)?;
        syscalls::confine(self)?;
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
            reach: Reach::Nothing,
            metadata: Metadata::Free,
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
                Err(WallError::SecretsInside(..)) => "secrets",
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
