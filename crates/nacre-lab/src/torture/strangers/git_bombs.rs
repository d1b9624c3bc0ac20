//! Small repositories that expand to huge numbers of settings, index entries or committed files.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::repositories::{ask, git};
use super::victims::Victims;
use crate::AnyError;

/// Number of paths. Debug builds are slower, so they use fewer paths.
const N_PATHS: usize = if cfg!(debug_assertions) { 20_000 } else { 60_000 };

/// Git's object ID of an empty file.
const EMPTY: &str = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";

pub(super) fn many_settings(victims: &Victims) -> Result<(), AnyError> {
    let keys: String = (0..40_000).map(|number| format!("k{number}\n")).collect();
    add_settings(&victims.site(), &format!("[pager]\n{keys}"))
}

pub(super) fn many_filters(victims: &Victims) -> Result<(), AnyError> {
    let program = victims.marking("many-filters");
    let mut text = String::new();
    for number in 0..4_000 {
        writeln!(text, "[filter \"f{number}\"]\n\tclean = {program}")?;
    }
    add_settings(&victims.site(), &text)?;
    Ok(fs::write(victims.site().join(".gitattributes"), "* filter=f3999\n")?)
}

fn add_settings(root: &Path, more: &str) -> Result<(), AnyError> {
    let config = root.join(".git/config");
    let text = fs::read_to_string(&config)?;
    Ok(fs::write(config, text + more)?)
}

/// Writes an index whose paths do not exist. Half of them exceed the walk's depth limit.
pub(super) fn deep_index(victims: &Victims) -> Result<(), AnyError> {
    let root = victims.site();
    let mut entries = String::new();
    for number in 0..N_PATHS {
        let folders = "a/".repeat(if number % 2 == 0 { 120 } else { 200 });
        writeln!(entries, "100644 {EMPTY} 0\t{number:06}/{folders}x")?;
    }
    let list = root.join(".git/entries");
    fs::write(&list, entries)?;
    let mut command = Command::new("git");
    command.args(["update-index", "--index-version", "4", "--index-info"]).current_dir(&root);
    let status = command.stdin(Stdio::from(fs::File::open(&list)?)).status()?;
    fs::remove_file(list)?;
    if status.success() { Ok(()) } else { Err("git update-index failed".into()) }
}

pub(super) fn tree_bomb(victims: &Victims) -> Result<(), AnyError> {
    let root = victims.site();
    git(&root, &["hash-object", "-w", "/dev/null"])?;
    let files = (0..1_000).map(|number| ("100644", format!("{number:06}.rs"), EMPTY.to_owned()));
    let mut folder = tree(&root, files)?;
    for _ in 0..14 {
        folder = tree(&root, [("40000", "d".repeat(250), folder)].into_iter())?;
    }
    let folder =
        tree(&root, (0..60).map(|number| ("40000", format!("{number:02}"), folder.clone())))?;
    let commit = ask(&root, &["commit-tree", "-m", "bomb", &folder])?;
    git(&root, &["update-ref", "HEAD", commit.trim()])
}

/// Writes a git tree object and returns its ID. `entries` must be sorted.
fn tree(
    root: &Path,
    entries: impl Iterator<Item = (&'static str, String, String)>,
) -> Result<String, AnyError> {
    let mut bytes = Vec::new();
    for (mode, name, object) in entries {
        bytes.extend(format!("{mode} {name}\0").bytes());
        for at in 0..object.len() / 2 {
            bytes.push(u8::from_str_radix(object.get(2 * at..2 * at + 2).unwrap_or_default(), 16)?);
        }
    }
    fs::write(root.join(".git/tree"), bytes)?;
    let object = ask(root, &["hash-object", "-t", "tree", "-w", ".git/tree"])?;
    fs::remove_file(root.join(".git/tree"))?;
    Ok(object.trim().to_owned())
}
