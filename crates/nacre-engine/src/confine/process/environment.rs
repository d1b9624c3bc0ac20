//! What a program finds in its environment: a list of names, and nothing else.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Names that a program may have from the person's environment. None of them holds a key.
const PASSED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOROOT",
    "GOMODCACHE",
    "JAVA_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
];

/// Those of them that name a folder which programs read.
const FOLDERS: &[&str] = &[
    "HOME",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOPATH",
    "GOROOT",
    "GOMODCACHE",
    "JAVA_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
];

/// Says to every program that nobody sits at a terminal.
const FIXED: &[(&str, &str)] = &[
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    ("CI", "1"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("DEBIAN_FRONTEND", "noninteractive"),
];

/// The person's home and where their tools are, as their environment names them.
pub fn own_folders(person: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let named = FOLDERS.iter().filter_map(|name| person.get(*name)).map(PathBuf::from);
    named.filter_map(|folder| folder.canonicalize().ok()).collect()
}

/// Makes the environment of a program out of a person's: names on the list, what tells programs that nobody sits at a
/// terminal, and the folder for temporary files.
pub fn program_environment<'a>(
    person: impl IntoIterator<Item = (&'a str, &'a str)>,
    scratch: &Path,
) -> BTreeMap<String, String> {
    let passed = person.into_iter().filter(|(name, _)| PASSED.contains(name));
    let mut environment: BTreeMap<String, String> = passed
        .chain(FIXED.iter().copied())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let scratch = scratch.to_string_lossy().into_owned();
    environment.insert("TMPDIR".to_owned(), scratch);
    environment
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_in_the_environment_does_not_reach_a_program() {
        let person = [
            ("PATH", "/usr/bin"),
            ("ANTHROPIC_API_KEY", "hunter2"),
            ("AWS_SECRET_ACCESS_KEY", "hunter2"),
            ("SSH_AUTH_SOCK", "/run/hunter2"),
            ("LD_PRELOAD", "/hunter2.so"),
            ("TERM", "xterm"),
        ];
        let environment = program_environment(person, Path::new("/scratch"));
        assert!(environment.values().all(|value| !value.contains("hunter2")));
        assert_eq!(environment["PATH"], "/usr/bin");
        assert_eq!(environment["TERM"], "dumb");
        assert_eq!(environment["TMPDIR"], "/scratch");
    }
}
