//! Records the hashes of a store's memory files before Nacre starts an external program in its
//! workspace, so that the program's changes can be detected.
//!
//! A note with the hashes is written and locked before the program starts, and removed once the
//! files have been compared with it. While the note exists, no process attributes a changed memory
//! to the user. If Nacre is killed, the next run replaces the old note with one that lists only the
//! files that are still unchanged.

use std::fs::File;

use nacre_base::fs::Access;

use crate::prelude::*;

const FOLDER: &str = "programs";

/// Maximum size of a note. A note for 100,000 memories takes about 12 MB.
const MAX_BYTES: u64 = 64 << 20;

#[derive(Debug)]
pub struct RunNotes {
    home: PathBuf,
    prefix: String,
}

#[derive(Debug)]
pub struct RunNote {
    scope: WriteScope,
    path: RelPath,
    hash: ContentHash,
    memories: BTreeMap<String, String>,
    /// The locked file. The lock also excludes other handles in this process.
    _file: File,
}

impl RunNotes {
    /// `home` is the user's own directory. Links in the store's path are not followed, because the
    /// program could replace the store with a link.
    pub fn of_store(home: &Path, store: &Path) -> Self {
        let parent =
            store.parent().and_then(|parent| nacre_base::platform::canonicalize(parent).ok());
        let place = parent.zip(store.file_name()).map(|(parent, name)| parent.join(name));
        let hash =
            ContentHash::of(place.as_deref().unwrap_or(store).as_os_str().as_encoded_bytes());
        Self { home: home.to_owned(), prefix: format!("{}-", hash.short()) }
    }

    /// Records the paths and hashes of all memories. Must be called before the program starts.
    /// `name` must be unique, for example a random string.
    pub fn begin(
        &self,
        name: &str,
        memories: impl Iterator<Item = (RelPath, ContentHash)>,
    ) -> Result<RunNote, FsError> {
        WriteScope::create(&self.home, Access::Private)?;
        let open = || WriteScope::create_inside(&self.home, FOLDER, Access::Private);
        let scope = open()?;
        let mut left = Vec::new();
        for path in self.list(&scope)? {
            left.extend(RunNote::take(open()?, path)?);
        }
        let mut noted: BTreeMap<String, String> =
            memories.map(|(path, hash)| (path.to_string(), hash.to_string())).collect();
        for (path, hash) in left.iter().flat_map(|note| &note.memories) {
            noted.entry(path.clone()).or_insert_with(|| hash.clone());
        }
        noted.retain(|path, hash| {
            !path.contains('\n') && left.iter().all(|note| note.memories.get(path) == Some(hash))
        });
        let text: String = noted.iter().map(|(path, hash)| format!("{hash} {path}\n")).collect();
        let path = RelPath::new(&format!("{}{name}", self.prefix))?;
        scope.create_file(&path, text.as_bytes())?;
        let busy = || FsError::Busy { path: self.home.join(FOLDER), owner: None };
        let own = RunNote::take(scope, path)?.ok_or_else(busy)?;
        left.into_iter().try_for_each(RunNote::remove)?;
        Ok(own)
    }

    /// Returns whether a program could have written these bytes. Returns `true` if a note cannot be
    /// read.
    pub(super) fn could_be_programs(&self, path: &RelPath, hash: ContentHash) -> bool {
        let line = format!("{hash} {path}");
        let is_other = |scope: WriteScope| -> Result<bool, FsError> {
            for note in self.list(&scope)? {
                let text = scope.read_optional(&note, MAX_BYTES)?;
                let has = |text: Vec<u8>| {
                    String::from_utf8_lossy(&text).lines().any(|found| found == line)
                };
                if text.is_some_and(|text| !has(text)) {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        match WriteScope::open_inside(&self.home, FOLDER, Access::Private) {
            Err(error) if error.is_missing() => false,
            scope => scope.and_then(is_other).unwrap_or(true),
        }
    }

    fn list(&self, scope: &WriteScope) -> Result<Vec<RelPath>, FsError> {
        let entries = scope.root()?.list()?.into_iter();
        let ours = entries.filter(|entry| entry.name.starts_with(&self.prefix));
        ours.map(|entry| RelPath::new(&entry.name)).collect()
    }
}

impl RunNote {
    pub fn knows(&self, path: &RelPath, hash: ContentHash) -> bool {
        self.memories.get(path.as_str()).is_some_and(|known| *known == hash.to_string())
    }

    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.memories.keys().map(String::as_str)
    }

    pub fn remove(self) -> Result<(), FsError> {
        self.scope.remove_file(&self.path, self.hash)
    }

    /// Locks the note left by a finished program. Returns `None` if the program is still running or
    /// the file is gone.
    fn take(scope: WriteScope, path: RelPath) -> Result<Option<Self>, FsError> {
        let Ok(file) = File::open(scope.full(&path)) else { return Ok(None) };
        if file.try_lock().is_err() {
            return Ok(None);
        }
        let Some(text) = scope.read_optional(&path, MAX_BYTES)? else { return Ok(None) };
        let lines = String::from_utf8_lossy(&text).into_owned();
        let memories = lines.lines().filter_map(|line| line.split_once(' '));
        let memories = memories.map(|(hash, path)| (path.to_owned(), hash.to_owned())).collect();
        Ok(Some(Self { scope, path, hash: ContentHash::of(&text), memories, _file: file }))
    }
}
