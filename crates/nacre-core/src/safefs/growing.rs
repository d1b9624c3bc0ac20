//! Files that only grow, such as logs: appended to, and renamed away when they are full.
//!
//! Nothing is flushed: a log line that a power cut takes along is no loss worth waiting for.

use super::error::{FsAction, FsError};
use super::path::RelPath;
use super::reserved::refuse_journal;
use super::scope::io_error;
use super::sys;
use super::writer::{Writer, remove_if_there};

impl Writer<'_> {
    /// Adds `bytes` to the end of a plain file, making it where it is missing; returns its size.
    pub fn append(&self, path: &RelPath, bytes: &[u8]) -> Result<u64, FsError> {
        refuse_journal(path)?;
        let dir = self.scope().parent_of(path)?;
        let full = self.scope().full(path);
        match sys::append(&dir, path.name(), bytes, self.scope().access.file_mode(path)) {
            Ok(Some(size)) => Ok(size),
            Ok(None) => Err(FsError::NotAFile { path: full }),
            Err(error) => Err(io_error(FsAction::Write, &full, error)),
        }
    }

    /// Names `log` as `log.1`, `log.1` as `log.2` and so on; of the old ones, `n_kept` stay.
    pub fn rotate(&self, path: &RelPath, n_kept: u32) -> Result<(), FsError> {
        refuse_journal(path)?;
        let dir = self.scope().parent_of(path)?;
        let failed = |error| io_error(FsAction::Move, &self.scope().full(path), error);
        let name = |number: u32| match number {
            0 => path.name().to_owned(),
            number => format!("{}.{number}", path.name()),
        };
        remove_if_there(&dir, &name(n_kept)).map_err(failed)?;
        for number in (0..n_kept).rev() {
            match sys::rename(&dir, &name(number), &dir, &name(number + 1)) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                renamed => renamed.map_err(failed)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the tests play the stranger who laid the trap")]

    use std::time::Duration;

    use super::super::{Access, Owner, WriteScope};
    use super::*;

    fn with_writer(work: impl FnOnce(&Writer<'_>, &std::path::Path)) {
        let folder = tempfile::tempdir().unwrap();
        let scope = WriteScope::open(folder.path(), Access::Private).unwrap();
        let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
        work(&scope.lock(&owner, Duration::ZERO).unwrap(), folder.path());
    }

    fn path(text: &str) -> RelPath {
        RelPath::new(text).unwrap()
    }

    #[test]
    fn a_file_grows_and_makes_room_for_the_next() {
        with_writer(|writer, folder| {
            let log = path("a.log");
            for number in 0..6 {
                assert_eq!(writer.append(&log, b"one ").unwrap(), 4);
                assert_eq!(writer.append(&log, format!("{number}").as_bytes()).unwrap(), 5);
                writer.rotate(&log, 3).unwrap();
            }
            let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
            assert_eq!(read("a.log"), None);
            assert_eq!(read("a.log.1").as_deref(), Some("one 5"));
            assert_eq!(read("a.log.3").as_deref(), Some("one 3"));
            assert_eq!(read("a.log.4"), None);
        });
    }

    #[test]
    fn nothing_is_appended_through_a_link_or_to_what_is_no_file() {
        with_writer(|writer, folder| {
            std::fs::write(folder.join("victim"), "mine").unwrap();
            std::os::unix::fs::symlink(folder.join("victim"), folder.join("link")).unwrap();
            std::fs::create_dir(folder.join("dir")).unwrap();
            for name in ["link", "dir", "journal/lock"] {
                assert!(writer.append(&path(name), b"x").is_err(), "{name}");
            }
            assert_eq!(std::fs::read_to_string(folder.join("victim")).unwrap(), "mine");
        });
    }

    #[test]
    fn a_log_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;

        with_writer(|writer, folder| {
            writer.append(&path("a.log"), b"x").unwrap();
            let mode = std::fs::metadata(folder.join("a.log")).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        });
    }
}
