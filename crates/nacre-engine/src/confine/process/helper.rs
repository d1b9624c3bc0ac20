//! Two additional roles of the same binary: the watcher, and the process that sandboxes itself and
//! then executes the program.
//!
//! Both processes receive a connection as standard input and have no other input. Separate
//! processes are used because running code between `fork` and `exec` would require `unsafe`.

use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader, ErrorKind};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Stdio};

use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

use crate::confine::process::launcher::{ENTER, HELPER, LaunchRequest, Quotas, Refusal, WATCH};
use crate::confine::process::watch;

pub fn helper(arguments: &[OsString]) -> Option<ExitCode> {
    let [_, marker, role] = arguments else { return None };
    if marker != HELPER {
        return None;
    }
    let connection = connection().ok()?;
    let done = match role.to_str()? {
        WATCH => watch::watch(&connection),
        ENTER => enter(&connection),
        _ => return None,
    };
    Some(if done.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn connection() -> io::Result<UnixStream> {
    Ok(UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?))
}

/// A request contains arguments and an environment. Larger requests are rejected.
const MAX_ORDER: u64 = 4 << 20;

pub(super) fn read_line<T: serde::de::DeserializeOwned>(connection: &UnixStream) -> io::Result<T> {
    let mut line = Vec::new();
    let limited = io::Read::take(connection, MAX_ORDER);
    BufReader::new(limited).read_until(b'\n', &mut line)?;
    Ok(serde_json::from_slice(&line)?)
}

pub(super) fn write_line<T: serde::Serialize>(
    mut connection: &UnixStream,
    value: &T,
) -> io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    io::Write::write_all(&mut connection, &line)
}

const NICENESS: i32 = 5;

/// Executes the program. `Ok` on the connection means that the process is sandboxed. If an error
/// follows, the program could not be executed; the function returns only in that case.
pub(super) fn enter(connection: &UnixStream) -> io::Result<()> {
    let order: LaunchRequest = read_line(connection)?;
    let refusal = match prepare(&order) {
        Err(why) => Refusal::Unconfined(why),
        Ok(()) => {
            write_line(connection, &Ok::<(), Refusal>(()))?;
            become_program(&order)
        }
    };
    write_line(connection, &Err::<(), Refusal>(refusal))
}

fn prepare(order: &LaunchRequest) -> Result<(), String> {
    close_on_exec().map_err(|error| error.to_string())?;
    // If the watcher is killed, the system also kills the program.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| error.to_string())?;
    // Give the program a lower priority than the watcher, so that the watcher can always run.
    let _ = rustix::process::nice(NICENESS);
    limit(order.quotas).map_err(|error| error.to_string())?;
    // If root kept its capabilities, it could access other processes despite the sandbox.
    let nothing = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, nothing).map_err(|error| error.to_string())?;
    order.confinement.enter()
}

fn become_program(order: &LaunchRequest) -> Refusal {
    let (name, arguments) = order.program.argv();
    let error = Command::new(name)
        .args(arguments)
        .current_dir(&order.folder)
        .env_clear()
        .envs(&order.environment)
        .stdin(Stdio::null())
        .exec();
    let is_missing = error.kind() == ErrorKind::NotFound;
    let refusal = if is_missing { Refusal::NotFound } else { Refusal::Failed };
    refusal(error.to_string())
}

/// Marks descriptors that the user's shell left open to be closed on exec, because the sandbox does
/// not cover descriptors that are already open.
#[expect(unsafe_code, reason = "only marks descriptors, and closes none that is in use")]
fn close_on_exec() -> io::Result<()> {
    let flags = libc::CLOSE_RANGE_CLOEXEC.cast_signed();
    // SAFETY: the call takes only numbers, and the close-on-exec flag has no effect before `exec`.
    match unsafe { libc::close_range(3, u32::MAX, flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn limit(quotas: Quotas) -> io::Result<()> {
    for (resource, most) in [
        (Resource::Core, 0),
        (Resource::Data, quotas.memory),
        (Resource::Fsize, quotas.file_bytes),
        (Resource::Nproc, quotas.processes),
    ] {
        // If the user has set a lower limit, it remains in effect.
        let most = rustix::process::getrlimit(resource).maximum.map_or(most, |own| own.min(most));
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    Ok(())
}
