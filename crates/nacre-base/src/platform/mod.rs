//! Differences between operating systems: open directories, file metadata, permissions, processes
//! and random bytes.
//!
//! Code elsewhere uses `platform` instead of checking the operating system. On Linux and macOS, the
//! functions map directly to system calls. On Windows, functions with the same names provide safe
//! fallbacks: open directories are `cap-std` handles, and unsupported operations are refused or
//! left to the caller. `docs/platforms.md` lists the limits of each system.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;

#[derive(Debug)]
pub struct ListedName<'n> {
    /// The name, with invalid Unicode replaced.
    pub name: std::borrow::Cow<'n, str>,
    pub is_unicode: bool,
    pub kind: fs::FileType,
}

/// Uses a system call, so `/dev/urandom` does not have to exist.
pub fn fill_random(bytes: &mut [u8]) -> std::io::Result<()> {
    getrandom::fill(bytes).map_err(std::io::Error::other)
}

/// Resolves links. On Windows, the result has no `\\\\?\\`, so it can be compared and shown.
pub fn canonicalize(path: impl AsRef<std::path::Path>) -> std::io::Result<std::path::PathBuf> {
    dunce::canonicalize(path)
}

/// Returns a relative path as stores and maps have it, which is with slashes.
pub fn with_slashes(path: &str) -> String {
    if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() }
}

pub fn program_file(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "the tests simulate the user and create the old state"
)]
mod tests {
    use super::fs::{FileType, Mode, OFlags};
    use super::*;

    #[test]
    fn a_listing_says_what_each_name_is() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "x").unwrap();
        std::fs::create_dir(folder.path().join("folder")).unwrap();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let open = fs::open(folder.path(), flags, Mode::empty()).unwrap();
        let mut names = Vec::new();
        list(&open, |entry| names.push((entry.name.into_owned(), entry.is_unicode, entry.kind)))
            .unwrap();
        names.sort_by(|a, b| a.0.cmp(&b.0));
        let wanted = [
            ("file".to_owned(), true, FileType::RegularFile),
            ("folder".to_owned(), true, FileType::Directory),
        ];
        assert_eq!(names, wanted);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_name_that_is_not_unicode_is_told_as_such() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(os_string(b"a\xff")), "x").unwrap();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let open = fs::open(folder.path(), flags, Mode::empty()).unwrap();
        let mut names = Vec::new();
        list(&open, |entry| names.push((entry.name.into_owned(), entry.is_unicode))).unwrap();
        assert_eq!(names, [("a\u{fffd}".to_owned(), false)]);
    }

    #[test]
    fn a_second_name_of_a_file_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "x").unwrap();
        assert!(!has_other_names(&file));
        std::fs::hard_link(&file, folder.path().join("other")).unwrap();
        assert!(has_other_names(&file));
    }

    #[test]
    fn random_bytes_are_not_the_same_twice() {
        let (mut first, mut second) = ([0; 32], [0; 32]);
        fill_random(&mut first).unwrap();
        fill_random(&mut second).unwrap();
        assert_ne!(first, second);
    }
}
