//! Computes the changes between two revisions: files, symbols and broken signatures.
//!
//! Successive changes to a path are combined, so a file that was changed and then reverted is not
//! listed.

use std::collections::{BTreeMap, BTreeSet};

use nacre_base::git::GitFault;
use nacre_types::{CodeChange, FileDelta, MapRevision, SymbolDelta, SymbolDeltas};

use super::read::analysis_in;
use super::refresh::Current;
use crate::artifact::{AnalysisKey, FileHash, PackSet};
use crate::languages::{Analysis, Language, SymbolFacts, SymbolKind, Visibility};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    pub path: String,
    pub change: CodeChange,
    /// The path before a rename.
    pub from: Option<String>,
    pub old_hash: Option<FileHash>,
    pub new_hash: Option<FileHash>,
    /// The symbol changes of a modified file; `None` if its old content is not available.
    pub symbols: Option<SymbolDeltas>,
    /// Symbols that were removed or whose signature changed. Code that uses them may need to change
    /// too.
    pub(super) broken: Vec<BrokenSymbol>,
}

/// A symbol that was removed or whose signature changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BrokenSymbol {
    pub(super) name: String,
    pub(super) kind: SymbolKind,
    pub(super) visibility: Visibility,
}

impl From<FileChange> for FileDelta {
    fn from(change: FileChange) -> Self {
        let FileChange { path, change, from, old_hash, new_hash, symbols, .. } = change;
        let [old_hash, new_hash] = [old_hash, new_hash].map(|hash| hash.map(|it| it.to_string()));
        Self { path, change, from, old_hash, new_hash, symbols }
    }
}

/// Sorted by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    pub files: Vec<FileChange>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SinceError {
    #[error("Revision {asked} belongs to a previous map; the current map begins with {first}")]
    OtherArtifact { asked: MapRevision, first: MapRevision },
    #[error("Revision {asked} does not exist yet; the latest is {last}")]
    Future { asked: MapRevision, last: MapRevision },
    #[error("Revision {asked} is too old; changes are recorded since {oldest}")]
    TooOld { asked: MapRevision, oldest: MapRevision },
    #[error("Commit `{reference}` not found")]
    NoCommit { reference: String },
    #[error("Too many files to compare with the commit")]
    TooLarge,
    #[error("Comparing with the commit took too long")]
    TimedOut,
    #[error("The clone uses the objects of another repository, which Nacre does not read")]
    SharedClone,
    #[error("Git could not list the changes: {why}")]
    Git { why: String },
}

impl From<GitFault> for SinceError {
    fn from(fault: GitFault) -> Self {
        if matches!(fault, GitFault::SharedObjects) {
            return Self::SharedClone;
        }
        Self::Git { why: fault.to_string() }
    }
}

pub fn delta_of_all(current: &Current) -> Delta {
    let files = current.artifact.files().into_iter();
    Delta::of(
        files.map(|(path, row)| (path.to_owned(), (None, Some(row.hash)))),
        &KnownAnalyses::of(current),
    )
}

pub fn delta_since(current: &Current, asked: MapRevision) -> Result<Delta, SinceError> {
    let last = current.artifact.head().revision;
    if asked.epoch != last.epoch {
        return Err(SinceError::OtherArtifact { asked, first: MapRevision { number: 1, ..last } });
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
        let oldest = MapRevision { number: history.since, ..last };
        return Err(SinceError::TooOld { asked, oldest });
    }
    let mut net: BTreeMap<String, (Option<FileHash>, Option<FileHash>)> = BTreeMap::new();
    for (_, change) in history.changes.into_iter().filter(|(number, _)| asked.number < *number) {
        net.entry(change.path)
            .and_modify(|(_, after)| *after = change.after)
            .or_insert((change.before, change.after));
    }
    Ok(Delta::of(net, &KnownAnalyses::of(current)))
}

/// Stored analyses, and analyses of old file contents that were read from git.
pub(super) struct KnownAnalyses<'k> {
    pub(super) stored: &'k PackSet,
    pub(super) more: BTreeMap<AnalysisKey, Analysis>,
}

impl<'k> KnownAnalyses<'k> {
    fn of(current: &'k Current) -> Self {
        Self { stored: &current.analyses, more: BTreeMap::new() }
    }

    fn get(&self, path: &str, hash: FileHash) -> Option<Analysis> {
        let key = AnalysisKey::new(hash, Language::of_path(path)?);
        let more = self.more.get(&key);
        // The stored analysis is used unless the other one is deeper, because only analyses of
        // equal depth can be compared.
        let stored = analysis_in(self.stored, key);
        let stored = stored.filter(|stored| more.is_none_or(|more| more.depth <= stored.depth));
        stored.or_else(|| more.cloned())
    }
}

