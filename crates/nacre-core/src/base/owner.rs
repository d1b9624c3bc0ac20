//! Whose folder it is: what another user left in the way is not used.
//!
//! The rule of git's `safe.directory`: a `.nacre` or `.git` counts only if it belongs to the person, and nobody else can put
//! another in its place.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::platform;
use crate::platform::fs::{FileType, Stat};

/// Anybody may write to it.
const OPEN_TO_ALL: u32 = 0o002;

/// In the list of safe folders it stands for every folder.
const EVERY_FOLDER: &str = "*";

/// Who uses the program, and the folders of others that they trust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    uid: u32,
    invoker: Option<u32>,
    safe: Arc<[String]>,
}

/// Why something that was found is not used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stranger {
    #[error("`{}` belongs to user {uid}, not to you", .path.display())]
    OtherOwner { path: PathBuf, uid: u32 },
    #[error("Anybody may write to `{}`", .path.display())]
    OpenToAll { path: PathBuf },
}

impl Person {
    /// The user of this process. `invoker` is who became root by `sudo`, and counts for root alone.
    pub fn new(invoker: Option<u32>, safe: &[String]) -> Self {
        let uid = platform::process::geteuid().as_raw();
        Self { uid, invoker: invoker.filter(|_| uid == 0), safe: safe.into() }
    }

    /// Whether a process of the user `uid` is this person's.
    pub fn is_user(&self, uid: u32) -> bool {
        self.uid == uid
    }

    /// Whether the `name` in `folder` may be used. What is not there is nobody's.
    pub fn check(&self, folder: &Path, name: &str) -> Result<(), Stranger> {
        let path = folder.join(name);
        let Ok(found) = platform::fs::lstat(&path) else { return Ok(()) };
        if self.trusts(folder) {
            return Ok(());
        }
        if found.st_uid != self.uid && Some(found.st_uid) != self.invoker {
            return Err(Stranger::OtherOwner { path, uid: found.st_uid });
        }
        if is_open(&found) && !FileType::from_raw_mode(found.st_mode).is_symlink() {
            return Err(Stranger::OpenToAll { path });
        }
        match platform::fs::stat(folder) {
            Ok(around) if is_open(&around) => Err(Stranger::OpenToAll { path: folder.to_owned() }),
            _ => Ok(()),
        }
    }

    fn trusts(&self, folder: &Path) -> bool {
        self.safe.iter().any(|safe| safe == EVERY_FOLDER || Path::new(safe) == folder)
    }
}

fn is_open(stat: &Stat) -> bool {
    platform::mode_bits(stat) & OPEN_TO_ALL != 0
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests play other users")]

    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, chown};

    use super::*;

    #[test]
    fn a_folder_that_anybody_may_write_to_is_not_used_until_it_is_trusted() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".git")).unwrap();
        let person = Person::new(None, &[]);
        assert_eq!(person.check(dir.path(), ".git"), Ok(()));
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        let path = dir.path().to_owned();
        assert_eq!(person.check(dir.path(), ".git"), Err(Stranger::OpenToAll { path }));
        assert_eq!(person.check(dir.path(), ".nacre"), Ok(()), "what is not there");
        let safe = [dir.path().display().to_string()];
        assert_eq!(Person::new(None, &safe).check(dir.path(), ".git"), Ok(()));
        assert_eq!(Person::new(None, &["*".to_owned()]).check(dir.path(), ".git"), Ok(()));
    }

    #[test]
    fn what_another_user_made_is_not_used() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(".nacre");
        fs::create_dir(&path).unwrap();
        let me = platform::process::geteuid().as_raw();
        let other = Person { uid: me + 1, ..Person::new(None, &[]) };
        let stranger = Stranger::OtherOwner { path: path.clone(), uid: me };
        assert_eq!(other.check(dir.path(), ".nacre"), Err(stranger));
        // Only root can give a folder away, and only root is asked who it was before.
        if me == 0 {
            chown(&path, Some(1234), None).unwrap();
            assert!(Person::new(None, &[]).check(dir.path(), ".nacre").is_err());
            assert_eq!(Person::new(Some(1234), &[]).check(dir.path(), ".nacre"), Ok(()));
        }
    }
}
