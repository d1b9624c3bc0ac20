//! The walls tried from inside, before a program is let in.
//!
//! Whether a kernel says that it confines and whether it does are two questions; this one has the last word.

use std::path::Path;

use rustix::fs::{IFlags, Mode, OFlags, ioctl_setflags, open, unlink};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, recv, sendto,
    socket, socketpair,
};
use rustix::process::{Resource, Rlimit, getppid, prlimit};

use super::{Confinement, Metadata, Reach, WallError};

/// Kinds of sockets: stream, datagram, raw, reliable datagram, packets, and those that only old kernels know.
const KINDS: [u32; 7] = [1, 2, 3, 4, 5, 6, 10];

/// What everybody has within the walls already.
const NO_CORE: Rlimit = Rlimit { current: Some(0), maximum: Some(0) };

/// The name that is tried; should the walls leak, it is removed again.
const PROBE: &str = "walls.probe";

pub(super) fn try_walls(confinement: &Confinement) -> Result<(), WallError> {
    let Confinement { outside, scratch, secrets, reach, metadata, .. } = confinement;
    let is_open = |family: AddressFamily| {
        KINDS.map(SocketType::from_raw).iter().any(|kind| !is_refused(socket(family, *kind, None)))
    };
    let local = [AddressFamily::UNIX, AddressFamily::NETLINK];
    let internet = [AddressFamily::INET, AddressFamily::INET6];
    let is_other = |parent| !is_refused(prlimit(Some(parent), Resource::Core, NO_CORE));
    let is_kept = *metadata == Metadata::Kept;
    let leaks = [
        (!is_refused(write(outside)), "a file could be written outside of the workspace"),
        (write(scratch).is_err(), "the folder for temporary files cannot be written"),
        (secrets.iter().any(|secret| is_visible(secret)), "a secret could be read"),
        (local.into_iter().any(is_open), "a socket of this machine could be opened"),
        (
            *reach == Reach::Nothing && internet.into_iter().any(is_open),
            "a connection could be opened",
        ),
        (
            KINDS.into_iter().any(|kind| reaches_sockets(kind, scratch)),
            "a pair of sockets could be turned to another address",
        ),
        (getppid().is_some_and(is_other), "limits of another process could be changed"),
        (is_kept && !is_refused(set_attributes(scratch)), "attributes could be changed"),
    ];
    match leaks.into_iter().find(|(is_leaky, _)| *is_leaky) {
        Some((_, what)) => Err(WallError::Leaky(what.to_owned())),
        None => Ok(()),
    }
}

/// Whether a pair of sockets of this kind can send to a socket in the file system: no kind but streams and packets is to be had, and
/// what those send reaches their other end or nobody.
fn reaches_sockets(kind: u32, folder: &Path) -> bool {
    let kind = SocketType::from_raw(kind);
    let pair = socketpair(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None);
    if ![SocketType::STREAM, SocketType::SEQPACKET].contains(&kind) {
        return !is_refused(pair);
    }
    let is_lost = pair.and_then(|(ours, theirs)| {
        sendto(ours, b"x", SendFlags::NOSIGNAL, &SocketAddrUnix::new(folder.join(PROBE))?)?;
        Ok(recv(theirs, &mut [0; 1], RecvFlags::DONTWAIT).is_err())
    });
    is_lost.unwrap_or(false)
}

fn set_attributes(folder: &Path) -> rustix::io::Result<()> {
    let folder = open(folder, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    ioctl_setflags(folder, IFlags::empty())
}

fn write(folder: &Path) -> rustix::io::Result<()> {
    let path = folder.join(PROBE);
    open(&path, OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR)?;
    unlink(&path)?;
    Ok(())
}

/// Another failure than a refusal proves nothing: a folder that is not there refuses nobody.
fn is_refused<T>(attempt: rustix::io::Result<T>) -> bool {
    attempt.is_err_and(|error| matches!(error, Errno::PERM | Errno::ACCESS))
}

fn is_visible(path: &Path) -> bool {
    open(path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty()).is_ok()
}
