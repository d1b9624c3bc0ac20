//! What changed since a commit, with everything that is not committed.
//!
//! Git tells which tracked files differ from the commit and what they held; the artifact tells what they hold now and which
//! files git does not know. What the map does not show is not told of, either.

use std::collections::BTreeMap;
use std::path::Path;

use super::delta::{Delta, Known, SinceError};
use super::git::Tracked;
use super::program::{ask, ask_with};
use super::read::MAX_READ_BYTES;
use super::refresh::Current;
use super::sensitive::Sensitive;
use crate::artifact::{AnalysisKey, FileHash};
use crate::languages::{self, Language, MAX_TEXT_BYTES};

const GIT_LINK: &str = "160000";

/// Submodules lie so deep in each other at most.
const MAX_DEPTH: usize = 8;

/// So many contents are in memory at once.
const BATCH: usize = 200;

/// A file of the commit that is otherwise now: its path and the object that it was.
struct Old {
    path: String,
    object: Option<String>,
    hash: Option<FileHash>,
}

/// What changed since the commit that `reference` names.
pub fn delta_since_git(
    current: &Current,
    sensitive: &Sensitive,
    reference: &str,
) -> Result<Delta, SinceError> {
    let root = &current.project.root;
    let none = || SinceError::NoCommit { reference: reference.chars().take(80).collect() };
    let commit = commit_of(root, reference).ok_or_else(none)?;
    let mut known = Known { analyses: &current.analyses, more: BTreeMap::new() };
    let mut net = BTreeMap::new();
    let differing = differing(root, "", &commit, 0, &mut known).ok_or_else(none)?;
    for old in differing {
        if sensitive.rule_above(&old.path).is_some() {
            continue;
        }
        let after = current.artifact.find(&old.path).map(|row| row.hash);
        net.insert(old.path, (old.hash, after));
    }
    let tracked = Tracked::read(root);
    let is_tracked = |path: &str| tracked.has(path);
    for (path, row) in current.artifact.files() {
        if !is_tracked(path) {
            net.entry(path.to_owned()).or_insert((None, Some(row.hash)));
        }
    }
    Ok(Delta::of(net, &known))
}

fn commit_of(root: &Path, reference: &str) -> Option<String> {
    let asked = format!("{reference}^{{commit}}");
    let answer = ask(root, &["rev-parse", "--verify", "--quiet", "--end-of-options", &asked])?;
    Some(String::from_utf8(answer).ok()?.trim().to_owned())
}

/// The files that differ from a commit, in the repository at `prefix` and its submodules.
fn differing(
    root: &Path,
    prefix: &str,
    commit: &str,
    depth: usize,
    known: &mut Known<'_>,
) -> Option<Vec<Old>> {
    let at = root.join(prefix);
    let args =
        ["diff", "--raw", "-z", "--no-renames", "--no-abbrev", "--no-ext-diff", commit, "--"];
    let answer = ask(&at, &args)?;
    let mut fields = answer.split(|byte| *byte == 0);
    let (mut files, mut mounted) = (Vec::new(), Vec::new());
    while let (Some(about), Some(path)) = (fields.next(), fields.next()) {
        let (Ok(about), Ok(path)) = (std::str::from_utf8(about), std::str::from_utf8(path)) else {
            continue;
        };
        let words: Vec<&str> = about.trim_start_matches(':').split(' ').collect();
        let [old_mode, _, object, _, _] = words[..] else { continue };
        let path = super::walk::join(prefix, path);
        let is_there = object.bytes().any(|byte| byte != b'0');
        if old_mode == GIT_LINK {
            mounted.push((path, object.to_owned()));
        } else {
            // What was a link, or was not there, held no bytes that the map would show.
            let object = (is_there && old_mode.starts_with("100")).then(|| object.to_owned());
            files.push(Old { path, object, hash: None });
        }
    }
    take_contents(&at, &mut files, known);
    for (path, object) in mounted.into_iter().filter(|_| depth < MAX_DEPTH) {
        // A submodule whose commit is not here says nothing of its files.
        files.extend(differing(root, &path, &object, depth + 1, known).unwrap_or_default());
    }
    Some(files)
}

/// Asks git what the files held.
fn take_contents(root: &Path, files: &mut [Old], known: &mut Known<'_>) {
    let mut asked: Vec<&mut Old> = files.iter_mut().filter(|old| old.object.is_some()).collect();
    for batch in asked.chunks_mut(BATCH) {
        take_batch(root, batch, known);
    }
}

fn take_batch(root: &Path, asked: &mut [&mut Old], known: &mut Known<'_>) {
    let objects: Vec<&str> = asked.iter().filter_map(|old| old.object.as_deref()).collect();
    let lines = format!("{}\n", objects.join("\n")).into_bytes();
    let Some(answer) = ask_with(root, &["cat-file", "--batch"], lines) else { return };
    let mut rest = answer.as_slice();
    for old in asked {
        let Some((bytes, after)) = next_object(rest) else { return };
        rest = after;
        let Some(bytes) = bytes else { continue };
        let hash = FileHash::of(bytes);
        old.hash = Some(hash);
        if let Some(language) = Language::of_path(&old.path)
            && bytes.len() <= MAX_TEXT_BYTES
        {
            let key = AnalysisKey::new(hash, language);
            known.more.insert(key, languages::analyse(language, bytes));
        }
    }
}

/// One object of a batch: its bytes, if git has it and they are not too many, and what follows.
fn next_object(answer: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    let end = memchr::memchr(b'\n', answer)?;
    let head = std::str::from_utf8(&answer[..end]).ok()?;
    let rest = &answer[end + 1..];
    let Some(size) = head.split(' ').nth(2).and_then(|size| size.parse::<usize>().ok()) else {
        return Some((None, rest));
    };
    let (bytes, rest) = rest.split_at_checked(size)?;
    let bytes = (bytes.len() as u64 <= MAX_READ_BYTES).then_some(bytes);
    Some((bytes, rest.get(1..)?))
}
