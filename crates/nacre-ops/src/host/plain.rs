//! Files that a person names.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// No text that is read whole is longer.
const MAX_TEXT: u64 = 1024 * 1024 * 1024;
/// What is read before it is looked at.
const PIECE: u64 = 1024 * 1024;

/// The text of a file that a person named. A pipe or a device in its place would keep the command waiting, for ever maybe.
pub fn read_plain(path: &Path) -> io::Result<String> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a plain file"));
    }
    read_text(path, MAX_TEXT)
}

/// Reads a text of at most `limit` bytes. It is given up at the first NUL byte, which no text has: a hole in a file is made of
/// them, and costs nothing on the disk, however long it is.
fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    let odd = |reason: String| io::Error::new(io::ErrorKind::InvalidData, reason);
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    loop {
        let n_before = bytes.len();
        if file.by_ref().take(PIECE).read_to_end(&mut bytes)? == 0 {
            break;
        }
        if bytes[n_before..].contains(&0) {
            return Err(odd("it holds NUL bytes, and so is not a text".to_owned()));
        }
        if limit < bytes.len() as u64 {
            return Err(odd(format!("it is larger than {limit} bytes")));
        }
    }
    String::from_utf8(bytes).map_err(|_| odd("it is not valid UTF-8".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
    fn a_file_is_read_as_far_as_it_is_a_text_of_a_bounded_length() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("set.jsonl");
        std::fs::write(&path, "é\n").unwrap();
        assert_eq!(read_plain(&path).unwrap(), "é\n");
        assert!(read_text(&path, 3).is_ok());
        assert!(read_text(&path, 2).unwrap_err().to_string().contains("larger than 2 bytes"));
        // A hole of a terabyte is not read to its end.
        std::fs::File::options().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
        assert!(read_plain(&path).unwrap_err().to_string().contains("NUL"));
    }
}
