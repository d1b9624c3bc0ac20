//! Where the commands of agents lie: in the folders of the person's `PATH`, and never in a repository.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use nacre_core::base::{is_of_repository, search_folders};
use nacre_core::platform::ext::PermissionsExt as _;

/// Where programs are looked for, and what they are given.
#[derive(Clone, Default)]
pub struct ProgramSettings {
    folders: Vec<PathBuf>,
    repositories: Vec<PathBuf>,
    /// The person's variables.
    pub variables: Vec<(String, String)>,
    /// The person's home folder.
    pub home: Option<PathBuf>,
    /// Whether this Nacre was started by an agent that Nacre asked.
    pub is_child: bool,
    /// The folder of Nacre's global data, in which each call gets an empty folder of its own.
    pub data: Option<PathBuf>,
}

impl ProgramSettings {
    /// Looks in the folders of `path`, a list as in `PATH`. A folder that depends on where Nacre was started is a stranger's, and
    /// so is one inside a repository.
    pub fn new(path: impl AsRef<OsStr>, repositories: &[PathBuf]) -> Self {
        Self {
            folders: search_folders(path.as_ref(), repositories),
            repositories: repositories.to_vec(),
            ..Self::default()
        }
    }

    /// The same folders as a list for the program's own `PATH`.
    pub(super) fn path(&self) -> std::ffi::OsString {
        let folders: Vec<&OsStr> = self.folders.iter().map(AsRef::as_ref).collect();
        folders.join(OsStr::new(":"))
    }

    /// A variable of the person.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        let found = self.variables.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    pub(super) fn find(&self, command: &str) -> Option<PathBuf> {
        let mut places = self.folders.iter().map(|folder| folder.join(command));
        places.find(|place| is_program(place) && !is_of_repository(place, &self.repositories))
    }
}

impl fmt::Debug for ProgramSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Variables hold keys.
        f.debug_struct("ProgramSettings").field("folders", &self.folders).finish_non_exhaustive()
    }
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
