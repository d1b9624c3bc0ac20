//! What the process was given: arguments, variables, folder, clock and terminal. Read here and nowhere else.

use std::ffi::OsString;
use std::io::{IsTerminal as _, Read as _};
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use nacre_ops::host::Environment;

/// What people call the program.
const OWN_NAME: &str = "nacre";

/// Which of the streams a person looks at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminals {
    pub(crate) stdin: bool,
    pub(crate) stdout: bool,
    pub(crate) stderr: bool,
}

/// The arguments of the process.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn args() -> Vec<OsString> {
    std::env::args_os().collect()
}

/// Looks at the streams.
pub(crate) fn terminals() -> Terminals {
    Terminals {
        stdin: std::io::stdin().is_terminal(),
        stdout: std::io::stdout().is_terminal(),
        stderr: std::io::stderr().is_terminal(),
    }
}

/// Looks around, once.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub(crate) fn read() -> Environment {
    let pair = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    let current = std::env::current_dir();
    let is_folder_gone = current.is_err();
    let folder = current.unwrap_or_else(|_| PathBuf::from("/"));
    let garbled = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.into_string().ok().filter(|name| name.starts_with("NACRE_"))?;
        value.into_string().is_err().then_some(name)
    });
    let begun = std::time::Instant::now();
    Environment {
        garbled_vars: garbled.collect(),
        is_folder_gone,
        vars: std::env::vars_os().filter_map(pair).collect(),
        folder: std::fs::canonicalize(&folder).unwrap_or(folder),
        home: std::env::home_dir().filter(|home| !home.as_os_str().is_empty()),
        host: host_name(),
        pid: std::process::id(),
        program: program(),
        clock: Arc::new(Timestamp::now),
        uptime: Arc::new(move || begun.elapsed()),
        random,
    }
}

/// The program itself: by the name that the person's `PATH` has for it, which stays when a newer version takes its place.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
fn program() -> Option<PathBuf> {
    let running = std::env::current_exe().ok()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    // A link may have another name than the file behind it; hooks are known by ours.
    let names = [OsString::from(OWN_NAME), running.file_name()?.to_owned()];
    let is_it = |found: &PathBuf| std::fs::canonicalize(found).is_ok_and(|found| found == running);
    let folders = || std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    let found = names.iter().find_map(|name| folders().map(|at| at.join(name)).find(is_it));
    found.or(Some(running))
}

/// The name of this machine, from where Linux tells it.
fn host_name() -> Option<String> {
    let files = ["/proc/sys/kernel/hostname", "/etc/hostname"];
    let name = files.into_iter().find_map(|file| std::fs::read_to_string(file).ok())?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Bytes that nobody can guess, from the system.
fn random(bytes: &mut [u8]) -> std::io::Result<()> {
    std::fs::File::open("/dev/urandom")?.read_exact(bytes)
}
