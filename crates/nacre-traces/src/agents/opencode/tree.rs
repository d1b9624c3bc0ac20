//! Reads OpenCode's JSON tree, which has one file per session, message and part. In the newer
//! layout, one `storage` directory contains `session/<project>/`, `message/<session>/` and
//! `part/<message>/`. In the older layout, each project's `storage/session` directory contains all
//! three kinds of files. Message IDs come from untrusted files and are used as directory names, so
//! only plain names are accepted and links are not followed.

use crate::transcript::toolkit::*;
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use jiff::Timestamp;

use nacre_base::fs::{Access, EntryKind, Folder, WriteScope};

use super::talk::SessionParser;

const MAX_FILE: u64 = 32 * 1024 * 1024;
/// Only this many of the most recent messages are checked for changed parts. Earlier messages no
/// longer change.
const LIVE_MESSAGES: usize = 2;
/// Prefix of part IDs, which are also file names.
const PART_PREFIX: &str = "prt_";

#[derive(Debug)]
pub(super) struct Tree {
    storage: Folder,
    path: PathBuf,
    infos: Vec<PathBuf>,
    messages: PathBuf,
    parts: PathBuf,
    /// Whether this is a project's `storage/session` directory, where parts are stored below their
    /// session.
    is_per_project: bool,
}

impl Tree {
    /// Returns the tree in a `storage` directory, or `None` if the directory contains no sessions.
    pub(super) fn at(path: &Path) -> Option<Self> {
        let storage = WriteScope::open(path, Access::Private).ok()?.root().ok()?;
        let (session, path) = (Path::new("session"), path.to_owned());
        let old = session.join("info");
        if open_below(&storage, &old).is_some() {
            let (messages, parts) = (session.join("message"), session.join("part"));
            let infos = vec![old];
            return Some(Self { storage, path, infos, messages, parts, is_per_project: true });
        }
        let (messages, parts) = (PathBuf::from("message"), PathBuf::from("part"));
        let projects = names_in(&open_below(&storage, session)?, EntryKind::Folder);
        open_below(&storage, &messages)?;
        let infos = projects.iter().map(|project| session.join(project)).collect();
        Some(Self { storage, path, infos, messages, parts, is_per_project: false })
    }

    pub(super) fn sessions(&self) -> BTreeMap<String, PathBuf> {
        let mut sessions = BTreeMap::new();
        for info in self.infos.iter().flat_map(|directory| self.json_files(directory)) {
            // The file name is the ID, sometimes with an extra `ses_` prefix.
            let stem = file_stem(&info);
            let bare = stem.strip_prefix("ses_").unwrap_or(&stem);
            let id = if !self.has_messages(&stem) && self.has_messages(bare) {
                bare.to_owned()
            } else {
                stem
            };
            if is_plain_name(&id) && is_session_id(&id) {
                sessions.insert(id, info);
            }
        }
        sessions
    }

    fn has_messages(&self, session: &str) -> bool {
        is_plain_name(session) && self.open(&self.messages.join(session)).is_some()
    }

    pub(super) fn messages_of(&self, session: &str) -> Vec<PathBuf> {
        match is_plain_name(session) {
            true => self.json_files(&self.messages.join(session)),
            false => Vec::new(),
        }
    }

    /// Returns the files of a message's parts. `message` is an untrusted ID.
    fn parts_of(&self, session: &str, message: &str) -> Vec<PathBuf> {
        if !is_plain_name(session) || !is_plain_name(message) {
            return Vec::new();
        }
        if self.is_per_project {
            self.json_files(&self.parts.join(session).join(message))
        } else {
            self.json_files(&self.parts.join(message))
        }
    }

    pub(super) fn stamp(&self, session: &str, info: &Path) -> Stamp {
        let mut stamp = Stamp { size: 0, modified: None, inode: 0 };
        self.each_stamp(std::slice::from_ref(&info.to_owned()), |one| stamp = one);
        let messages = self.messages_of(session);
        let mut add = |one: Stamp| {
            stamp.size = stamp.size.saturating_add(one.size);
            stamp.modified = stamp.modified.max(one.modified);
        };
        self.each_stamp(&messages, &mut add);
        for message in messages.iter().rev().take(LIVE_MESSAGES) {
            self.each_stamp(&self.parts_of(session, &file_stem(message)), &mut add);
        }
        stamp
    }

    /// Calls `each` with the stamp of every file. All files must be in the same directory.
    fn each_stamp(&self, files: &[PathBuf], mut each: impl FnMut(Stamp)) {
        let above = files.first().and_then(|file| file.parent());
        let Some(folder) = above.and_then(|above| self.open(above)) else { return };
        for stamp in files.iter().filter_map(|file| folder.stamp(file.file_name()?.to_str()?)) {
            let modified = Timestamp::from_nanosecond(stamp.modified).ok();
            each(Stamp { size: stamp.size, modified, inode: stamp.inode });
        }
    }

