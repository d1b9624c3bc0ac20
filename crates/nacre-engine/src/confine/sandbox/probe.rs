//! The walls tried from inside, before a program is let in.
//!
//! Whether a kernel says that it confines and whether it does are two questions; this one has the last word.

use std::io::{self, ErrorKind};
use std::net::UdpSocket;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

use rustix::fs::{Mode, OFlags, open, unlink};

use super::{Confinement, Reach, WallError};

/// The name that is tried; should the walls leak, it is removed again.
const PROBE: &str = "walls.probe";

pub(super) fn try_walls(confinement: &Confinement) -> Result<(), WallError> {
    let leaky = |what: &str| WallError::Leaky(what.to_owned());
    if !is_refused(write(&confinement.outside)) {
        return Err(leaky("a file could be written outside of the workspace"));
    }
    if write(&confinement.scratch).is_err() {
        return Err(leaky("the folder for temporary files cannot be written"));
    }
    if confinement.secrets.iter().any(|secret| is_visible(secret)) {
        return Err(leaky("a secret could be read"));
    }
    if confinement.reach == Reach::Nothing && !is_refused(UdpSocket::bind("127.0.0.1:0")) {
        return Err(leaky("a connection could be opened"));
    }
    if !is_refused(UnixDatagram::unbound()) {
        return Err(leaky("a socket of this machine could be opened"));
    }
    Ok(())
}

fn write(folder: &Path) -> io::Result<()> {
    let path = folder.join(PROBE);
    open(&path, OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR)?;
    unlink(&path)?;
    Ok(())
}

/// Another failure than a refusal proves nothing: a folder that is not there refuses nobody.
fn is_refused<T>(attempt: io::Result<T>) -> bool {
    attempt.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
}

fn is_visible(path: &Path) -> bool {
    open(path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty()).is_ok()
}
