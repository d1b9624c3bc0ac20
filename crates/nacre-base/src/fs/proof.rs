//! A keyed hash that proves which user started a journaled change.
//!
//! Plans can replace or remove files, and a journal is stored in a repository, which may come from
//! an untrusted source. A plan is therefore valid only if it carries a keyed hash. The key is
//! random and never leaves the user's own directory, so a downloaded repository cannot contain a
//! valid plan.
//!
//! If there is no directory for the key, each process uses its own random key. In that case, a
//! change interrupted by a crash cannot be verified and is set aside.

use std::io;
use std::io::{Read as _, Seek as _};
use std::sync::OnceLock;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::{File, OpenOptions};

use super::error::{FsAction, JOURNAL, Result};
use super::scope::{Access, KEY_BYTES, Key, Seal, WriteScope, io_error};
use super::sys;
use super::sys::PRIVATE_FILE;
use crate::platform;

const KEY_FILE: &str = "key";

impl Seal {
    /// Returns the stored key, or `None` if there is none. The result is cached because listing
    /// memories needs the key for each of them.
    fn load(&self) -> Option<Key> {
        if let Some(key) = self.known.get() {
            return Some(*key);
        }
        let key = self.read()?;
        Some(*self.known.get_or_init(|| key))
    }

    fn read(&self) -> Option<Key> {
        let scope = WriteScope::open_inside(&self.folder, JOURNAL, Access::Private).ok()?;
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        read_key(&mut scope.dir.open_with(KEY_FILE, &options).ok()?)
    }

    fn load_or_create(&self) -> Result<Key> {
        if let Some(key) = self.load() {
            return Ok(key);
        }
        if let (Some(parent), Some(name)) = (self.folder.parent(), self.folder.file_name()) {
            WriteScope::create_inside(parent, &name.to_string_lossy(), Access::Private)?;
        }
        let scope = WriteScope::create_inside(&self.folder, JOURNAL, Access::Private)?;
        make_key(&scope)
            .map_err(|error| io_error(FsAction::Write, &scope.path.join(KEY_FILE), error))
    }
}

/// Creates the key file under its own lock, so that two processes agree on one key and a crash
/// leaves no temporary file behind.
fn make_key(journal: &WriteScope) -> io::Result<Key> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true);
    platform::set_create_mode(&mut options, PRIVATE_FILE.0);
    options.follow(FollowSymlinks::No).nonblock(true);
    let file = journal.dir.open_with(KEY_FILE, &options)?.into_std();
    file.lock()?;
    let mut file = File::from_std(file);
    if let Some(key) = read_key(&mut file) {
        return Ok(key);
    }
    if !sys::is_written_alone(&file)? {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    let key = random()?;
    platform::set_file_mode(&file, PRIVATE_FILE.0)?;
    file.rewind()?;
    sys::write_record(&mut file, &key)?;
    sys::sync(&file)?;
    sys::sync_dir(&journal.dir)?;
    Ok(key)
}

/// Reads the key from an open file. A key that other users can read is rejected.
fn read_key(file: &mut File) -> Option<Key> {
    let metadata = file.metadata().ok()?;
    let is_whole = metadata.is_file() && metadata.len() == KEY_BYTES as u64;
    if !is_whole || !platform::is_private(&metadata) {
        return None;
    }
    let mut key = [0; KEY_BYTES];
    file.read_exact(&mut key).ok()?;
    Some(key)
}

/// Prefix of the text that is hashed to create a mark. Plans never begin with it, so a mark cannot
/// be used as the proof for a plan.
const MARK: &str = "mark\n";

pub(super) fn random() -> io::Result<Key> {
    let mut bytes = [0; KEY_BYTES];
    platform::fill_random(&mut bytes)?;
    Ok(bytes)
}

fn of_this_process() -> io::Result<Key> {
    static KEY: OnceLock<Key> = OnceLock::new();
    match KEY.get() {
        Some(key) => Ok(*key),
        None => random().map(|fresh| *KEY.get_or_init(|| fresh)),
    }
}

impl WriteScope {
    /// Sets the key that signs plans, so that a later process with the same key can finish an
    /// interrupted change.
    #[must_use]
    pub fn with_seal(self, seal: Seal) -> Self {
        Self { seal: Some(seal), ..self }
    }

    /// Returns a keyed hash of `name` that only this user can compute. A file that contains this
    /// hash was written by this user.
    pub fn mark(&self, name: &str) -> io::Result<String> {
        Ok(self.prove(&format!("{MARK}{name}"))?.to_hex().to_string())
    }

    pub fn is_marked(&self, name: &str, mark: &str) -> bool {
        let text = format!("{MARK}{name}");
        blake3::Hash::from_hex(mark).is_ok_and(|mark| self.is_proven(&text, &mark))
    }

    pub(super) fn prove(&self, text: &str) -> io::Result<blake3::Hash> {
        let stored = self.seal.as_ref().and_then(|seal| seal.load_or_create().ok());
        // Projects can still be changed if the user's directory is not writable.
        let key = stored.map_or_else(of_this_process, Ok)?;
        Ok(blake3::keyed_hash(&key, text.as_bytes()))
    }

    pub(super) fn is_proven(&self, text: &str, proof: &blake3::Hash) -> bool {
        let stored = self.seal.as_ref().and_then(Seal::load);
        // `blake3::Hash` compares in constant time.
        let fits = |key: Key| blake3::keyed_hash(&key, text.as_bytes()) == *proof;
        stored.is_some_and(fits) || of_this_process().is_ok_and(fits)
    }
}