    pub(super) fn read(
        &self,
        session: &str,
        talk: &mut SessionParser,
        out: &mut Emitter,
    ) -> Result<()> {
        let sessions = self.sessions();
        let Some(info) = sessions.get(session) else {
            let (path, session) = (self.path.clone(), session.to_owned());
            return Err(Error::NoSession { path, session });
        };
        let description = self.read_json(info, out).unwrap_or_default();
        let description = Fields::of(&description);
        let id = description.string("id");
        if !id.is_empty() {
            out.facts.id = short_name(&id);
        }
        talk.describe(&description, out);
        let flat = self.flat_parts();
        let mut with_parts = HashSet::new();
        for (_, id, path) in self.list_messages(session, out) {
            let Some(text) = self.read_json(&path, out) else { continue };
            let message = Fields::of(&text);
            talk.message(&id, &message, out);
            for (idx, raw) in message.items("parts").into_iter().enumerate() {
                talk.part(&format!("{id}/{idx}"), raw, out);
            }
            // Several files may have the same message ID, but its parts are read only once.
            if !with_parts.insert(id.clone()) {
                out.report.repeated += 1;
                continue;
            }
            let mut parts = self.list_parts(session, &id, &file_stem(&path), out);
            parts.extend(flat.get(&id).into_iter().flatten().cloned());
            for (id, path) in parts {
                if let Some(text) = self.read_json(&path, out) {
                    talk.part(&id, &text, out);
                }
            }
        }
        Ok(())
    }

    fn list_messages(
        &self,
        session: &str,
        out: &mut Emitter,
    ) -> Vec<(Option<Timestamp>, String, PathBuf)> {
        let mut messages = Vec::new();
        for path in self.messages_of(session) {
            let Some(text) = self.read_json(&path, out) else { continue };
            let message = Fields::of(&text);
            let id = match message.string("id") {
                id if id.is_empty() => file_stem(&path),
                id => id.into_owned(),
            };
            messages.push((message.object("time").time("created"), id, path));
        }
        messages.sort();
        messages
    }

    fn list_parts(
        &self,
        session: &str,
        id: &str,
        stem_of_message: &str,
        out: &mut Emitter,
    ) -> Vec<(String, PathBuf)> {
        let mut files = self.parts_of(session, id);
        if files.is_empty() && id != stem_of_message {
            files = self.parts_of(session, stem_of_message);
        }
        let mut parts: Vec<(String, PathBuf)> = files
            .into_iter()
            .filter_map(|path| {
                let stem = file_stem(&path);
                if stem.starts_with(PART_PREFIX) {
                    return Some((stem, path));
                }
                let text = self.read_json(&path, out)?;
                let id = Fields::of(&text).string("id").into_owned();
                Some((if id.is_empty() { stem } else { id }, path))
            })
            .collect();
        // IDs increase over time, so parts are sorted by ID. If any part's name has another format,
        // the parts are kept in file name order, which is also chronological.
        let is_by_id = parts.iter().all(|(id, _)| id.starts_with(PART_PREFIX));
        if is_by_id {
            parts.sort();
        }
        parts
    }

    fn flat_parts(&self) -> BTreeMap<String, Vec<(String, PathBuf)>> {
        let mut flat: BTreeMap<String, Vec<(String, PathBuf)>> = BTreeMap::new();
        for path in self.json_files(&self.parts) {
            let Some(text) = self.read_file(&path) else { continue };
            let part = Fields::of(&text);
            let place = (part.string("id").into_owned(), path);
            flat.entry(part.string("messageID").into_owned()).or_default().push(place);
        }
        flat
    }

    fn json_files(&self, folder: &Path) -> Vec<PathBuf> {
        let open = self.open(folder);
        let names = open.map(|open| names_in(&open, EntryKind::File)).unwrap_or_default();
        let is_json = |name: &String| Path::new(name).extension() == Some(OsStr::new("json"));
        names.into_iter().filter(is_json).map(|name| folder.join(name)).collect()
    }

    fn open(&self, folder: &Path) -> Option<Folder> {
        open_below(&self.storage, folder)
    }

    /// Reads a file that contains one JSON object. Any other content counts as an error.
    fn read_json(&self, path: &Path, out: &mut Emitter) -> Option<String> {
        let text = self.read_file(path).filter(|text| Fields::read(text).is_some());
        if text.is_none() {
            out.report.bad_lines += 1;
        }
        text
    }

    fn read_file(&self, path: &Path) -> Option<String> {
        let folder = self.open(path.parent()?)?;
        let bytes = folder.read(path.file_name()?.to_str()?, MAX_FILE).ok()?;
        Some(whole::decode_lossy(bytes).0)
    }
}

/// Opens a directory below `folder`. Returns `None` if it does not exist, or if a component of
/// `path` is a link or not a plain name.
fn open_below(folder: &Folder, path: &Path) -> Option<Folder> {
    let mut opened: Option<Folder> = None;
    for part in path.components() {
        let Component::Normal(name) = part else { return None };
        opened = Some(opened.as_ref().unwrap_or(folder).open(name.to_str()?).ok()?);
    }
    opened
}

fn names_in(folder: &Folder, kind: EntryKind) -> Vec<String> {
    let entries = folder.list().unwrap_or_default();
    entries.into_iter().filter(|entry| entry.kind == kind).map(|entry| entry.name).collect()
}

/// Returns whether an untrusted string is a single path component.
fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\\', '\0'])
}
