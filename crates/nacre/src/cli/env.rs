//! What the process was given: arguments, variables, folder, clock and terminal. Read here and nowhere else.

use std::ffi::OsString;
use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use nacre_ops::host::Environment;
use nacre_ops::host::{search_path, trees_around};
use terminal_size::{Height, Width, terminal_size_of};

/// What people call the program.
const OWN_NAME: &str = "nacre";

/// Which of the streams a person looks at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminals {
    pub(crate) stdin: bool,
    pub(crate) stdout: bool,
    pub(crate) stderr: bool,
    /// Of the terminal that the result, or else the talk, is printed on.
    pub(crate) size: Option<TerminalSize>,
}

/// How many characters a terminal shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TerminalSize {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
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
        size: terminal_size(),
    }
}

fn terminal_size() -> Option<TerminalSize> {
    let size = terminal_size_of(std::io::stdout()).or_else(|| terminal_size_of(std::io::stderr()));
    // A terminal that does not know its size says 0.
    let (Width(columns), Height(rows)) = size.filter(|(width, _)| width.0 > 0)?;
    Some(TerminalSize { columns: columns.into(), rows: rows.into() })
}

/// Looks around, once.
pub(crate) fn read() -> Environment {
    Environment { program: program(), ..read_for_hook() }
}

/// The same for a hook, which starts nobody by the name that `PATH` has for the program, and somebody waits for it.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
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
    let folder = std::fs::canonicalize(&folder).unwrap_or(folder);
    let home = std::env::home_dir().filter(|home| !home.as_os_str().is_empty());
    let path = own_path(&folder, home.as_deref());
    let vars = std::env::vars_os().filter_map(pair).map(|(name, value)| match name.as_str() {
        "PATH" => (name, path.clone()),
        _ => (name, value),
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

/// The person's `PATH` without the folders of what is worked on.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
fn own_path(folder: &Path, home: Option<&Path>) -> String {
    let path = std::env::var_os("PATH").unwrap_or_default();
    search_path(&path, &trees_around(folder, home)).into_string().unwrap_or_default()
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
