//! What a program has no business reading, wherever it runs.

use std::path::{Path, PathBuf};

/// Where people keep keys, below their home.
const BELOW_HOME: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".nacre",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".vault-token",
    ".pgpass",
    ".password-store",
    ".mozilla",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".config/op",
    ".config/google-chrome",
    ".config/chromium",
    ".local/share/keyrings",
    ".local/share/opencode/auth.json",
];

/// What every system has or may have; of the others, only what every user may read is granted anyway.
const SYSTEM: &[&str] = &[
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/ssl/private",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/run/secrets",
];

/// The files and folders to hide from programs that a person with this home starts; `more` are others, such as a home
/// of Nacre that was moved. A name that is a link is hidden with what it leads to.
pub fn secrets_of_home(home: &Path, more: &[PathBuf]) -> Vec<PathBuf> {
    let own = BELOW_HOME.iter().map(|name| home.join(name));
    let system = SYSTEM.iter().map(PathBuf::from);
    let named: Vec<PathBuf> = own.chain(system).chain(more.iter().cloned()).collect();
    let real = named.iter().filter_map(|path| path.canonicalize().ok());
    let mut all: Vec<PathBuf> = real.chain(named.iter().cloned()).collect();
    all.sort();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_behind_a_link_is_hidden_where_it_really_lies() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().canonicalize().unwrap();
        rustix::fs::mkdir(home.join("keys"), rustix::fs::Mode::RWXU).unwrap();
        rustix::fs::symlink(home.join("keys"), home.join(".ssh")).unwrap();
        let secrets = secrets_of_home(&home, &[]);
        assert!(secrets.contains(&home.join(".ssh")));
        assert!(secrets.contains(&home.join("keys")));
    }
}
