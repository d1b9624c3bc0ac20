//! Who began a journaled change: the proof that a plan carries.
//!
//! A journal lies in a repository, and a repository may be unpacked or cloned from a stranger. Whoever finds a plan there
//! and follows it does what the plan says, so a plan counts only with a keyed hash. Its key lies in the person's own
//! folder, is random, and never leaves it: no archive can bring a plan that this key has sealed.
//!
//! Without a folder for the key, a random one is used that ends with the process. Then a change that is interrupted by a
//! kill cannot be proven afterwards, and is set aside.

use std::io::{self, Read as _, Seek as _};
use std::sync::OnceLock;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::{File, OpenOptions};

use super::error::{FsAction, FsError};
use super::reserved::JOURNAL;
use super::scope::{Access, WriteScope, io_error};
use super::seal::{KEY_BYTES, Key, Seal};
use super::sys::{self, PRIVATE_FILE};
use crate::platform;

/// The key's file inside the journal folder of the person's own folder.
const KEY_FILE: &str = "key";

impl Seal {
    /// The key, where there is one. Read once: a list of memories asks for each of them.
    fn stored(&self) -> Option<Key> {
        if let Some(key) = self.known().get() {
            return Some(*key);
        }
        let key = self.read()?;
        Some(*self.known().get_or_init(|| key))
    }

    fn read(&self) -> Option<Key> {
        let scope = WriteScope::open_inside(self.folder(), JOURNAL, Access::Private).ok()?;
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        read_key(&mut scope.dir.open_with(KEY_FILE, &options).ok()?)
    }

    /// The key, made where it is missing or torn.
    fn stored_or_made(&self) -> Result<Key, FsError> {
        if let Some(key) = self.stored() {
            return Ok(key);
        }
        if let (Some(parent), Some(name)) = (self.folder().parent(), self.folder().file_name()) {
            WriteScope::create_inside(parent, &name.to_string_lossy(), Access::Private)?;
        }
        let scope = WriteScope::create_inside(self.folder(), JOURNAL, Access::Private)?;
        make_key(&scope)
            .map_err(|error| io_error(FsAction::Write, &scope.path.join(KEY_FILE), error))
    }
}

/// Makes the key in place and under its own lock, so that two processes agree on one and a kill leaves nothing beside it.
fn make_key(journal: &WriteScope) -> io::Result<Key> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true);
    platform::set_create_mode(&mut options, PRIVATE_FILE.0);
    options.follow(FollowSymlinks::No).nonblock(true);
    let file = journal.dir.open_with(KEY_FILE, &options)?.into_std();
    file.lock()?;
    let mut file = File::from_std(file);
    // Another process may have made it meanwhile.
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

/// The key in an open file; one that others can read is not a secret.
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

/// What a mark is made of. A journal's plan never begins so.
const MARK: &str = "mark\n";

/// Bytes that nobody can guess.
pub(super) fn random() -> io::Result<Key> {
    let mut bytes = [0; KEY_BYTES];
    platform::fill_random(&mut bytes)?;
    Ok(bytes)
}

/// A key that ends with this process.
fn of_this_process() -> io::Result<Key> {
    static KEY: OnceLock<Key> = OnceLock::new();
    match KEY.get() {
        Some(key) => Ok(*key),
        None => random().map(|fresh| *KEY.get_or_init(|| fresh)),
    }
}

impl WriteScope {
    /// Lets a later process finish what is begun here: the key that `seal` names proves that it was this person.
    #[must_use]
    pub fn sealed_by(self, seal: Seal) -> Self {
        Self { seal: Some(seal), ..self }
    }

    /// A sign that only this person can make, for `name`: where it stands in a file, they put it there.
    pub fn mark(&self, name: &str) -> io::Result<String> {
        Ok(self.prove(&format!("{MARK}{name}"))?.to_hex().to_string())
    }

    /// Whether `mark` is this person's for `name`.
    pub fn is_marked(&self, name: &str, mark: &str) -> bool {
        self.is_marked_in_parts(&[name], mark)
    }

    /// The same for a name in parts: a long one is not copied to be put together.
    pub fn is_marked_in_parts(&self, name: &[&str], mark: &str) -> bool {
        let text: Vec<&str> = [MARK].iter().chain(name).copied().collect();
        blake3::Hash::from_hex(mark).is_ok_and(|mark| self.is_proven(&text, &mark))
    }

    /// The proof that this person wrote `text`.
    pub(super) fn prove(&self, text: &str) -> io::Result<blake3::Hash> {
        let stored = self.seal.as_ref().and_then(|seal| seal.stored_or_made().ok());
        // A person's folder that cannot be written must not keep them from changing a project.
        let key = stored.map_or_else(of_this_process, Ok)?;
        Ok(blake3::keyed_hash(&key, text.as_bytes()))
    }

    /// Whether `proof` says that this person wrote `text`.
    pub(super) fn is_proven(&self, text: &[&str], proof: &blake3::Hash) -> bool {
        let stored = self.seal.as_ref().and_then(Seal::stored);
        // Compared in constant time, by the type.
        let fits = |key: Key| {
            let mut hasher = blake3::Hasher::new_keyed(&key);
            for part in text {
                hasher.update(part.as_bytes());
            }
            hasher.finalize() == *proof
        };
        stored.is_some_and(fits) || of_this_process().is_ok_and(fits)
    }
}
