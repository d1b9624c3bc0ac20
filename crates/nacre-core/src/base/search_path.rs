//! The folders of a `PATH` in which programs are looked for: none that a repository brought along.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The folders of `path`, a list as in `PATH`, less those that depend on where the process was started and those inside one of
/// the repositories: `npm run` and direnv put such folders first. A folder that cannot be resolved is left out.
pub fn search_folders(path: &OsStr, repositories: &[PathBuf]) -> Vec<PathBuf> {
    let repositories = resolved(repositories);
    let is_outside = |folder: &PathBuf| {
        folder.is_absolute()
            && std::fs::canonicalize(folder).is_ok_and(|folder| !is_inside(&folder, &repositories))
    };
    std::env::split_paths(path).filter(is_outside).collect()
}

/// The same folders as a list for the `PATH` of a program that is started.
pub fn search_path(path: &OsStr, repositories: &[PathBuf]) -> OsString {
    // A folder with the sign between folders in its name cannot be on a list.
    std::env::join_paths(search_folders(path, repositories)).unwrap_or_default()
}

/// Whether a program, or the file that its link leads to, lies in one of the repositories.
pub fn is_of_repository(program: &Path, repositories: &[PathBuf]) -> bool {
    let folder = program.parent().and_then(|folder| std::fs::canonicalize(folder).ok());
    let target = std::fs::canonicalize(program).ok();
    let repositories = resolved(repositories);
    // What cannot be resolved cannot be trusted either.
    [folder, target]
        .iter()
        .any(|path| path.as_ref().is_none_or(|path| is_inside(path, &repositories)))
}

/// Where the system and its administrator put programs.
const SYSTEM: &[&str] = &["/usr", "/opt", "/bin", "/sbin", "/nix", "/snap"];

/// The folders around the current one that may be a stranger's: itself, each that is a repository or has a store, and each one's
/// `node_modules`. A repository may lie inside another, and an archive has no mark. What holds the home folder holds the person's
/// own programs.
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

fn resolved(paths: &[PathBuf]) -> Vec<PathBuf> {
    paths.iter().map(|path| std::fs::canonicalize(path).unwrap_or_else(|_| path.clone())).collect()
}

fn is_inside(path: &Path, repositories: &[PathBuf]) -> bool {
    repositories.iter().any(|repository| path.starts_with(repository))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[cfg(unix)]
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test plays a stranger")]
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
    #[expect(clippy::disallowed_methods, reason = "the test plays a stranger")]
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
        // An archive that was unpacked has no mark; its packages do.
        let unpacked = home.join("down/x");
        let trees = trees_around(&unpacked.join("src"), Some(&home));
        assert!(trees.contains(&unpacked.join("node_modules")), "{trees:?}");
        assert!(trees.contains(&unpacked.join("src")), "{trees:?}");
        assert!(trees_around(Path::new("/usr/local"), Some(&home)).is_empty());
        assert!(trees_around(&home, Some(&home)).is_empty(), "the person's own programs");
        assert!(trees_around(Path::new("/"), None).is_empty());
    }
}
