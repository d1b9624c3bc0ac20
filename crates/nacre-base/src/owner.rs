//! Ownership checks, so that Nacre does not use files planted by other users.
//!
//! The rule is the same as for git's `safe.directory`: a `.nacre` or `.git` is used only if it
//! belongs to the user and no other user can replace it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::platform;
use crate::platform::fs::{FileType, Stat};

const OPEN_TO_ALL: u32 = 0o002;

const EVERY_FOLDER: &str = "*";

/// The user running this process, and other users' directories that this user trusts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    uid: u32,
    invoker: Option<u32>,
    safe: Arc<[String]>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stranger {
    #[error("`{}` belongs to user {uid}, not to you", .path.display())]
    OtherOwner { path: PathBuf, uid: u32 },
    #[error("Any user can write to `{}`", .path.display())]
    OpenToAll { path: PathBuf },
}

impl Person {
    /// `invoker` is the user who ran `sudo`; it is ignored unless the process runs as root.
    pub fn new(invoker: Option<u32>, safe: &[String]) -> Self {
        let uid = platform::process::geteuid().as_raw();
        Self { uid, invoker: invoker.filter(|_| uid == 0), safe: safe.into() }
    }

    pub fn is_user(&self, uid: u32) -> bool {
        self.uid == uid
    }

    /// Checks whether `name` in `folder` may be used. A missing entry is accepted.
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

/// Returns the directories in `path`, which has the same format as `PATH`. Omits directories that
/// are relative, cannot be resolved, or are inside one of `repositories`: tools such as `npm run`
/// and direnv prepend directories inside the repository.
pub fn search_folders(path: &OsStr, repositories: &[PathBuf]) -> Vec<PathBuf> {
    let repositories = canonicalize_all(repositories);
    let is_outside = |folder: &PathBuf| {
        folder.is_absolute()
            && crate::platform::canonicalize(folder)
                .is_ok_and(|folder| !is_inside(&folder, &repositories))
    };
    std::env::split_paths(path).filter(is_outside).collect()
}

pub fn search_path(path: &OsStr, repositories: &[PathBuf]) -> OsString {
    // A directory whose name contains the list separator cannot be represented.
    std::env::join_paths(search_folders(path, repositories)).unwrap_or_default()
}

pub fn is_of_repository(program: &Path, repositories: &[PathBuf]) -> bool {
    let folder = program.parent().and_then(|folder| crate::platform::canonicalize(folder).ok());
    let target = crate::platform::canonicalize(program).ok();
    let repositories = canonicalize_all(repositories);
    // A path that cannot be resolved is not trusted.
    [folder, target]
        .iter()
        .any(|path| path.as_ref().is_none_or(|path| is_inside(path, &repositories)))
}

const SYSTEM: &[&str] = &["/usr", "/opt", "/bin", "/sbin", "/nix", "/snap"];

/// Returns the directories around `folder` that may be untrusted: `folder` itself, each parent that
/// is a repository or has a store, and the `node_modules` of every other parent. This covers nested
/// repositories as well as unpacked archives, which have no `.git`. Parents of the home directory
/// are skipped because they contain the user's own programs.
pub fn trees_around(folder: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let is_system = |dir: &Path| SYSTEM.iter().any(|system| dir.starts_with(system));
    let holds_home = |dir: &Path| home.is_some_and(|home| home.starts_with(dir));
    let around = folder.ancestors().filter(|dir| !holds_home(dir) && !is_system(dir));
    let is_marked = |dir: &Path| {
        [".git", ".nacre"].iter().any(|mark| dir.join(mark).symlink_metadata().is_ok())
    };
    let mut trees = Vec::new();
    for dir in around.filter(|dir| dir.parent().is_some()) {
        let is_tree = dir == folder || is_marked(dir);
        trees.push(if is_tree { dir.to_owned() } else { dir.join("node_modules") });
    }
    trees
}

fn canonicalize_all(paths: &[PathBuf]) -> Vec<PathBuf> {
    paths
        .iter()
        .map(|path| crate::platform::canonicalize(path).unwrap_or_else(|_| path.clone()))
        .collect()
}

fn is_inside(path: &Path, repositories: &[PathBuf]) -> bool {
    repositories.iter().any(|repository| path.starts_with(repository))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests simulate other users")]

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
        assert_eq!(person.check(dir.path(), ".nacre"), Ok(()), "missing entries are accepted");
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
        if me == 0 {
            chown(&path, Some(1234), None).unwrap();
            assert!(Person::new(None, &[]).check(dir.path(), ".nacre").is_err());
            assert_eq!(Person::new(Some(1234), &[]).check(dir.path(), ".nacre"), Ok(()));
        }
    }

    #[cfg(unix)]
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test writes untrusted files")]
    fn folders_of_a_repository_are_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        let (own, clone) = (root.join("own"), root.join("clone"));
        let bin = clone.join("node_modules/.bin");
        fs::create_dir_all(&own).unwrap();
        fs::create_dir_all(&bin).unwrap();
        std::os::unix::fs::symlink(&bin, root.join("link")).unwrap();
        std::os::unix::fs::symlink(bin.join("git"), own.join("git")).unwrap();
        fs::write(bin.join("git"), "").unwrap();
        fs::write(own.join("node"), "").unwrap();
        let path = std::env::join_paths([
            bin.as_path(),
            &root.join("link"),
            Path::new("bin"),
            Path::new(""),
            &root.join("missing"),
            &own,
        ]);
        let path = path.unwrap();
        let repositories = [clone];
        assert_eq!(search_folders(&path, &repositories), std::slice::from_ref(&own));
        assert_eq!(search_path(&path, &repositories), own.clone().into_os_string());
        assert!(is_of_repository(&own.join("git"), &repositories));
        assert!(is_of_repository(&own.join("missing"), &repositories));
        assert!(!is_of_repository(&own.join("node"), &repositories));
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test writes untrusted files")]
    fn programs_of_what_is_worked_on_are_left_out_wherever_it_begins() {
        let place = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(place.path()).unwrap();
        let home = root.join("home");
        let outer = home.join("code/outer");
        let inner = outer.join("vendor/inner");
        fs::create_dir_all(inner.join(".git")).unwrap();
        fs::create_dir_all(outer.join(".git")).unwrap();
        let trees = trees_around(&inner, Some(&home));
        let is_out = |path: &Path| trees.iter().any(|tree| path.starts_with(tree));
        let own = [home.join("bin"), home.join("code/bin"), root.join("bin")];
        let theirs =
            ["node_modules/.bin", "vendor/inner/bin", "tools"].map(|path| outer.join(path));
        assert_eq!(own.iter().filter(|path| is_out(path)).count(), 0, "{trees:?}");
        assert_eq!(theirs.iter().filter(|path| is_out(path)).count(), 3, "{trees:?}");
        // An unpacked archive has no `.git`, but its `node_modules` is covered.
        let unpacked = home.join("down/x");
        let trees = trees_around(&unpacked.join("src"), Some(&home));
        assert!(trees.contains(&unpacked.join("node_modules")), "{trees:?}");
        assert!(trees.contains(&unpacked.join("src")), "{trees:?}");
        assert!(trees_around(Path::new("/usr/local"), Some(&home)).is_empty());
        assert!(trees_around(&home, Some(&home)).is_empty(), "the user's own programs");
        assert!(trees_around(Path::new("/"), None).is_empty());
    }
}
