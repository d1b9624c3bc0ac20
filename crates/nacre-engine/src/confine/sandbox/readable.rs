//! What a program may read: everything that a person's tools need, without what only this person or root may see.
//!
//! Landlock only ever adds rights to a whole tree. So that something stays hidden, the folders above it are not granted
//! themselves but each of their other entries; they can be passed through, and not be listed. All of it is decided again for
//! every program, so that files that were made since are judged, too.

use std::fs::{self, FileType};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use nacre_core::base::secret_rule;

use super::{Confinement, WallError};

/// More entries beside secrets than this are no home that we know.
const MAX_GRANTS: usize = 20_000;

/// Maximum number of system settings to check; the rest is not granted.
const MAX_LOOKED_AT: usize = 100_000;

/// Folders of the system of which these entries are granted, and no others.
const ONLY: &[(&str, &str)] = &[
    // Disks and other people's terminals and shared memory; a few devices are granted by name.
    ("/dev", ""),
    ("/run", "NetworkManager booted-system current-system opengl-driver systemd"),
    ("/run/NetworkManager", "resolv.conf"),
    ("/run/systemd", "resolve"),
    ("/sys", "block bus class dev devices fs kernel module"),
    ("/sys/fs", "cgroup"),
    ("/sys/kernel", "mm"),
    (
        "/var/lib",
        "alternatives apt ca-certificates-java dbus dpkg emacsen-common flatpak gems ghc man-db pacman \
         portage python rpm sgml-base snapd tex-common texmf xml-core",
    ),
];

/// Folders of the system that are not granted. A person's home and tools are, wherever they are.
const HIDDEN: &str = "/home /lost+found /root /var/backups /var/cache/debconf /var/crash /var/db/sudo \
    /var/log /var/mail /var/spool";

/// Folders of which only that is granted which every user of the machine may read: root can read more, and so can a member
/// of some groups.
const PUBLIC_ONLY: &[&str] = &["/boot", "/etc", "/usr/local/etc"];

/// Trees that together hold everything that may be read.
pub(super) fn readable(confinement: &Confinement) -> Result<Vec<PathBuf>, WallError> {
    let mut carving = Carving { confinement, grants: Vec::new(), n_looked_at: 0 };
    carving.carve(Path::new("/"))?;
    for folder in confinement.home.iter().chain(&confinement.own) {
        if folder.ancestors().any(|above| carving.is_left_out(above)) {
            carving.carve(folder)?;
        }
    }
    Ok(carving.grants)
}

struct Carving<'c> {
    confinement: &'c Confinement,
    grants: Vec<PathBuf>,
    n_looked_at: usize,
}

impl Carving<'_> {
    fn carve(&mut self, path: &Path) -> Result<(), WallError> {
        if self.is_secret(path) {
            return Ok(());
        }
        if is_below_any(PUBLIC_ONLY, path) {
            return self.grant_public(path).map(|_| ());
        }
        if !self.holds_hidden(path) {
            return self.grant(path);
        }
        for (path, kind) in entries(path) {
            // A link would grant what it leads to, which may be the secret; that is granted in its own place.
            if !kind.is_symlink() && !self.is_left_out(&path) {
                self.carve(&path)?;
            }
        }
        Ok(())
    }

    fn is_secret(&self, path: &Path) -> bool {
        self.confinement.secrets.iter().any(|secret| path.starts_with(secret))
    }

    /// Whether something in a folder is not granted.
    fn holds_hidden(&self, path: &Path) -> bool {
        let is_above = |hidden: &&str| Path::new(hidden).starts_with(path);
        let Confinement { home, secrets, .. } = self.confinement;
        ONLY.iter().any(|(folder, _)| is_above(folder))
            || PUBLIC_ONLY.iter().any(is_above)
            || HIDDEN.split(' ').any(|hidden| is_above(&hidden) && path != Path::new(hidden))
            || home.iter().chain(secrets).any(|hidden| hidden.starts_with(path))
    }

    /// Whether a folder does not grant an entry: one of the system by the lists above, the home all that is hidden or looks like
    /// a secret. What builds need of it is granted by name (`own`).
    fn is_left_out(&self, entry: &Path) -> bool {
        let (Some(parent), Some(name)) = (entry.parent(), entry.file_name()) else { return false };
        if self.confinement.home.as_deref() == Some(parent) {
            let name = name.to_string_lossy();
            return name.starts_with('.') || name == "snap" || secret_rule(&name).is_some();
        }
        let only = ONLY.iter().find(|(folder, _)| parent == Path::new(folder));
        only.is_some_and(|(_, names)| !names.split(' ').any(|known| name == known))
            || HIDDEN.split(' ').any(|hidden| entry == Path::new(hidden))
    }

    /// Grants what everybody may read below a path; says whether that is all of it.
    fn grant_public(&mut self, path: &Path) -> Result<bool, WallError> {
        self.n_looked_at += 1;
        let metadata = fs::symlink_metadata(path);
        let Some(metadata) = metadata.ok().filter(|_| self.n_looked_at <= MAX_LOOKED_AT) else {
            return Ok(false);
        };
        // What a link leads to is judged in its own place.
        if metadata.is_symlink() {
            return Ok(true);
        }
        let needed = if metadata.is_dir() { 0o005 } else { 0o004 };
        if self.is_secret(path) || metadata.permissions().mode() & needed != needed {
            return Ok(false);
        }
        let first = self.grants.len();
        let mut is_all = true;
        if metadata.is_dir() {
            for (entry, _) in entries(path) {
                is_all &= self.grant_public(&entry)?;
            }
        }
        if is_all {
            self.grants.truncate(first);
            self.grant(path)?;
        }
        Ok(is_all)
    }

    fn grant(&mut self, path: &Path) -> Result<(), WallError> {
        self.grants.push(path.to_owned());
        if self.grants.len() <= MAX_GRANTS { Ok(()) } else { Err(WallError::TooMany) }
    }
}

