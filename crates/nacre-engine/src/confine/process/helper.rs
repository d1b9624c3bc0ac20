//! The same binary in two other roles: the watcher, and the process that puts walls around itself and then becomes
//! the program.
//!
//! Both start from nothing but a connection in place of their standard input. Doing this in processes of their own,
//! and not between `fork` and `exec`, needs no `unsafe`.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use super::order::{ENTER, HELPER, WATCH};
use super::{enter, watch};

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
