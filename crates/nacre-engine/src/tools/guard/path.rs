//! Where a path leads, as the system would follow it, and paths that are written to mislead.

use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use nacre_core::base::is_hidden_char;
use nacre_core::platform;

/// The longest path that the system takes, in bytes.
const MAX_BYTES: usize = 4096;

/// Characters that some program may read as a dot or as a slash.
const LOOK_ALIKES: [char; 10] = ['．', '․', '‥', '…', '／', '∕', '⁄', '＼', '\u{fe68}', '\u{29f5}'];

/// Bytes that some program may read after decoding them.
const ENCODED: [&str; 6] = ["%2e", "%2f", "%5c", "%00", "%c0", "%c1"];

/// What is odd about a path before anybody follows it.
pub(super) fn strangeness(text: &str) -> Option<&'static str> {
    let lower = text.to_ascii_lowercase();
    match text {
        "" => Some("it is empty"),
        _ if text.len() > MAX_BYTES => Some("it is too long"),
        _ if text.contains(is_hidden_char) => Some("it has a control or invisible character"),
        _ if text.contains(LOOK_ALIKES) || ENCODED.iter().any(|byte| lower.contains(byte)) => {
            Some("it is written so that it may mean another path")
        }
        _ if text.contains("://") => Some("it is an address"),
        _ => None,
    }
}

/// Where an absolute path leads. A file that is not there yet is where its folder leads.
pub(super) fn followed(path: &Path) -> Result<PathBuf, &'static str> {
    let mut real = PathBuf::from("/");
    let mut is_missing = false;
    for component in path.components() {
        match component {
            Component::RootDir | Component::CurDir => {}
            Component::Prefix(_) => return Err("it names a drive"),
            Component::ParentDir if is_missing => return Err("it goes up from nowhere"),
            Component::ParentDir => {
                real.pop();
            }
            Component::Normal(name) => (real, is_missing) = step(&real.join(name), is_missing)?,
        }
    }
    match real.symlink_metadata() {
        Ok(metadata) if metadata.is_file() && platform::has_other_names(&real) => {
            Err("it has a second name elsewhere")
        }
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => Err("it is not a plain file"),
        _ if is_of_the_system(&real) => Err("it belongs to the system"),
        _ => Ok(real),
    }
}

/// One name further, through a link where there is one; and whether there is nothing.
fn step(next: &Path, is_missing: bool) -> Result<(PathBuf, bool), &'static str> {
    if is_missing {
        return Ok((next.to_owned(), true));
    }
    match next.symlink_metadata() {
        Ok(metadata) if metadata.is_symlink() => match next.canonicalize() {
            Ok(target) => Ok((target, false)),
            Err(_) => Err("it goes through a link that leads nowhere"),
        },
        Ok(_) => Ok((next.to_owned(), false)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok((next.to_owned(), true)),
        Err(_) => Err("it cannot be followed"),
    }
}

/// Whether a path means something else in every process.
fn is_of_the_system(path: &Path) -> bool {
    ["/proc", "/dev", "/sys"].iter().any(|folder| path.starts_with(folder))
}
