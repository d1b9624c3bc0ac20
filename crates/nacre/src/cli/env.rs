//! Reads the process environment: arguments, variables, working directory, clock and terminal.

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use nacre_ops::host::platform;
use nacre_ops::host::{Environment, search_path, trees_around};
use terminal_size::{Height, Width, terminal_size_of};

const OWN_NAME: &str = "nacre";

#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminals {
    pub(crate) stdin: bool,
    pub(crate) stdout: bool,
    pub(crate) stderr: bool,
    /// Size of the terminal on standard output or, failing that, on standard error.
    pub(crate) size: Option<TerminalSize>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TerminalSize {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

#[expect(clippy::disallowed_methods, reason = "only this function reads the process environment")]
pub(crate) fn args() -> Vec<OsString> {
    std::env::args_os().collect()
}

pub(crate) fn terminals() -> Terminals {
    Terminals {
        stdin: std::io::stdin().is_terminal(),
        stdout: std::io::stdout().is_terminal(),
        stderr: std::io::stderr().is_terminal(),
        size: terminal_size(),
    }
}

fn terminal_size() -> Option<TerminalSize> {
    let size = terminal_size_of(std::io::stdout()).or_else(|| terminal_size_of(std::io::stderr()));
    // Terminals that do not know their size report 0.
    let (Width(columns), Height(rows)) = size.filter(|(width, _)| width.0 > 0)?;
    Some(TerminalSize { columns: columns.into(), rows: rows.into() })
}

pub(crate) fn read() -> Environment {
    Environment { program: program(), ..read_for_hook() }
}

/// Hooks must be fast, so this reads only the parts of the environment that they need.
#[expect(clippy::disallowed_methods, reason = "only this function reads the process environment")]
pub(crate) fn read_for_hook() -> Environment {
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
    let folder = platform::canonicalize(&folder).unwrap_or(folder);
    let home = std::env::home_dir().filter(|home| !home.as_os_str().is_empty());
    // Directories inside the repository are removed from `PATH`, because they may contain untrusted
    // programs.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = search_path(&path, &trees_around(&folder, home.as_deref()));
    let path = path.into_string().unwrap_or_default();
    let vars = std::env::vars_os().filter_map(pair).map(|(name, value)| {
        // On Windows, `Path` is the same variable.
        let name = if cfg!(windows) { name.to_ascii_uppercase() } else { name };
        match name.as_str() {
            "PATH" => (name, path.clone()),
            _ => (name, value),
        }
    });
    Environment {
        garbled_vars: garbled.collect(),
        is_folder_gone,
        vars: vars.collect(),
        folder,
        home,
        host: host_name(),
        pid: std::process::id(),
        program: None,
        clock: Arc::new(Timestamp::now),
        uptime: Arc::new(move || begun.elapsed()),
        random,
    }
}

/// Returns this program's path. The path found through `PATH` is preferred, because it remains
/// valid after an update.
#[expect(clippy::disallowed_methods, reason = "only this function reads the process environment")]
fn program() -> Option<PathBuf> {
    let running = std::env::current_exe().ok()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    // The running program may be a symlink with another name, but hooks always look for `nacre`.
    let names = [OsString::from(platform::program_file(OWN_NAME)), running.file_name()?.to_owned()];
    let is_it = |found: &PathBuf| platform::canonicalize(found).is_ok_and(|found| found == running);
    let folders = || std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    let found = names.iter().find_map(|name| folders().map(|at| at.join(name)).find(is_it));
    found.or(Some(running))
}

/// Supported only on Linux.
fn host_name() -> Option<String> {
    let files = ["/proc/sys/kernel/hostname", "/etc/hostname"];
    let name = files.into_iter().find_map(|file| std::fs::read_to_string(file).ok())?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Fills the buffer with cryptographically secure random bytes.
fn random(bytes: &mut [u8]) -> std::io::Result<()> {
    platform::fill_random(bytes)
}
