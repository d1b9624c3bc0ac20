//! The same binary in two other roles: the watcher, and the process that puts walls around itself and then becomes
//! the program.
//!
//! Both start from nothing but a connection in place of their standard input. Doing this in processes of their own,
//! and not between `fork` and `exec`, needs no `unsafe`.

use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use super::order::{ENTER, HELPER, WATCH};
use super::{enter, watch};

/// An order is arguments and an environment; more is a mistake.
const MAX_ORDER: u64 = 4 << 20;

/// Plays the role that the arguments ask for; `None` when they ask for none.
pub fn helper(arguments: &[OsString]) -> Option<ExitCode> {
    let [_, marker, role] = arguments else { return None };
    if marker != HELPER {
        return None;
    }
    let connection = connection().ok()?;
    let done = match role.to_str()? {
        WATCH => watch::watch(&connection),
        ENTER => enter::enter(&connection),
        _ => return None,
    };
    Some(if done.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The connection that stands in the place of standard input.
fn connection() -> io::Result<UnixStream> {
    Ok(UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?))
}

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
