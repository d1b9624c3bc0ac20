//! What changed between two revisions: files, symbols, and who is affected.
//!
//! The history of an artifact says what became of each path, and asking takes nothing from it. What happened in between is
//! folded: a file that was changed and changed back did not change.

use std::collections::{BTreeMap, BTreeSet};

use nacre_core::base::git::GitFault;
use serde::Serialize;

use super::refresh::Current;
use crate::artifact::{Analyses, AnalysisKey, FileHash, Revision};
use crate::languages::{Analysis, Depth, Language, SymbolFacts, SymbolKind, Visibility};

/// What became of a file or a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    Added,
    Modified,
    Removed,
    /// The same bytes under another path.
    Renamed,
}

/// What became of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileChange {
    pub path: String,
    pub change: ChangeKind,
    /// Where a renamed file was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    pub old_hash: Option<FileHash>,
    pub new_hash: Option<FileHash>,
    /// What became of the symbols of a modified file; absent where what it held before is not known any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbols: Option<SymbolDelta>,
    /// What a removed file defined, as far as it is known.
    #[serde(skip)]
    pub(super) lost: Vec<SymbolChange>,
}

/// What became of the symbols of a modified file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SymbolDelta {
    /// How closely both texts were looked at; a glance does not see into bodies.
    pub depth: Depth,
    pub changed: Vec<SymbolChange>,
}

/// What became of one symbol of a modified file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SymbolChange {
    pub name: String,
    pub kind: SymbolKind,
    pub change: ChangeKind,
    /// Whether whoever uses it may have to change, too.
    pub is_signature: bool,
    #[serde(skip)]
    visibility: Visibility,
}

/// What changed, in the order of the paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    pub files: Vec<FileChange>,
}

/// How many files there are of each kind of change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DeltaCounts {
    pub added: usize,
    pub modified: usize,
    pub removed: usize,
    pub renamed: usize,
}

/// A revision that nothing can be told about.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SinceError {
    #[error("Revision {asked} is of an artifact that is gone; this one began with {first}")]
    OtherArtifact { asked: Revision, first: Revision },
    #[error("Revision {asked} is not reached yet; the last one is {last}")]
    Future { asked: Revision, last: Revision },
    #[error("Changes are kept since revision {oldest}; {asked} is older")]
    TooOld { asked: Revision, oldest: Revision },
    #[error("Git knows no commit `{reference}` here")]
    NoCommit { reference: String },
    #[error("The commit holds, or differs in, more files than are compared")]
    TooLarge,
    #[error("There was no time to compare the commit")]
    TimedOut,
    #[error("Git cannot tell what changed: {why}")]
    Git { why: String },
}

impl From<GitFault> for SinceError {
    fn from(fault: GitFault) -> Self {
        Self::Git { why: fault.to_string() }
    }
}

/// Everything that is there, as added: what a client gets that has seen nothing.
pub fn delta_of_all(current: &Current) -> Delta {
    let files = current.artifact.files().into_iter();
    Delta::of(
        files.map(|(path, row)| (path.to_owned(), (None, Some(row.hash)))),
        &Known::now(current),
    )
}

/// What changed since a revision.
pub fn delta_since(current: &Current, asked: Revision) -> Result<Delta, SinceError> {
    let last = current.artifact.head().revision;
    if asked.epoch != last.epoch {
        return Err(SinceError::OtherArtifact { asked, first: Revision { number: 1, ..last } });
    }
    if last.number < asked.number {
        return Err(SinceError::Future { asked, last });
    }
    if asked.number == 0 {
        return Ok(delta_of_all(current));
    }
    if asked.number == last.number {
        return Ok(Delta::default());
    }
    let history = current.artifact.history();
    if asked.number < history.since {
        let oldest = Revision { number: history.since, ..last };
        return Err(SinceError::TooOld { asked, oldest });
    }
    let mut net: BTreeMap<String, (Option<FileHash>, Option<FileHash>)> = BTreeMap::new();
    for (_, change) in history.changes.into_iter().filter(|(number, _)| asked.number < *number) {
        net.entry(change.path)
            .and_modify(|(_, after)| *after = change.after)
            .or_insert((change.before, change.after));
    }
    Ok(Delta::of(net, &Known::now(current)))
}

/// What is known of texts: those on the disk, and those that were handed in.
pub(super) struct Known<'k> {
    pub(super) analyses: &'k Analyses,
    pub(super) more: BTreeMap<AnalysisKey, Analysis>,
}

impl<'k> Known<'k> {
    fn now(current: &'k Current) -> Self {
        Self { analyses: &current.analyses, more: BTreeMap::new() }
    }

    fn get(&self, path: &str, hash: FileHash) -> Option<Analysis> {
        let key = AnalysisKey::new(hash, Language::of_path(path)?);
        let handed_in = self.more.get(&key);
        let kept = self.analyses.get(key);
        // The closer look: only two that are alike can be compared.
        kept.filter(|kept| handed_in.is_none_or(|one| one.depth <= kept.depth))
            .or_else(|| handed_in.cloned())
    }
}

