//! Two more roles for this binary: the watcher, and the process that sandboxes itself and then
//! executes the program.
//!
//! Each process receives a connection as its standard input and has no other input. They are
//! separate processes because running code between `fork` and `exec` would require `unsafe`.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Stdio};

use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

use crate::confine::process::launcher::{
    ENTER, HELPER, LaunchRequest, ProcessError, Quotas, WATCH,
};
use crate::confine::process::watch::{read_line, watch, write_line};

pub fn helper(arguments: &[OsString]) -> Option<ExitCode> {
    let [_, marker, role] = arguments else { return None };
    if marker != HELPER {
        return None;
    }
    let connection = UnixStream::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
    let done = match role.to_str()? {
        WATCH => watch(&connection),
        ENTER => enter(&connection),
        _ => return None,
    };
    Some(if done.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

const NICENESS: i32 = 5;

/// Executes the program. Sends `Ok` on the connection once the process is sandboxed. Returns only
/// if the program could not be executed, in which case an error is sent on the connection.
pub(super) fn enter(connection: &UnixStream) -> io::Result<()> {
    let order: LaunchRequest = read_line(connection)?;
    let refusal = match prepare(&order) {
        Err(why) => ProcessError::Unconfined(why),
        Ok(()) => {
            write_line(connection, &Ok::<(), ProcessError>(()))?;
            become_program(&order)
        }
    };
    write_line(connection, &Err::<(), ProcessError>(refusal))
}

fn prepare(order: &LaunchRequest) -> Result<(), String> {
    close_on_exec().map_err(|error| error.to_string())?;
    // If the watcher is killed, the kernel also kills the program.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| error.to_string())?;
    // Give the program a lower priority than the watcher, so that the watcher can always run.
    let _ = rustix::process::nice(NICENESS);
    limit(order.quotas).map_err(|error| error.to_string())?;
    // A root process that kept its capabilities could access other processes despite the sandbox.
    let none = CapabilitySet::empty();
    let nothing = CapabilitySets { effective: none, permitted: none, inheritable: none };
    set_capabilities(None, nothing).map_err(|error| error.to_string())?;
    order.confinement.enter()
}

fn become_program(order: &LaunchRequest) -> ProcessError {
    let (name, arguments) = order.program.argv();
    let error = Command::new(name)
        .args(arguments)
        .current_dir(&order.folder)
        .env_clear()
        .envs(&order.environment)
        .stdin(Stdio::null())
        .exec();
    let why = error.to_string();
    if error.kind() == ErrorKind::NotFound {
        return ProcessError::NotFound { name: name.to_owned(), why };
    }
    ProcessError::Failed(why)
}

/// Marks descriptors that the user's shell left open as close-on-exec, because the sandbox does not
/// cover open descriptors.
#[expect(unsafe_code, reason = "only marks descriptors, and does not close any that are in use")]
fn close_on_exec() -> io::Result<()> {
    let flags = libc::CLOSE_RANGE_CLOEXEC;
    // With musl, `libc` has only the call's number.
    // SAFETY: the call takes only numbers, and the close-on-exec flag has no effect before `exec`.
    match unsafe { libc::syscall(libc::SYS_close_range, 3, u32::MAX, flags) } {
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
        // If the user has set a lower limit, keep it.
        let most = rustix::process::getrlimit(resource).maximum.map_or(most, |own| own.min(most));
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    Ok(())
}
