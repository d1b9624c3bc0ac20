//! What differs between operating systems, in one place: open folders, file facts, permissions, processes, random bytes; and
//! what differs between processors: bytes compared many at once.
//!
//! Elsewhere code names `platform` and not the system. On Linux and macOS these are the system's own calls. Windows has
//! the same names with safe fallbacks: folders are held open as handles that `cap-std` resolves names beneath, and what
//! the system cannot do is refused or left to what stands above. `docs/platforms.md` says what each system lacks.

mod bytes;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

pub use bytes::{equal_in_16, equal_in_64};
#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;

/// A name in a folder, with what it is.
#[derive(Debug)]
pub struct ListedName<'n> {
    /// Where it is not Unicode, with marks in the places of what is not.
    pub name: std::borrow::Cow<'n, str>,
    pub is_unicode: bool,
    pub kind: fs::FileType,
}

/// Bytes that nobody can guess, by the system's own call: an empty root has no file for them.
pub fn fill_random(bytes: &mut [u8]) -> std::io::Result<()> {
    getrandom::fill(bytes).map_err(std::io::Error::other)
}

/// The file name of a program: on some systems its kind belongs to it.
pub fn program_file(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests play the person and the old state")]
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
    fn a_file_is_read_into_the_room_that_there_is() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "tide").unwrap();
        let file = std::fs::File::open(folder.path().join("file")).unwrap();
        let mut buffer = Vec::with_capacity(16);
        assert_eq!(read_more(&file, &mut buffer).unwrap(), 4);
        assert_eq!(read_more(&file, &mut buffer).unwrap(), 0);
        assert_eq!(buffer, b"tide");
    }

    #[test]
    fn random_bytes_are_not_the_same_twice() {
        let (mut first, mut second) = ([0; 32], [0; 32]);
        fill_random(&mut first).unwrap();
        fill_random(&mut second).unwrap();
        assert_ne!(first, second);
    }
}
