//! Takes the words of one memory out of what runs noted about their sessions.

use nacre_core::memory::{Batch, MemoryError, MemoryId, Store};
use nacre_core::safefs::{EntryKind, FsError};

use super::run::{CHANGE_FILE, MAX_ARTIFACT_BYTES, RunId, TEXT_FILE, UNDO_FILE, list};

/// What stands in the place of words.
const FORGOTTEN: &str = "[forgotten]";

/// Shorter words say nothing by themselves, and stand in many places.
const MIN_BYTES: usize = 8;

/// What a memory said, and what stands in its place.
#[derive(Debug)]
pub(super) struct SaidWords(Vec<(String, String)>);

impl SaidWords {
    /// The name, the title, the lines and the quotes of a memory that is still there.
    pub(super) fn of(store: &Store, id: &MemoryId) -> Result<Self, MemoryError> {
        let memory = store.get(id.as_str())?;
        let evidence = store.evidence(id).ok().flatten();
        let quotes = evidence.iter().flat_map(|evidence| &evidence.quotes);
        let mut lines = vec![memory.title.as_str()];
        lines.extend(memory.document.body().lines());
        lines.extend(quotes.flat_map(|quote| quote.text.lines()));
        // A heading or a point of a list says the same without its mark.
        let lines =
            lines.into_iter().map(|line| line.trim_start_matches(['#', '-', '*', '>', ' ']));
        let mut words = vec![(id.to_string(), format!("{}-forgotten", id.date()))];
        for line in lines.map(str::trim).filter(|line| line.len() >= MIN_BYTES) {
            words.push((line.to_owned(), FORGOTTEN.to_owned()));
            // In a JSON file some characters are written otherwise.
            let escaped = serde_json::Value::from(line).to_string();
            let escaped = escaped.trim_matches('"');
            if escaped != line {
                words.push((escaped.to_owned(), FORGOTTEN.to_owned()));
            }
        }
        // What holds another line goes before it.
        words.sort_by_key(|(words, _)| std::cmp::Reverse(words.len()));
        words.dedup();
        Ok(Self(words))
    }

    /// The text without them; `None` where none of them stands in it.
    fn without(&self, text: &str) -> Option<String> {
        let held = self.0.iter().filter(|(words, _)| text.contains(words.as_str()));
        let mut held = held.peekable();
        held.peek()?;
        let without = held.fold(text.to_owned(), |text, (words, with)| text.replace(words, with));
        Some(without)
    }
}

/// Stages the files of a run without these words. What undoes the run, and its note, are seen to elsewhere.
pub(super) fn stage_without(
    store: &Store,
    batch: &mut Batch<'_>,
    run: &RunId,
    words: &SaidWords,
) -> Result<(), MemoryError> {
    let folder = run.folder()?;
    for entry in store.scope().list(&folder)? {
        let is_noted = [UNDO_FILE, CHANGE_FILE, TEXT_FILE].contains(&entry.name.as_str());
        if entry.kind != EntryKind::File || is_noted {
            continue;
        }
        let path = folder.join(&entry.name)?;
        let bytes = match store.scope().read_optional(&path, MAX_ARTIFACT_BYTES) {
            // No run of ours writes such a file.
            Err(FsError::TooLarge { .. } | FsError::NotAFile { .. }) => continue,
            bytes => bytes?.unwrap_or_default(),
        };
        if let Some(without) = words.without(&String::from_utf8_lossy(&bytes)) {
            batch.put_file(path, without.into_bytes())?;
        }
    }
    Ok(())
}

/// Whether a run folder still names the memory.
pub fn is_named_by_runs(store: &Store, id: &MemoryId) -> Result<bool, FsError> {
    for run in list(store)? {
        let folder = run.folder()?;
        for entry in store.scope().list(&folder)? {
            if entry.kind != EntryKind::File {
                continue;
            }
            let path = folder.join(&entry.name)?;
            let bytes = store.scope().read_optional(&path, MAX_ARTIFACT_BYTES).ok().flatten();
            let text = bytes.unwrap_or_default();
            if String::from_utf8_lossy(&text).contains(id.as_str()) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
