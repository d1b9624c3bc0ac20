//! A note beside an index: somebody who could not wait left the rest of its files to another process, at this time.
//!
//! A hook takes in a few files and starts a process for the rest. Until that one is done, the next hooks neither look at all files
//! again nor start another. The note is derived and best effort: where it cannot be read or written, everybody looks.

use std::time::Duration;

use jiff::Timestamp;

use crate::safefs::{Owner, RelPath, WriteScope};

const FILE: &str = "left.stamp";
const MAX_BYTES: u64 = 64;

/// Who was started longer ago may have been killed.
const HOLDS: Duration = Duration::from_secs(10);

/// Whether the files were left to somebody a moment ago, who is not done yet.
pub(super) fn is_left(folder: &WriteScope, now: Timestamp) -> bool {
    // A clock that was set back must not stop it for ever.
    let age = read(folder).and_then(|at| Duration::try_from(now.duration_since(at)).ok());
    age.is_some_and(|age| age < HOLDS)
}

/// Notes that the files are left to somebody now.
pub(super) fn leave(folder: &WriteScope, now: Timestamp, owner: &Owner) {
    write(folder, &now.to_string(), owner);
}

/// Notes that nothing is left.
pub(super) fn settle(folder: &WriteScope, owner: &Owner) {
    if read(folder).is_some() {
        write(folder, "", owner);
    }
}

fn read(folder: &WriteScope) -> Option<Timestamp> {
    let bytes = folder.read_optional(&RelPath::new(FILE).ok()?, MAX_BYTES).ok()??;
    std::str::from_utf8(&bytes).ok()?.parse().ok()
}

fn write(folder: &WriteScope, text: &str, owner: &Owner) {
    if let Ok(path) = RelPath::new(FILE) {
        let _ = folder.put_output(&path, text.as_bytes(), owner);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::safefs::Access;

    #[test]
    fn what_is_left_is_left_until_it_is_done_or_a_while_is_over() {
        let place = tempfile::tempdir().unwrap();
        let folder = WriteScope::open(place.path(), Access::Private).unwrap();
        let owner = Owner { pid: 1, command: "test".to_owned(), since: String::new() };
        let now: Timestamp = "2026-11-15T08:30:00Z".parse().unwrap();
        assert!(!is_left(&folder, now));
        settle(&folder, &owner);
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0, "nothing was left");
        leave(&folder, now, &owner);
        assert!(is_left(&folder, now) && is_left(&folder, now + Duration::from_secs(9)));
        assert!(!is_left(&folder, now + HOLDS) && !is_left(&folder, now - Duration::from_secs(1)));
        settle(&folder, &owner);
        assert!(!is_left(&folder, now));
        write(&folder, "garbage", &owner);
        assert!(!is_left(&folder, now));
    }
}
