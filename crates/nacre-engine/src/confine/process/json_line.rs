//! One value to a line of JSON: how Nacre, the watcher and the process that becomes the program talk.

use std::io::{self, BufRead as _, BufReader};
use std::os::unix::net::UnixStream;

/// An order is arguments and an environment; more is a mistake.
const MAX_ORDER: u64 = 4 << 20;

/// Reads one line of JSON.
pub(super) fn read_line<T: serde::de::DeserializeOwned>(connection: &UnixStream) -> io::Result<T> {
    let mut line = Vec::new();
    let limited = io::Read::take(connection, MAX_ORDER);
    BufReader::new(limited).read_until(b'\n', &mut line)?;
    Ok(serde_json::from_slice(&line)?)
}

/// Writes one line of JSON.
pub(super) fn write_line<T: serde::Serialize>(
    mut connection: &UnixStream,
    value: &T,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    io::Write::write_all(&mut connection, &line)
}
