//! A repository that contains a store and has deleted files in its history.

use std::fs;
use std::path::Path;
use std::process::Command;

use nacre_base::git::GitProgram;
use nacre_ops::maintain::Checkout;

use super::corpus::gone_path;

/// Creates a repository at `root` in which `n_gone` files were committed and later deleted.
pub(crate) fn make(root: &Path, n_gone: usize) -> std::io::Result<()> {
    git(root, &["init", "-q"])?;
    fs::write(root.join("README.md"), "A program\n")?;
    for n in 0..n_gone {
        let path = root.join(gone_path(n));
        fs::create_dir_all(path.parent().unwrap_or(root))?;
        fs::write(path, format!("fn part_{n}() {{}}\n"))?;
    }
    git(root, &["add", "."])?;
    git(root, &["commit", "-q", "-m", "all of it"])?;
    if n_gone > 0 {
        fs::remove_dir_all(root.join("src"))?;
        git(root, &["commit", "-q", "-a", "-m", "less of it"])?;
    }
    Ok(())
}

pub(crate) fn open(root: &Path) -> Checkout {
    let git = GitProgram::new(std::env::var_os("PATH").unwrap_or_default());
    Checkout { root: root.to_owned(), git }
}

fn git(root: &Path, args: &[&str]) -> std::io::Result<()> {
    let identity =
        ["-c", "user.name=Mara", "-c", "user.email=mara@example.com", "-c", "commit.gpgsign=false"];
    let status = Command::new("git").args(identity).args(args).current_dir(root).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(std::io::Error::other(format!("git {args:?}: {status}")))
    }
}
