//! Finds a session's project. A project is a repository, so a session in a subdirectory or a linked
//! worktree belongs to the repository with the same git directory. If the directory is inside
//! several registered projects, the innermost one is used.

use std::path::{Path, PathBuf};

use crate::transcript::repository_address;
use nacre_base::fs::without_dots;
use nacre_base::git::GitFolder;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placing {
    Project(PathBuf),
    /// The root of a registered project that the transcript may not add memories to.
    Elsewhere(PathBuf),
    Unregistered(PathBuf),
    Nowhere,
}

impl Placing {
    /// Returns the project named by the transcript, even if the transcript is not trusted for it.
    /// The project's redaction list applies in either case.
    pub(super) fn transcript_project(&self) -> Option<&Path> {
        match self {
            Self::Project(root) | Self::Elsewhere(root) => Some(root),
            Self::Unregistered(_) | Self::Nowhere => None,
        }
    }
}

/// Finds the registered project that contains `cwd`, directly or as a git worktree.
pub fn project_root(cwd: Option<&str>, projects: &[PathBuf]) -> Placing {
    let Some(cwd) = cwd.map(Path::new).filter(|cwd| cwd.is_absolute()) else {
        return Placing::Nowhere;
    };
    // The directory may no longer exist.
    let cwd = without_dots(cwd);
    let around = |dir: &Path| {
        let found = projects.iter().filter(|project| dir.starts_with(project));
        found.max_by_key(|project| project.components().count()).cloned()
    };
    if let Some(project) = around(&cwd) {
        return Placing::Project(project);
    }
    match main_worktree(&cwd).and_then(|root| around(&root)) {
        Some(project) => Placing::Project(project),
        None => Placing::Unregistered(cwd),
    }
}

/// Returns whether the transcript at `source` may add memories to the project. A transcript inside
/// a repository may have been cloned with it and may name any directory, so it is trusted only for
/// that repository and its nested projects.
pub(super) fn may_speak_for(source: &Path, project: &Path, projects: &[PathBuf]) -> bool {
    // Links are not resolved. Users who link an agent's directory to their dotfiles repository
    // trust that repository.
    let folder = source.parent().unwrap_or(source);
    if let Placing::Project(around) = project_root(folder.to_str(), projects) {
        return project.starts_with(around);
    }
    GitFolder::around(folder).is_none_or(|around| project.starts_with(around.tree()))
}

pub(super) fn remote_of(root: &Path) -> Option<String> {
    let config = GitFolder::of(root)?.read_shared("config")?;
    let remotes = || config.split("[remote ").skip(1);
    let origin = remotes().find(|remote| remote.starts_with("\"origin\"]"));
    let lines = origin.or(remotes().next())?.lines().map(str::trim);
    let url = lines
        .take_while(|line| !line.starts_with('['))
        .find_map(|line| line.strip_prefix("url")?.trim_start().strip_prefix('='))?;
    Some(repository_address(url.trim())).filter(|address| !address.is_empty())
}

/// Returns a name that is the same for all clones of a repository: the address of its remote,
/// without protocol, user and `.git`. `recorded` is the address in a transcript, for directories
/// that no longer exist.
///
/// Anyone can claim any address, so this is only good enough for a suggestion to the user.
pub fn repository_identity(dir: &Path, recorded: Option<&str>) -> Option<String> {
    let address = if dir.is_dir() { remote_of(dir) } else { recorded.map(repository_address) }?;
    let place = address.split_once("://").map_or(&*address, |(_, place)| place);
    let place = place.split_once('@').map_or(place, |(_, place)| place);
    let place = place.trim_end_matches('/').trim_end_matches(".git");
    Some(place.replacen(':', "/", 1).to_lowercase())
}

