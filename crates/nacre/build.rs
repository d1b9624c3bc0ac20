//! What `nacre --version` says besides the number: the commit and the features of this build.
//!
//! No program is started: the commit is read from the files of git. A source without git is built all the same. A debug
//! build names no commit, for it would be built anew after each.

use std::path::{Path, PathBuf};
use std::{env, fs};

#[expect(clippy::disallowed_methods, reason = "cargo talks to build scripts by variables")]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let var = |name: &str| env::var(name).unwrap_or_default();
    let features =
        [("CARGO_FEATURE_MORE_LANGUAGES", "more-languages"), ("CARGO_FEATURE_RLM", "rlm")];
    let features = features.iter().filter(|(name, _)| env::var_os(name).is_some());
    let features: Vec<&str> = features.map(|(_, feature)| *feature).collect();
    let features = if features.is_empty() { "none".to_owned() } else { features.join(", ") };
    let commit = match var("PROFILE").as_str() {
        "debug" => "debug build".to_owned(),
        _ => commit(Path::new(&var("CARGO_MANIFEST_DIR"))).unwrap_or("commit unknown".to_owned()),
    };
    let number = var("CARGO_PKG_VERSION");
    println!("cargo::rustc-env=NACRE_VERSION={number} ({commit}; features: {features})");
}

/// The start of the commit that is checked out around `folder`.
fn commit(folder: &Path) -> Option<String> {
    let git = folder.ancestors().map(|folder| folder.join(".git")).find(|git| git.is_dir())?;
    let read = |path: PathBuf| {
        println!("cargo::rerun-if-changed={}", path.display());
        fs::read_to_string(path).ok()
    };
    let head = read(git.join("HEAD"))?;
    let hash = match head.trim().strip_prefix("ref: ") {
        None => head,
        Some(name) => match read(git.join(name)) {
            Some(hash) => hash,
            None => packed(&read(git.join("packed-refs"))?, name)?,
        },
    };
    let hash = hash.trim();
    let is_hash = hash.len() >= 12 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| format!("commit {}", &hash[..12]))
}

/// The hash of a branch in the file that holds many.
fn packed(refs: &str, name: &str) -> Option<String> {
    let of = |line: &str| line.strip_suffix(name).map(|hash| hash.trim().to_owned());
    refs.lines().find_map(of)
}
