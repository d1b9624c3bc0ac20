//! Determines what a program may read: everything that the user's tools need, except files that
//! only the user or root may read.
//!
//! Landlock can grant access only to entire directory trees. To hide an entry, access is granted
//! not to its parent directories but to everything else in them. The program can then open files
//! below these parents but cannot list them. Grants are recomputed for every program, so that they
//! cover new files.

use std::fs::{self, FileType};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use nacre_base::secret_rule;

use crate::confine::sandbox::Confinement;

/// Maximum number of entries granted in directories that also contain secrets. Real home
/// directories have fewer such entries.
const MAX_GRANTS: usize = 20_000;

/// Maximum number of system settings files to check. Files beyond this limit are not granted.
const MAX_LOOKED_AT: usize = 100_000;

/// System directories where only the listed entries are granted.
const ONLY: &[(&str, &str)] = &[
    // Contains disks, other users' terminals and shared memory. A few devices are granted by name.
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

/// System directories that are not granted. The user's home directory and tools are granted even if
/// they are inside one of these.
const HIDDEN: &str = "/home /lost+found /root /tmp /var/backups /var/cache/debconf /var/crash /var/db/sudo \
    /var/log /var/mail /var/spool /var/tmp";

/// Directories where only world-readable files are granted. Otherwise, a program run by root or by
/// a member of a privileged group could read more.
const PUBLIC_ONLY: &[&str] = &["/boot", "/etc", "/usr/local/etc"];

const CREDENTIALS: &[&str] =
    &["token", "secret", "passw", "smtppass", "extraheader", "cookie", "authorization"];

/// Larger settings files are neither checked nor granted.
const MAX_SETTINGS_BYTES: u64 = 1 << 20;

pub(super) fn readable(confinement: &Confinement) -> Result<Vec<PathBuf>, String> {
    let mut confinement = confinement.clone();
    let settings = confinement.own.iter().filter(|path| holds_credentials(path)).cloned();
    confinement.secrets.extend(settings.collect::<Vec<_>>());
    let confinement = &confinement;
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
    fn carve(&mut self, path: &Path) -> Result<(), String> {
        if self.is_secret(path) {
            return Ok(());
        }
        if PUBLIC_ONLY.iter().any(|folder| path.starts_with(folder)) {
            return self.grant_public(path).map(|_| ());
        }
        if !self.holds_hidden(path) {
            return self.grant(path);
        }
        for (path, kind) in entries(path) {
            // Granting a link grants its target, which may be a secret. Targets are granted through
            // their own paths.
            if !kind.is_symlink() && !self.is_left_out(&path) {
                self.carve(&path)?;
            }
        }
        Ok(())
    }

    fn is_secret(&self, path: &Path) -> bool {
        self.confinement.secrets.iter().any(|secret| path.starts_with(secret))
    }

    fn holds_hidden(&self, path: &Path) -> bool {
        let is_above = |hidden: &&str| Path::new(hidden).starts_with(path);
        let Confinement { home, secrets, .. } = self.confinement;
        ONLY.iter().any(|(folder, _)| is_above(folder))
            || PUBLIC_ONLY.iter().any(is_above)
            || HIDDEN.split(' ').any(|hidden| is_above(&hidden) && path != Path::new(hidden))
            || home.iter().chain(secrets).any(|hidden| hidden.starts_with(path))
    }

    /// Returns whether an entry must not be granted. For system directories, the lists above apply.
    /// In the home directory, hidden entries and likely secrets are excluded. Entries that builds
    /// need are granted by name (`own`).
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

    /// Grants the world-readable files below a path, and returns whether that included every file.
    fn grant_public(&mut self, path: &Path) -> Result<bool, String> {
        self.n_looked_at += 1;
        let metadata = fs::symlink_metadata(path);
        let Some(metadata) = metadata.ok().filter(|_| self.n_looked_at <= MAX_LOOKED_AT) else {
            return Ok(false);
        };
        // A link's target is checked under its own path.
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

    fn grant(&mut self, path: &Path) -> Result<(), String> {
        self.grants.push(path.to_owned());
        if MAX_GRANTS < self.grants.len() {
            return Err("too many files next to the hidden ones".to_owned());
        }
        Ok(())
    }
}

/// Returns whether a toolchain settings file, such as git's or cargo's, contains a credential. Also
/// returns true if the file cannot be read.
fn holds_credentials(path: &Path) -> bool {
    let Some(metadata) = path.metadata().ok().filter(|metadata| !metadata.is_dir()) else {
        return false;
    };
    if !metadata.is_file() || MAX_SETTINGS_BYTES < metadata.len() {
        return true;
    }
    let text = fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).to_ascii_lowercase());
    let is_given = |line: &str| {
        let is_setting = line.contains('=');
        (is_setting && CREDENTIALS.iter().any(|word| line.contains(word))) || has_login(line)
    };
    text.map_or(true, |text| text.lines().any(is_given))
}

