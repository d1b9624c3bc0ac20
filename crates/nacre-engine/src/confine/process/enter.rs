//! The process that becomes the program: limits, walls, a look whether they hold, and then no more of us.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

use super::json_line::{read_line, write_line};
use super::order::{LaunchRequest, Quotas, Refusal, Step};

/// How much a program stands back.
const NICENESS: i32 = 5;

/// Becomes the program. Returns only when that failed, and has said so on the connection by then.
pub(super) fn enter(connection: &UnixStream) -> io::Result<()> {
    let order: LaunchRequest = read_line(connection)?;
    let refusal = match prepare(&order) {
        Err(why) => Refusal::Unconfined(why),
        Ok(()) => {
            write_line(connection, &Step::Confined)?;
            become_program(&order)
        }
    };
    write_line(connection, &Step::Refused(refusal))
}

fn prepare(order: &LaunchRequest) -> Result<(), String> {
    close_on_exec().map_err(|error| error.to_string())?;
    // Should somebody end the watcher, the program does not outlive it.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| error.to_string())?;
    // Behind the watcher in the queue for the processor, so that it can always act.
    let _ = rustix::process::nice(NICENESS);
    limit(order.quotas).map_err(|error| error.to_string())?;
    // A root that may do everything could look into other processes, whatever the walls say.
    let nothing = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, nothing).map_err(|error| error.to_string())?;
    order.confinement.enter().map_err(|error| with_causes(&error))
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

/// Keeps what the user's shell left open, such as a file or a connection, from the program: no wall is asked about a
/// descriptor that is open already.
#[expect(unsafe_code, reason = "only marks descriptors, and closes none that is in use")]
fn close_on_exec() -> io::Result<()> {
    let flags = libc::CLOSE_RANGE_CLOEXEC.cast_signed();
    // SAFETY: takes numbers alone. A mark changes nothing before `exec`.
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
        // A limit that a person set lower stays.
        let most = rustix::process::getrlimit(resource).maximum.map_or(most, |own| own.min(most));
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    Ok(())
}

fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