impl Delta {
    /// Makes a delta of what each path held before and after.
    pub(super) fn of(
        net: impl IntoIterator<Item = (String, (Option<FileHash>, Option<FileHash>))>,
        known: &Known<'_>,
    ) -> Self {
        let changed = net.into_iter().filter(|(_, (before, after))| before != after);
        let mut files: Vec<FileChange> = changed
            .map(|(path, (old_hash, new_hash))| {
                let change = match (old_hash, new_hash) {
                    (None, _) => ChangeKind::Added,
                    (_, None) => ChangeKind::Removed,
                    (Some(_), Some(_)) => ChangeKind::Modified,
                };
                FileChange {
                    path,
                    change,
                    from: None,
                    old_hash,
                    new_hash,
                    symbols: None,
                    lost: Vec::new(),
                }
            })
            .collect();
        pair_renames(&mut files);
        for file in files.iter_mut().filter(|file| file.change == ChangeKind::Modified) {
            let look = |hash: Option<FileHash>| hash.and_then(|hash| known.get(&file.path, hash));
            file.symbols = match (look(file.old_hash), look(file.new_hash)) {
                (Some(old), Some(new)) if old.depth == new.depth => {
                    Some(SymbolDelta { depth: new.depth, changed: symbols(&old, &new) })
                }
                _ => None,
            };
        }
        for file in files.iter_mut().filter(|file| file.change == ChangeKind::Removed) {
            let old = file.old_hash.and_then(|hash| known.get(&file.path, hash));
            let gone = |symbol: &SymbolFacts| symbol_change(symbol, ChangeKind::Removed, true);
            file.lost = old.iter().flat_map(|old| &old.symbols).map(gone).collect();
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self { files }
    }

    pub fn counts(&self) -> DeltaCounts {
        let mut counts = DeltaCounts::default();
        for file in &self.files {
            match file.change {
                ChangeKind::Added => counts.added += 1,
                ChangeKind::Modified => counts.modified += 1,
                ChangeKind::Removed => counts.removed += 1,
                ChangeKind::Renamed => counts.renamed += 1,
            }
        }
        counts
    }
}

impl SymbolChange {
    /// Whether somebody outside the file can notice. What is private in Python is so by custom, and in Rust for all but the
    /// modules inside.
    pub(super) fn is_felt(&self, language: Language) -> bool {
        let is_open = matches!(language, Language::Python | Language::Rust);
        self.is_signature
            && self.change != ChangeKind::Added
            && (is_open || self.visibility != Visibility::Private)
    }

    pub(super) fn visibility(&self) -> Visibility {
        self.visibility
    }
}

/// Takes a removed and an added file with the same bytes for one that was renamed.
fn pair_renames(files: &mut Vec<FileChange>) {
    let empty = FileHash::of(&[]);
    let mut removed: BTreeMap<FileHash, Vec<String>> = BTreeMap::new();
    for file in files.iter().rev().filter(|file| file.change == ChangeKind::Removed) {
        if let Some(hash) = file.old_hash.filter(|hash| *hash != empty) {
            removed.entry(hash).or_default().push(file.path.clone());
        }
    }
    let mut moved = BTreeSet::new();
    for file in files.iter_mut().filter(|file| file.change == ChangeKind::Added) {
        let from = file.new_hash.and_then(|hash| removed.get_mut(&hash)?.pop());
        if let Some(from) = from {
            moved.insert(from.clone());
            file.change = ChangeKind::Renamed;
            file.old_hash = file.new_hash;
            file.from = Some(from);
        }
    }
    files.retain(|file| file.change != ChangeKind::Removed || !moved.contains(&file.path));
}

/// Compares what a file defined with what it defines. A symbol that only moved within the file did not change.
fn symbols(old: &Analysis, new: &Analysis) -> Vec<SymbolChange> {
    let (old, new) = (numbered(&old.symbols), numbered(&new.symbols));
    let mut changes = Vec::new();
    for (key, was) in &old {
        match new.get(key) {
            None => changes.push(symbol_change(was, ChangeKind::Removed, true)),
            Some(is) => {
                let is_signature =
                    was.signature_hash != is.signature_hash || was.visibility != is.visibility;
                if is_signature || was.body_hash != is.body_hash {
                    changes.push(symbol_change(is, ChangeKind::Modified, is_signature));
                }
            }
        }
    }
    let added = new.iter().filter(|(key, _)| !old.contains_key(*key));
    changes.extend(added.map(|(_, is)| symbol_change(is, ChangeKind::Added, true)));
    changes.sort_by(|a, b| (&a.name, a.kind, a.change).cmp(&(&b.name, b.kind, b.change)));
    changes
}

/// Symbols by kind, name, and which of several of that name it is.
fn numbered(symbols: &[SymbolFacts]) -> BTreeMap<(SymbolKind, &str, usize), &SymbolFacts> {
    let mut all = BTreeMap::new();
    let mut n_alike: BTreeMap<(SymbolKind, &str), usize> = BTreeMap::new();
    for symbol in symbols {
        let n_before = n_alike.entry((symbol.kind, &symbol.name)).or_default();
        all.insert((symbol.kind, symbol.name.as_str(), *n_before), symbol);
        *n_before += 1;
    }
    all
}

fn symbol_change(symbol: &SymbolFacts, change: ChangeKind, is_signature: bool) -> SymbolChange {
    SymbolChange {
        name: symbol.name.clone(),
        kind: symbol.kind,
        change,
        is_signature,
        visibility: symbol.visibility,
    }
}