impl Delta {
    pub(super) fn of(
        net: impl IntoIterator<Item = (String, (Option<FileHash>, Option<FileHash>))>,
        known: &KnownAnalyses<'_>,
    ) -> Self {
        let changed = net.into_iter().filter(|(_, (before, after))| before != after);
        let mut files: Vec<FileChange> = changed
            .map(|(path, (old_hash, new_hash))| {
                let change = match (old_hash, new_hash) {
                    (None, _) => CodeChange::Added,
                    (_, None) => CodeChange::Removed,
                    (Some(_), Some(_)) => CodeChange::Modified,
                };
                FileChange {
                    path,
                    change,
                    from: None,
                    old_hash,
                    new_hash,
                    symbols: None,
                    broken: Vec::new(),
                }
            })
            .collect();
        pair_renames(&mut files);
        for file in &mut files {
            let look = |hash: Option<FileHash>| hash.and_then(|hash| known.get(&file.path, hash));
            match file.change {
                CodeChange::Modified => {
                    let both = look(file.old_hash).zip(look(file.new_hash));
                    if let Some((old, new)) = both.filter(|(old, new)| old.depth == new.depth) {
                        let (changed, broken) = compare(&old, &new);
                        file.symbols = Some(SymbolDeltas { depth: new.depth, changed });
                        file.broken = broken;
                    }
                }
                CodeChange::Removed => {
                    let old = look(file.old_hash).unwrap_or_default();
                    file.broken = old.symbols.iter().map(BrokenSymbol::new).collect();
                }
                CodeChange::Added | CodeChange::Renamed => {}
            }
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self { files }
    }

    pub fn count(&self, change: CodeChange) -> usize {
        self.files.iter().filter(|file| file.change == change).count()
    }
}

impl BrokenSymbol {
    fn new(symbol: &SymbolFacts) -> Self {
        let SymbolFacts { name, kind, visibility, .. } = symbol;
        Self { name: name.clone(), kind: *kind, visibility: *visibility }
    }
}

/// Combines a removed file and an added file with identical bytes into a rename.
fn pair_renames(files: &mut Vec<FileChange>) {
    let empty = FileHash::of(&[]);
    let mut removed: BTreeMap<FileHash, Vec<String>> = BTreeMap::new();
    for file in files.iter().rev().filter(|file| file.change == CodeChange::Removed) {
        if let Some(hash) = file.old_hash.filter(|hash| *hash != empty) {
            removed.entry(hash).or_default().push(file.path.clone());
        }
    }
    let mut moved = BTreeSet::new();
    for file in files.iter_mut().filter(|file| file.change == CodeChange::Added) {
        let from = file.new_hash.and_then(|hash| removed.get_mut(&hash)?.pop());
        if let Some(from) = from {
            moved.insert(from.clone());
            file.change = CodeChange::Renamed;
            file.old_hash = file.new_hash;
            file.from = Some(from);
        }
    }
    files.retain(|file| file.change != CodeChange::Removed || !moved.contains(&file.path));
}

/// Compares the symbols of two versions of a file. Symbols that only moved within the file count as
/// unchanged.
fn compare(old: &Analysis, new: &Analysis) -> (Vec<SymbolDelta>, Vec<BrokenSymbol>) {
    let (old, new) = (index_symbols(&old.symbols), index_symbols(&new.symbols));
    let (mut changes, mut broken) = (Vec::new(), Vec::new());
    for (key, before) in &old {
        let Some(after) = new.get(key) else {
            changes.push(symbol_delta(before, CodeChange::Removed, true));
            broken.push(BrokenSymbol::new(before));
            continue;
        };
        let is_signature =
            before.signature_hash != after.signature_hash || before.visibility != after.visibility;
        if is_signature || before.body_hash != after.body_hash {
            changes.push(symbol_delta(after, CodeChange::Modified, is_signature));
        }
        broken.extend(is_signature.then(|| BrokenSymbol::new(after)));
    }
    let added = new.iter().filter(|(key, _)| !old.contains_key(*key));
    changes.extend(added.map(|(_, after)| symbol_delta(after, CodeChange::Added, true)));
    changes
        .sort_by(|a, b| (&a.name, a.kind, a.change as u8).cmp(&(&b.name, b.kind, b.change as u8)));
    (changes, broken)
}

/// Indexes symbols by kind, name, and position among symbols of the same kind and name.
fn index_symbols(symbols: &[SymbolFacts]) -> BTreeMap<(SymbolKind, &str, usize), &SymbolFacts> {
    let mut all = BTreeMap::new();
    let mut n_alike: BTreeMap<(SymbolKind, &str), usize> = BTreeMap::new();
    for symbol in symbols {
        let n_before = n_alike.entry((symbol.kind, &symbol.name)).or_default();
        all.insert((symbol.kind, symbol.name.as_str(), *n_before), symbol);
        *n_before += 1;
    }
    all
}

fn symbol_delta(symbol: &SymbolFacts, change: CodeChange, is_signature: bool) -> SymbolDelta {
    SymbolDelta { name: symbol.name.clone(), kind: symbol.kind, change, is_signature }
}
