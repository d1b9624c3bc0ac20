//! Sets the output of `nacre --version`: version number, commit and features.
//!
//! The commit is read from the `.git` directory without running Git, so the build also succeeds
//! without Git or outside a repository. Debug builds omit the commit, because including it would
//! trigger a rebuild after every commit.

use std::path::{Path, PathBuf};
use std::{env, fs};

#[expect(
    clippy::disallowed_methods,
    reason = "cargo passes its settings to build scripts as \
 environment variables"
)]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let var = |name: &str| env::var(name).unwrap_or_default();
    let has_more_languages = env::var_os("CARGO_FEATURE_MORE_LANGUAGES").is_some();
    let features = if has_more_languages { "more-languages" } else { "none" };
    let commit = match var("PROFILE").as_str() {
        "debug" => "debug build".to_owned(),
        _ => commit(Path::new(&var("CARGO_MANIFEST_DIR"))).unwrap_or("commit unknown".to_owned()),
    };
    let number = var("CARGO_PKG_VERSION");
    println!("cargo::rustc-env=NACRE_VERSION={number} ({commit}; features: {features})");
}

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
            None => find_packed(&read(git.join("packed-refs"))?, name)?,
        },
    };
    let hash = hash.trim();
    let is_hash = hash.len() >= 12 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| format!("commit {}", &hash[..12]))
}

/// Finds the hash of a ref in the contents of `packed-refs`.
fn find_packed(refs: &str, name: &str) -> Option<String> {
    let of = |line: &str| line.strip_suffix(name).map(|hash| hash.trim().to_owned());
    refs.lines().find_map(of)
}
