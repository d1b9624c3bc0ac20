//! The changes since an artifact's file was written, one record after the other.
//!
//! A record is its length, its checksum and its bytes. A process that is killed while it appends leaves a record that is
//! not whole, and one that is killed while it removes an artifact a log without one: readers end before what is torn or
//! follows from something else, and the next writer sees that the log is longer than what could be read and writes the
//! artifact anew.

use std::borrow::Cow;

use xxhash_rust::xxh3::xxh3_64;

use super::commit::{Commit, Head};

/// Length and checksum.
const FRAME_BYTES: usize = 16;

/// Makes a record of a commit. `close` is how its bytes are kept.
pub(super) fn frame(commit: &Commit, close: impl FnOnce(Vec<u8>) -> Vec<u8>) -> Vec<u8> {
    let body = close(commit.encode());
    let mut frame = Vec::with_capacity(FRAME_BYTES + body.len());
    frame.extend((body.len() as u64).to_le_bytes());
    frame.extend(xxh3_64(&body).to_le_bytes());
    frame.extend(body);
    frame
}

/// Reads the records that are whole and follow one another from `head` on; returns them with how many bytes they take. `open`
/// gives back what was kept at a place.
pub(super) fn read<'l>(
    log: &'l [u8],
    mut head: Head,
    open: impl Fn(u64, &'l [u8]) -> Option<Cow<'l, [u8]>>,
) -> (Vec<Commit>, u64) {
    let mut commits = Vec::new();
    let mut rest = log;
    while let Some((body, after)) = next(rest) {
        let place = (log.len() - rest.len()) as u64;
        let Some(commit) = open(place, body).and_then(|body| Commit::decode(&body)) else { break };
        if !commit.follows(&head) {
            break;
        }
        head = commit.head;
        commits.push(commit);
        rest = after;
    }
    (commits, (log.len() - rest.len()) as u64)
}

/// The bytes of the next record, and what follows it.
fn next(log: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = log.split_first_chunk::<8>()?;
    let (checksum, rest) = rest.split_first_chunk::<8>()?;
    let len = usize::try_from(u64::from_le_bytes(*len)).ok()?;
    let (body, rest) = rest.split_at_checked(len)?;
    if xxh3_64(body).to_le_bytes() != *checksum {
        return None;
    }
    Some((body, rest))
}
