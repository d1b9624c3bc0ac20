//! Files that a person names.

use std::io;
use std::path::Path;

/// The text of a file that a person named. A pipe or a device in its place would keep the command waiting, for ever maybe.
pub fn read_plain(path: &Path) -> io::Result<String> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a plain file"));
    }
    std::fs::read_to_string(path)
}
