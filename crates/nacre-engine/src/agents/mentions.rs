//! Lists source locations and memories that are mentioned in a chat answer but were not read during
//! the run.
//!
//! The answer itself is not changed, because chat answers are free text.

use nacre_base::fs::RelPath;
use nacre_memory::{MemoryId, Store};

use crate::proof::marks;
use crate::record::RunEffects;
use crate::tools::Workspace;

const MAX_LISTED: usize = 10;

/// Host name suffixes, so that `example.com:443` is not mistaken for a file.
const HOSTS: &[&str] = &["com", "dev", "example", "io", "local", "net", "org"];

type Mention = (String, u32, u32);

/// Returns mentioned source locations and memories that were not read during the run, with a reason
/// for each.
pub fn find_unchecked_mentions(
    text: &str,
    workspace: &Workspace,
    memories: Option<&Store>,
    effects: &RunEffects,
) -> Vec<String> {
    let mut found = Vec::new();
    for mention in mentions(text, workspace) {
        if let Err(why) = look(&mention, workspace, effects) {
            let (path, first, last) = mention;
            let lines = if first == last { first.to_string() } else { format!("{first}-{last}") };
            found.push(format!("`{path}:{lines}` ({why})"));
        }
    }
    for id in ids(text) {
        if let Err(why) = look_up(&id, memories) {
            found.push(format!("[{id}] ({why})"));
        }
    }
    found.dedup();
    let n_more = found.len().saturating_sub(MAX_LISTED);
    found.truncate(MAX_LISTED);
    if n_more > 0 {
        found.push(format!("{n_more} more"));
    }
    found
}

fn mentions(text: &str, workspace: &Workspace) -> Vec<Mention> {
    let root = format!("{}/", workspace.root().display());
    let pieces = text.split(|c: char| c.is_whitespace() || "`()[]<>,;\"'*|".contains(c));
    let mut found: Vec<Mention> = pieces
        .filter(|piece| !piece.contains("://"))
        .map(|piece| piece.strip_prefix(&root).unwrap_or(piece))
        .filter_map(mention)
        .collect();
    found.sort();
    found.dedup();
    found
}

fn mention(piece: &str) -> Option<Mention> {
    let piece = piece.trim_end_matches(|c: char| !c.is_ascii_digit());
    let (path, lines) = piece.split_once(':')?;
    let lines = lines.split(':').next().unwrap_or_default();
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    let path = path.strip_prefix("./").unwrap_or(path);
    let ending = path.rsplit('/').next()?.rsplit_once('.')?.1;
    let is_ending = ending.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_host = !path.contains('/') && HOSTS.contains(&ending);
    (is_ending && !is_host).then(|| (path.to_owned(), first, last))
}

fn look(mention: &Mention, workspace: &Workspace, effects: &RunEffects) -> Result<(), String> {
    let (path, first, last) = mention;
    // A bare file name refers to the file of that name that was shown earlier.
    let known = effects.shown.path_ending_with(path).unwrap_or(path);
    let gone = || "file not found".to_owned();
    let place = RelPath::new(known).map_err(|_| gone())?;
    let bytes = workspace.read(&place).map_err(|_| gone())?;
    let n_lines = String::from_utf8_lossy(&bytes).lines().count();
    if *first == 0 || last < first || n_lines < *last as usize {
        let lines = if n_lines == 1 { "line" } else { "lines" };
        return Err(format!("the file has {n_lines} {lines}"));
    }
    let is_shown = [format!("{known}:{first}"), format!("\"file\": \"{known}\"")]
        .iter()
        .any(|words| effects.shown.mentions(words));
    let is_changed = effects.changed.iter().any(|change| change.path == known);
    if is_shown || is_changed || effects.shown.has_all(known, *first..=*last) {
        return Ok(());
    }
    Err("not read in this turn".to_owned())
}

fn ids(text: &str) -> Vec<MemoryId> {
    let is_id = |name: &String| name.bytes().take(8).filter(u8::is_ascii_digit).count() == 8;
    let mut found = Vec::new();
    for line in text.lines() {
        for name in marks(line).named.iter().filter(|name| is_id(name)) {
            if let Ok(id) = name.parse::<MemoryId>()
                && !found.contains(&id)
            {
                found.push(id);
            }
        }
    }
    found
}

fn look_up(id: &MemoryId, memories: Option<&Store>) -> Result<(), &'static str> {
    // The brief shows short ids.
    match memories.and_then(|store| store.get(id.as_str()).ok()) {
        None => Err("memory not found"),
        Some(memory) if memory.is_archived() => Err("it is archived"),
        Some(memory) if memory.superseded_by.is_some() => Err("the memory was superseded"),
        Some(_) => Ok(()),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test plays the user who writes files")]
mod tests {
    use std::fs;

    use super::*;
    use crate::record::{ChangeKind, FileChange};

    #[test]
    fn what_nobody_looked_up_is_listed() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("src")).unwrap();
        for name in ["src/a.rs", "src/b.rs", "src/c.rs"] {
            fs::write(folder.path().join(name), "1\n2\n3\n").unwrap();
        }
        let root = folder.path().canonicalize().unwrap();
        let workspace = Workspace::open(&root, &[]).unwrap();
        let mut effects = RunEffects::default();
        effects
            .shown
            .note("file_read", "src/a.rs: lines 1-2 of 3, version x\n    1\t1\n    2\t2\n");
        effects.changed.push(FileChange { path: "src/c.rs".to_owned(), kind: ChangeKind::Edited });
        let absolute = format!("See {}/src/a.rs:1.", root.display());
        for (text, expected) in [
            ("It is in `src/a.rs:2`, a.rs:1-2 and src/c.rs:3 (see http://x.org/a.rs:7).", vec![]),
            (absolute.as_str(), vec![]),
            ("At 23:00 on 127.0.0.1:7420 and example.com:443.", vec![]),
            ("See src/a.rs:3.", vec!["`src/a.rs:3` (not read in this turn)"]),
            ("See src/a.rs:1-3.", vec!["`src/a.rs:1-3` (not read in this turn)"]),
            ("See src/b.rs:1:5 here", vec!["`src/b.rs:1` (not read in this turn)"]),
            ("See **src/a.rs:9999**.", vec!["`src/a.rs:9999` (the file has 3 lines)"]),
            ("See (django/nowhere.py:3).", vec!["`django/nowhere.py:3` (file not found)"]),
            ("See ../../etc/passwd.txt:1.", vec!["`../../etc/passwd.txt:1` (file not found)"]),
            (
                "So it was decided [20260301-node-serves-it].",
                vec!["[20260301-node-serves-it] (memory not found)"],
            ),
        ] {
            assert_eq!(
                find_unchecked_mentions(text, &workspace, None, &effects),
                expected,
                "{text}"
            );
        }
    }
}
