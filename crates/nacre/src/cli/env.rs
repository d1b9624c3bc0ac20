//! What the process was given: arguments, variables, folder, clock and terminal. Read here and nowhere else.

use std::ffi::OsString;
use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use nacre_ops::host::Environment;
use nacre_ops::host::search_path;
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
        program: program(),
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

/// Where the system and its administrator put programs.
const SYSTEM: &[&str] = &["/usr", "/opt", "/bin", "/sbin", "/nix", "/snap"];

/// The folders around the current one that may be a stranger's: itself, each that is a repository or has a store, and each one's
/// `node_modules`. A repository may lie inside another, and an archive has no mark. What holds the home folder holds the person's
/// own programs.
fn trees_around(folder: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let is_system = |dir: &Path| SYSTEM.iter().any(|system| dir.starts_with(system));
    let holds_home = |dir: &Path| home.is_some_and(|home| home.starts_with(dir));
    let around = folder.ancestors().filter(|dir| !holds_home(dir) && !is_system(dir));
    let is_marked = |dir: &Path| {
        [".git", ".nacre"].iter().any(|mark| dir.join(mark).symlink_metadata().is_ok())
    };
    let mut trees = Vec::new();
    for dir in around.filter(|dir| dir.parent().is_some()) {
        let is_tree = dir == folder || is_marked(dir);
        trees.push(if is_tree { dir.to_owned() } else { dir.join("node_modules") });
    }
    trees
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

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests play the person who has the folders")]
mod tests {
    use super::*;

    #[test]
    fn programs_of_what_is_worked_on_are_left_out_wherever_it_begins() {
        let place = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(place.path()).unwrap();
        let home = root.join("home");
        let outer = home.join("code/outer");
        let inner = outer.join("vendor/inner");
        std::fs::create_dir_all(inner.join(".git")).unwrap();
        std::fs::create_dir_all(outer.join(".git")).unwrap();
        let trees = trees_around(&inner, Some(&home));
        let is_out = |path: &Path| trees.iter().any(|tree| path.starts_with(tree));
        let own = [home.join("bin"), home.join("code/bin"), root.join("bin")];
        let theirs =
            ["node_modules/.bin", "vendor/inner/bin", "tools"].map(|path| outer.join(path));
        assert_eq!(own.iter().filter(|path| is_out(path)).count(), 0, "{trees:?}");
        assert_eq!(theirs.iter().filter(|path| is_out(path)).count(), 3, "{trees:?}");
        // An archive that was unpacked has no mark; its packages do.
        let unpacked = home.join("down/x");
        let trees = trees_around(&unpacked.join("src"), Some(&home));
        assert!(trees.contains(&unpacked.join("node_modules")), "{trees:?}");
        assert!(trees.contains(&unpacked.join("src")), "{trees:?}");
        assert!(trees_around(Path::new("/usr/local"), Some(&home)).is_empty());
        assert!(trees_around(&home, Some(&home)).is_empty(), "the person's own programs");
        assert!(trees_around(Path::new("/"), None).is_empty());
    }
}