fn is_below_any(folders: &[&str], path: &Path) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

/// The entries of a folder; nothing where it cannot be listed, so that nothing is granted.
fn entries(folder: &Path) -> Vec<(PathBuf, FileType)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let known = entries.flatten().filter_map(|entry| Some((entry.path(), entry.file_type().ok()?)));
    known.collect()
}

#[cfg(test)]
mod tests {
    use rustix::fs::{Mode, OFlags, chmod, mkdir, open, symlink};

    use super::*;

    fn confinement(home: Option<&Path>, own: &[PathBuf], secrets: &[PathBuf]) -> Confinement {
        Confinement {
            home: home.map(Path::to_owned),
            own: own.to_vec(),
            secrets: secrets.to_vec(),
            ..super::super::tests::confinement("/workspace", "/run/nacre")
        }
    }

    #[test]
    fn of_a_home_all_is_readable_but_dot_entries_secrets_and_links_to_them() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().canonicalize().unwrap();
        for folder in [".ssh", ".cargo", ".cargo/bin", ".tool", "keys", "snap", "src", "x.pem"] {
            mkdir(home.join(folder), Mode::RWXU).unwrap();
        }
        symlink(home.join(".ssh"), home.join("link")).unwrap();
        let secrets = [home.join(".ssh"), home.join("keys"), home.join(".missing")];
        let own = [home.join(".cargo/bin"), home.clone()];
        let mut grants = readable(&confinement(Some(&home), &own, &secrets)).unwrap();
        grants.retain(|path| path.starts_with(&home));
        grants.sort();
        assert_eq!(grants, [home.join(".cargo/bin"), home.join("src")]);
    }

    #[test]
    fn of_the_system_only_is_granted_what_every_user_may_read() {
        let grants = readable(&confinement(None, &[], &[])).unwrap();
        let is_granted = |path: &str| grants.iter().any(|grant| Path::new(path).starts_with(grant));
        for path in ["/usr/bin/env", "/proc/self/status", "/etc/passwd", "/tmp/x"] {
            assert!(is_granted(path), "{path}");
        }
        for path in [
            "/etc/shadow",
            "/etc/gshadow-",
            "/root/.bashrc",
            "/home/ada/notes",
            "/dev/mem",
            "/dev/shm/x",
            "/run/user/1000/x",
            "/var/lib/postgresql/data",
            "/var/log/auth.log",
            "/sys/kernel/debug/x",
        ] {
            assert!(!is_granted(path), "{path}");
        }
    }

    #[test]
    fn own_folders_are_granted_where_those_of_others_are_not() {
        let own = ["/home/ada/.cargo/bin", "/var/lib/jenkins"].map(PathBuf::from);
        let home = Path::new("/root");
        let grants = readable(&confinement(Some(home), &own, &[])).unwrap();
        assert!(own.iter().all(|folder| grants.contains(folder)), "{grants:?}");
        assert!(!grants.contains(&PathBuf::from("/home")), "{grants:?}");
    }

    #[test]
    fn a_folder_of_settings_is_granted_without_what_is_private_in_it() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        chmod(&root, Mode::from(0o755)).unwrap();
        for folder in ["ssl", "ssl/certs", "ssl/private", "app"] {
            mkdir(root.join(folder), Mode::RWXU).unwrap();
            chmod(root.join(folder), Mode::from(0o755)).unwrap();
        }
        let file = |name: &str, mode: u32| {
            open(root.join(name), OFlags::CREATE | OFlags::WRONLY, Mode::RWXU).unwrap();
            chmod(root.join(name), Mode::from(mode)).unwrap();
        };
        file("ssl/certs/ca", 0o644);
        file("app/public", 0o644);
        file("app/key", 0o640);
        chmod(root.join("ssl/private"), Mode::from(0o710)).unwrap();
        let confinement = confinement(None, &[], &[]);
        let mut carving = Carving { confinement: &confinement, grants: Vec::new(), n_looked_at: 0 };
        carving.grant_public(&root).unwrap();
        carving.grants.sort();
        assert_eq!(carving.grants, [root.join("app/public"), root.join("ssl/certs")]);
    }
}
