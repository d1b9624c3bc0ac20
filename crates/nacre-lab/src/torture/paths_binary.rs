//! Passes the hostile strings of `paths` as arguments to the real `nacre`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::SystemTime;

use nacre_base::is_hidden_char;

use crate::AnyError;
use crate::hostile::hostile;
use crate::rng::Rng;
use crate::torture::paths::{Arena, VICTIM};
use crate::torture::tally::Tally;

const COMMANDS: &[&[&str]] = &[
    &["memory", "add", "--body", "b", "--", "{}"],
    &["memory", "add", "--tag={}", "--body={}", "Title"],
    &["memory", "add", "--related={}", "Title"],
    &["memory", "show", "--evidence", "--history", "--", "{}"],
    &["memory", "search", "--", "{}"],
    &["memory", "edit", "--", "{}"],
    &["memory", "archive", "--", "{}", "{}x"],
    &["memory", "restore", "--", "{}"],
    &["memory", "forget", "--yes", "--", "{}"],
    &["--project={}", "memory", "add", "Title"],
    &["project", "add", "--", "{}"],
    &["project", "add", "--name={}", "--", "."],
    &["project", "remove", "--", "{}"],
    &["config", "set", "--", "{}", "{}"],
    &["config", "set", "--repo", "--", "memory.max_results", "{}"],
    &["config", "set", "redact.extra", "--", "{}"],
    &["init", "--name={}"],
];

/// `init` is supposed to create a store in the named directory, so that change is allowed.
const INIT: &[&str] = &["--project={}", "init"];

pub(crate) fn run(
    arena: &mut Arena,
    rng: &mut Rng,
    n: u64,
    tally: &mut Tally,
) -> Result<u64, AnyError> {
    let mut n_runs = 0;
    let fixed =
        ["../evil", "../canary", "../canary/../evil", "/proc/self/cwd", "."].map(str::to_owned);
    let fixed = fixed.into_iter().chain([arena.root().join("evil").display().to_string()]);
    let mut texts: Vec<String> = fixed.collect();
    while (texts.len() as u64) < n {
        let text = hostile(rng, arena.root());
        if !text.contains('\0') {
            texts.push(text);
        }
    }
    let mut taken = 0_u64;
    for text in texts.iter().take(usize::try_from(n)?) {
        let named = Named::look(&arena.place.repo().join(text));
        for command in COMMANDS.iter().chain([&INIT]) {
            let args: Vec<String> = command.iter().map(|arg| arg.replace("{}", text)).collect();
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let output = arena.place.run(&args)?;
            n_runs += 1;
            taken += u64::from(output.status.success());
            if let Some((fault, detail)) = fault_of(&output) {
                let kind = format!("nacre {}: {fault}:", command.join(" "));
                tally.bad_of(&kind, &format!("{detail} ({args:?})"));
            }
        }
        named.take_store_away()?;
        arena.look(text, tally)?;
    }
    arena.revive_victim()?;
    println!(
        "paths: command line   {taken:>6} accepted, {:>6} rejected; {VICTIM} exists",
        n_runs - taken
    );
    Ok(n_runs)
}

struct Named {
    folder: PathBuf,
    changed: Option<SystemTime>,
}

impl Named {
    fn look(folder: &Path) -> Self {
        let has_store = fs::symlink_metadata(folder.join(".nacre")).is_ok();
        let seen = fs::metadata(folder).ok().filter(|seen| seen.is_dir() && !has_store);
        Self { folder: folder.to_owned(), changed: seen.and_then(|seen| seen.modified().ok()) }
    }

    /// Removes the store that `init` created, so that every other change in the directory is still
    /// detected.
    fn take_store_away(&self) -> Result<(), AnyError> {
        let store = self.folder.join(".nacre");
        let Some(changed) = self.changed.filter(|_| fs::symlink_metadata(&store).is_ok()) else {
            return Ok(());
        };
        fs::remove_dir_all(&store)?;
        Ok(File::open(&self.folder)?.set_modified(changed)?)
    }
}

fn fault_of(output: &Output) -> Option<(&'static str, String)> {
    let stderr = String::from_utf8_lossy(&output.stderr);
    let stdout = String::from_utf8_lossy(&output.stdout);
    if !matches!(output.status.code(), Some(0..=3)) || stderr.contains("panicked") {
        return Some(("it crashed", format!("{}: {stderr}", output.status)));
    }
    let is_bad = |c: &char| *c != '\n' && *c != '\t' && is_hidden_char(*c);
    if let Some(hidden) = stderr.chars().chain(stdout.chars()).find(is_bad) {
        let detail = format!("{hidden:?}: {stderr:?} {stdout:?}");
        return Some(("a hidden character was printed", detail));
    }
    // Errors from the argument parser include the usage and may span several lines.
    if output.status.success() || stderr.starts_with("error: ") {
        return None;
    }
    let labels = ["Error: ", "Caused by: ", "Hint: ", "Warning: "];
    let stray = stderr.lines().find(|line| !labels.iter().any(|label| line.starts_with(label)));
    match stray {
        Some(line) => Some(("the error contains a line break", format!("{line:?}"))),
        None if stderr.is_empty() => {
            Some(("the command failed without an error message", String::new()))
        }
        None => None,
    }
}
