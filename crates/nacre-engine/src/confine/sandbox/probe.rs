//! Restricts file access with Landlock, and tests the sandbox from inside before a program runs.
//!
//! The test is needed because a kernel may report that it supports the restrictions without
//! enforcing them.

use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, Scope, path_beneath_rules,
};
use nacre_base::with_causes;
use rustix::fs::{IFlags, Mode, OFlags, ioctl_setflags, open, unlink};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, recv, sendto,
    socket, socketpair,
};
use rustix::process::{Resource, Rlimit, getppid, prlimit};

use crate::confine::sandbox::Confinement;
use crate::confine::sandbox::readable::readable;

/// Socket types: stream, datagram, raw, reliable datagram and sequenced packet, followed by types
/// that only old kernels support.
const KINDS: [u32; 7] = [1, 2, 3, 4, 5, 6, 10];

/// Processes in the sandbox already have this limit, so setting it has no effect even if the call
/// is allowed.
const NO_CORE: Rlimit = Rlimit { current: Some(0), maximum: Some(0) };

/// Name of the file that the test tries to write. If the sandbox does not prevent the write, the
/// file is removed.
const PROBE: &str = "walls.probe";

pub(super) fn try_walls(confinement: &Confinement) -> Result<(), String> {
    let Confinement { outside, scratch, secrets, .. } = confinement;
    let is_open = |family: AddressFamily| {
        KINDS.map(SocketType::from_raw).iter().any(|kind| !is_refused(socket(family, *kind, None)))
    };
    let local = [AddressFamily::UNIX, AddressFamily::NETLINK];
    let internet = [AddressFamily::INET, AddressFamily::INET6];
    let is_other = |parent| !is_refused(prlimit(Some(parent), Resource::Core, NO_CORE));
    let leaks = [
        (!is_refused(write(outside)), "a file outside the workspace could be written"),
        (write(scratch).is_err(), "the directory for temporary files is not writable"),
        (secrets.iter().any(|secret| is_visible(secret)), "a secret could be read"),
        (local.into_iter().any(is_open), "a local socket could be opened"),
        (internet.into_iter().any(is_open), "a connection could be opened"),
        (
            KINDS.into_iter().any(|kind| reaches_sockets(kind, scratch)),
            "a socket pair could be redirected to another address",
        ),
        (getppid().is_some_and(is_other), "another process's limits could be changed"),
        (!is_refused(set_attributes(scratch)), "file attributes could be changed"),
    ];
    match leaks.into_iter().find(|(is_leaky, _)| *is_leaky) {
        Some((_, what)) => Err(format!("the sandbox is not effective: {what}")),
        None => Ok(()),
    }
}

/// Returns whether a socket pair of this type can send to a socket in the file system. Only stream
/// and sequenced-packet pairs may be created, because their data always goes to the other socket of
/// the pair.
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

/// Returns whether the sandbox refused the attempt. Other errors, such as a missing directory,
/// prove nothing about the sandbox.
fn is_refused<T>(attempt: rustix::io::Result<T>) -> bool {
    attempt.is_err_and(|error| matches!(error, Errno::PERM | Errno::ACCESS))
}

fn is_visible(path: &Path) -> bool {
    open(path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty()).is_ok()
}

/// Minimum Landlock version. This version covers creating, linking, moving and truncating files.
const REQUIRED: ABI = ABI::V3;

const WANTED: ABI = ABI::V6;

const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

pub(super) fn confine(confinement: &Confinement) -> Result<(), String> {
    let readable = readable(confinement)?;
    let writable = [&confinement.workspace, &confinement.scratch];
    let all = AccessFs::from_all(WANTED);
    let no_landlock = |error: RulesetError| {
        format!(
            "this kernel cannot restrict file access (requires Landlock with `refer` and \
             `truncate`, Linux 6.2 or newer): {}",
            with_causes(&error)
        )
    };
    let rules = ruleset().map_err(no_landlock)?;
    let mut rules = rules
        .add_rules(path_beneath_rules(&readable, AccessFs::from_read(WANTED)))
        .and_then(|rules| rules.add_rules(path_beneath_rules(DEVICES, all)))
        .map_err(no_landlock)?;
    for folder in writable {
        // Fail if access to a directory cannot be granted. `path_beneath_rules` would silently skip
        // it.
        let handle = PathFd::new(folder).map_err(|error| {
            format!("a directory that the program needs cannot be opened: {}", with_causes(&error))
        })?;
        rules = rules.add_rule(PathBeneath::new(handle, all)).map_err(no_landlock)?;
    }
    rules.restrict_self().map_err(no_landlock)?;
    Ok(())
}

fn ruleset() -> Result<landlock::RulesetCreated, RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(REQUIRED))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(WANTED))?
        // The program must not be able to signal its watcher.
        .scope(Scope::from_all(WANTED))?
        .create()
}
