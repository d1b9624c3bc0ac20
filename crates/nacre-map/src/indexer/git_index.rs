//! Reads the index of git: the paths that a repository tracks.
//!
//! Versions 2 to 4, written whole. What is split into two files or abbreviated by folders is left to git itself.

use super::path_list::PathList;

/// What a repository tracks.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct IndexPaths {
    /// Plain files, in the index's order.
    pub(super) files: PathList,
    /// Where other repositories are mounted.
    pub(super) links: Vec<String>,
}

/// Times, numbers and owners that stand before the name of an object.
const STAT_BYTES: usize = 40;
const MODE_AT: usize = 24;

/// A flag that says that two more bytes of flags follow.
const IS_EXTENDED: u16 = 0x4000;

const KIND: u32 = 0o170_000;
const PLAIN: u32 = 0o100_000;
const GIT_LINK: u32 = 0o160_000;
const FOLDER: u32 = 0o040_000;

/// Reads an index whose object names have so many bytes; `None` when it is not one that can be read here.
pub(super) fn parse(index: &[u8], hash_bytes: usize) -> Option<IndexPaths> {
    let body = index.get(..index.len().checked_sub(hash_bytes)?)?;
    let (head, mut rest) = body.split_at_checked(12)?;
    let version = big(&head[4..8]);
    if !head.starts_with(b"DIRC") || !(2..=4).contains(&version) {
        return None;
    }
    let mut paths = IndexPaths::default();
    let mut path: Vec<u8> = Vec::new();
    for _ in 0..big(&head[8..12]) {
        let (mode, after) = entry_head(rest, hash_bytes)?;
        let used = rest.len() - after.len();
        let after = match version {
            4 => abbreviated(after, &mut path)?,
            _ => padded(after, used, &mut path)?,
        };
        // A name that is no text is skipped as it is on the disk.
        match (mode & KIND, std::str::from_utf8(&path)) {
            (FOLDER, _) => return None,
            (PLAIN, Ok(path)) => paths.files.push(path),
            (GIT_LINK, Ok(path)) => paths.links.push(path.to_owned()),
            _ => {}
        }
        rest = after;
    }
    is_whole(rest).then_some(paths)
}

fn big(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// The mode of an entry, and what follows its flags.
fn entry_head(rest: &[u8], hash_bytes: usize) -> Option<(u32, &[u8])> {
    let mode = big(rest.get(MODE_AT..MODE_AT + 4)?);
    let flags_at = STAT_BYTES + hash_bytes;
    let flags = big(rest.get(flags_at..flags_at + 2)?) as u16;
    let n_flag_bytes = if flags & IS_EXTENDED == 0 { 2 } else { 4 };
    Some((mode, rest.get(flags_at + n_flag_bytes..)?))
}

/// A path that ends with one to eight zeros, so that the entry's length is a multiple of eight.
fn padded<'r>(rest: &'r [u8], used: usize, path: &mut Vec<u8>) -> Option<&'r [u8]> {
    let len = memchr::memchr(0, rest)?;
    path.clear();
    path.extend(&rest[..len]);
    let padding = 8 - (used + len) % 8;
    rest.get(len + padding..)
}

/// A path that says how much of the last one it leaves out, and what follows then.
fn abbreviated<'r>(rest: &'r [u8], path: &mut Vec<u8>) -> Option<&'r [u8]> {
    let (&first, mut rest) = rest.split_first()?;
    let mut n_left_out = usize::from(first & 0x7f);
    let mut byte = first;
    while byte & 0x80 != 0 {
        (byte, rest) = rest.split_first().map(|(byte, rest)| (*byte, rest))?;
        n_left_out = n_left_out.checked_add(1)?.checked_mul(128)? + usize::from(byte & 0x7f);
    }
    path.truncate(path.len().checked_sub(n_left_out)?);
    let len = memchr::memchr(0, rest)?;
    path.extend(&rest[..len]);
    rest.get(len + 1..)
}

/// Whether the index says everything itself: an extension in lower case changes what the entries mean.
fn is_whole(mut extensions: &[u8]) -> bool {
    while let Some((head, rest)) = extensions.split_at_checked(8) {
        let is_optional = head[0].is_ascii_uppercase();
        let Some(after) = rest.get(big(&head[4..8]) as usize..) else { return false };
        if !is_optional {
            return false;
        }
        extensions = after;
    }
    true
}