/// Returns the main worktree of the repository that contains `dir`.
pub fn main_worktree(dir: &Path) -> Option<PathBuf> {
    let git = GitFolder::around(dir)?;
    let common = git.common();
    common.parent().filter(|_| common.ends_with(".git")).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_longest_registered_path_wins() {
        let projects = [PathBuf::from("/home/a/work"), PathBuf::from("/home/a/work/inner")];
        let place = |cwd: &str| project_root(Some(cwd), &projects);
        assert_eq!(place("/home/a/work/src"), Placing::Project("/home/a/work".into()));
        assert_eq!(place("/home/a/work/inner/x"), Placing::Project("/home/a/work/inner".into()));
        assert_eq!(place("/home/a/workshop"), Placing::Unregistered("/home/a/workshop".into()));
        assert_eq!(place("/home/a/work/../other"), Placing::Unregistered("/home/a/other".into()));
        assert_eq!(project_root(None, &projects), Placing::Nowhere);
        assert_eq!(place("relative"), Placing::Nowhere);
    }

    #[test]
    fn clones_have_the_same_identity_whatever_the_protocol() {
        let nowhere = Path::new("/nonexistent/clone");
        for address in [
            "https://github.com/Pearl/queue.git",
            "https://token@github.com/pearl/queue/",
            "git@github.com:pearl/queue.git",
            "ssh://git@github.com/pearl/queue",
        ] {
            let identity = repository_identity(nowhere, Some(address));
            assert_eq!(identity.as_deref(), Some("github.com/pearl/queue"), "{address}");
        }
        assert_eq!(repository_identity(nowhere, None), None);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test creates a worktree manually")]
    fn a_worktree_belongs_to_its_repository() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        let (main, tree) = (root.join("main"), root.join("tree"));
        let git_dir = main.join(".git/worktrees/tree");
        fs::create_dir_all(&git_dir).unwrap();
        fs::create_dir_all(tree.join("src")).unwrap();
        fs::write(git_dir.join("commondir"), "../..\n").unwrap();
        fs::write(tree.join(".git"), format!("gitdir: {}\n", git_dir.display())).unwrap();
        let cwd = tree.join("src").display().to_string();
        let place = || project_root(Some(&cwd), std::slice::from_ref(&main));
        assert_eq!(
            place(),
            Placing::Unregistered(tree.join("src")),
            "the worktree does not point back"
        );
        fs::write(git_dir.join("gitdir"), format!("{}\n", tree.join(".git").display())).unwrap();
        assert_eq!(place(), Placing::Project(main.clone()));
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test creates a repository manually")]
    fn a_trace_in_a_repository_speaks_for_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        let (clone, other) = (root.join("clone"), root.join("other"));
        fs::create_dir_all(clone.join(".git")).unwrap();
        fs::create_dir_all(clone.join("traces")).unwrap();
        fs::create_dir_all(root.join("home/traces")).unwrap();
        fs::write(clone.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let inside = clone.join("traces/a.jsonl");
        for projects in [vec![other.clone()], vec![other.clone(), clone.clone()]] {
            assert!(!may_speak_for(&inside, &other, &projects), "{projects:?}");
            assert!(may_speak_for(&inside, &clone, &projects));
            assert!(may_speak_for(&inside, &clone.join("sub"), &projects));
            assert!(may_speak_for(&root.join("home/traces/a.jsonl"), &other, &projects));
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test simulates an untrusted program")]
    fn a_git_file_that_names_another_repository_moves_no_session_there() {
        let dir = tempfile::tempdir().unwrap();
        let (victim, evil) = (dir.path().join("victim"), dir.path().join("evil"));
        fs::create_dir_all(victim.join(".git/worktrees/real")).unwrap();
        fs::create_dir_all(&evil).unwrap();
        fs::write(victim.join(".git/worktrees/real/commondir"), "../..\n").unwrap();
        let cwd = evil.display().to_string();
        for named in [victim.join(".git"), victim.join(".git/worktrees/real")] {
            fs::write(evil.join(".git"), format!("gitdir: {}\n", named.display())).unwrap();
            let placed = project_root(Some(&cwd), std::slice::from_ref(&victim));
            assert_eq!(placed, Placing::Unregistered(evil.clone()), "{}", named.display());
        }
    }
}
