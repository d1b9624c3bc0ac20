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
}