/// Returns whether a line contains a URL with credentials. In SSH URLs, a user name without a
/// password does not count.
fn has_login(line: &str) -> bool {
    let mut addresses = line.split("://").zip(line.split("://").skip(1));
    addresses.any(|(before, after)| {
        let host = after.split(['/', '"', '\'', ' ']).next().unwrap_or_default();
        let login = host.rsplit_once('@').map(|(login, _)| login);
        login.is_some_and(|login| login.contains(':') || !before.ends_with("ssh"))
    })
}

/// Returns the directory's entries, or none if it cannot be listed, so that nothing is granted.
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
            ..crate::confine::sandbox::tests::confinement("/workspace", "/run/nacre")
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
        grants.dedup();
        assert_eq!(grants, [home.join(".cargo/bin"), home.join("src")]);
    }

    #[test]
    fn of_the_system_only_is_granted_what_every_user_may_read() {
        let grants = readable(&confinement(None, &[], &[])).unwrap();
        let is_granted = |path: &str| grants.iter().any(|grant| Path::new(path).starts_with(grant));
        for path in ["/usr/bin/env", "/proc/self/status", "/etc/passwd"] {
            assert!(is_granted(path), "{path}");
        }
        for path in [
            "/etc/shadow",
            "/etc/gshadow-",
            "/root/.bashrc",
            "/home/ada/notes",
            "/dev/mem",
            "/dev/shm/x",
            "/tmp/krb5cc_1000",
            "/var/tmp/x",
            "/run/user/1000/x",
            "/var/lib/postgresql/data",
            "/var/log/auth.log",
            "/sys/kernel/debug/x",
        ] {
            assert!(!is_granted(path), "{path}");
        }
    }

    #[test]
    fn settings_are_granted_without_credentials_alone() {
        let temp = tempfile::tempdir().unwrap();
        let home = temp.path().canonicalize().unwrap();
        let settings = home.join("gitconfig");
        for (text, is_granted) in [
            ("[user]\n name = Ada\n email = ada@example.org", true),
            ("[url \"ssh://git@github.com/\"]\n insteadOf = https://github.com/", true),
            ("[credential]\n helper = cache", true),
            ("[registries.own]\nindex = \"https://example.org/index\"", true),
            ("[registry]\ntoken = \"x\"", false),
            ("registries = { own = { TOKEN = \"x\" } }", false),
            ("[http \"https://example.org\"]\n extraHeader = Authorization: Basic x", false),
            ("[http]\n proxy = http://ada:x@example.org:8080", false),
            ("[url \"https://x@example.org/\"]\n insteadOf = https://example.org/", false),
            ("[url \"ssh://git:x@example.org/\"]\n insteadOf = x:", false),
        ] {
            open(&settings, OFlags::CREATE | OFlags::WRONLY | OFlags::TRUNC, Mode::RWXU)
                .and_then(|file| rustix::io::write(file, text.as_bytes()))
                .unwrap();
            let own = [settings.clone()];
            let grants = readable(&confinement(Some(&home), &own, &[])).unwrap();
            assert_eq!(grants.contains(&settings), is_granted, "{text}");
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
