//! The JSON tree: a file for each session, message and part.
//!
//! Two shapes of it exist: `session/<project>/`, `message/<session>/`, `part/<message>/` below one
//! `storage`, and before that all three below `storage/session` of each project.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::super::adapter::Stamp;
use super::super::emit::Emitter;
use super::super::error::{Error, Result};
use super::super::names::is_session_id;
use super::super::view::Fields;
use super::super::whole;
use super::folder::{Folder, is_plain_name};
use super::talk::Talk;

/// The longest file; a longer one is counted and left out.
const MAX_FILE: u64 = 32 * 1024 * 1024;
/// The parts of this many of the last messages are looked at for changes: earlier ones are done.
const LIVE_MESSAGES: usize = 2;
/// With what the ids of parts begin, and so the names of their files.
const PART_PREFIX: &str = "prt_";

/// Where the three kinds of files lie. All paths but that of `storage` are below it.
#[derive(Debug)]
pub(super) struct Tree {
    storage: Folder,
    path: PathBuf,
    infos: Vec<PathBuf>,
    messages: PathBuf,
    parts: PathBuf,
    /// `storage/session` of a project: parts lie below their session.
    is_per_project: bool,
}

impl Tree {
    /// The tree of a `storage` directory; `None` where it is none.
    pub(super) fn at(path: &Path) -> Option<Self> {
        let storage = Folder::open(path)?;
        let (session, path) = (Path::new("session"), path.to_owned());
        let old = session.join("info");
        if storage.below(&old).is_some() {
            let (messages, parts) = (session.join("message"), session.join("part"));
            let infos = vec![old];
            return Some(Self { storage, path, infos, messages, parts, is_per_project: true });
        }
        let (messages, parts) = (PathBuf::from("message"), PathBuf::from("part"));
        let projects = storage.below(session)?.folders();
        storage.below(&messages)?;
        let infos = projects.iter().map(|project| session.join(project)).collect();
        Some(Self { storage, path, infos, messages, parts, is_per_project: false })
    }

    /// All sessions, by id, with the file that describes each.
    pub(super) fn sessions(&self) -> BTreeMap<String, PathBuf> {
        let mut sessions = BTreeMap::new();
        for info in self.infos.iter().flat_map(|directory| self.json_files(directory)) {
            // The file is named after the id; some tools put `ses_` before it once more.
            let stem = stem(&info);
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
        is_plain_name(session) && self.storage.below(&self.messages.join(session)).is_some()
    }

    pub(super) fn n_messages(&self, session: &str) -> usize {
        self.messages_of(session).len()
    }

    fn messages_of(&self, session: &str) -> Vec<PathBuf> {
        match is_plain_name(session) {
            true => self.json_files(&self.messages.join(session)),
            false => Vec::new(),
        }
    }

    /// The parts of a message. Its id stands in a file, so that it may be anything.
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

    /// The outside of a session's files, without opening any.
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
            self.each_stamp(&self.parts_of(session, &stem(message)), &mut add);
        }
        stamp
    }

    /// The outside of files that lie in one folder.
    fn each_stamp(&self, files: &[PathBuf], mut each: impl FnMut(Stamp)) {
        let above = files.first().and_then(|file| file.parent());
        let Some(folder) = above.and_then(|above| self.storage.below(above)) else { return };
        for name in files.iter().filter_map(|file| file.file_name()) {
            folder.stamp(name).into_iter().for_each(&mut each);
        }
    }

    /// Reads one session.
    pub(super) fn read(&self, session: &str, talk: &mut Talk, out: &mut Emitter<'_>) -> Result<()> {
        let sessions = self.sessions();
        let Some(info) = sessions.get(session) else {
            let (path, session) = (self.path.clone(), session.to_owned());
            return Err(Error::NoSession { path, session });
        };
        let description = self.read_json(info, out).unwrap_or_default();
        let description = Fields::of(&description);
        let id = description.string("id");
        if !id.is_empty() {
            out.facts.id = super::super::names::short_name(&id);
        }
        talk.describe(&description, out);
        let flat = self.flat_parts();
        let mut with_parts = HashSet::new();
        for (_, id, path) in self.ordered_messages(session, out) {
            let Some(text) = self.read_json(&path, out) else { continue };
            let message = Fields::of(&text);
            talk.message(&id, &message, out);
            for (idx, raw) in message.items("parts").into_iter().enumerate() {
                talk.part(&format!("{id}/{idx}"), raw, out);
            }
            // Many files may name one message, which has its parts once.
            if !with_parts.insert(id.clone()) {
                out.report.repeated += 1;
                continue;
            }
            let mut parts = self.ordered_parts(session, (&id, &stem(&path)), out);
            parts.extend(flat.get(&id).into_iter().flatten().cloned());
            for (id, path) in parts {
                if let Some(text) = self.read_json(&path, out) {
                    talk.part(&id, &text, out);
                }
            }
        }
        Ok(())
    }

    /// A session's messages by time, then by id.
    fn ordered_messages(
        &self,
        session: &str,
        out: &mut Emitter<'_>,
    ) -> Vec<(Option<Timestamp>, String, PathBuf)> {
        let mut messages = Vec::new();
        for path in self.messages_of(session) {
            let Some(text) = self.read_json(&path, out) else { continue };
            let message = Fields::of(&text);
            let id = match message.string("id") {
                id if id.is_empty() => stem(&path),
                id => id.into_owned(),
            };
            messages.push((message.object("time").time("created"), id, path));
        }
        messages.sort();
        messages
    }

    fn ordered_parts(
        &self,
        session: &str,
        (id, stem_of_message): (&str, &str),
        out: &mut Emitter<'_>,
    ) -> Vec<(String, PathBuf)> {
        let mut files = self.parts_of(session, id);
        if files.is_empty() && id != stem_of_message {
            files = self.parts_of(session, stem_of_message);
        }
        let mut parts: Vec<(String, PathBuf)> = files
            .into_iter()
            .filter_map(|path| {
                let stem = stem(&path);
                if stem.starts_with(PART_PREFIX) {
                    return Some((stem, path));
                }
                let text = self.read_json(&path, out)?;
                let id = Fields::of(&text).string("id").into_owned();
                Some((if id.is_empty() { stem } else { id }, path))
            })
            .collect();
        // Ids grow with time, and so do the names of files that are not named by id.
        let is_by_id = parts.iter().all(|(id, _)| id.starts_with(PART_PREFIX));
        if is_by_id {
            parts.sort();
        }
        parts
    }

    /// Parts that lie beside each other, by the message they name.
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

    /// The JSON files of a folder, by name.
    fn json_files(&self, folder: &Path) -> Vec<PathBuf> {
        let names = self.storage.below(folder).map(|open| open.json_files()).unwrap_or_default();
        names.iter().map(|name| folder.join(name)).collect()
    }

    /// The text of a file that holds one whole JSON object; others are counted as bad.
    fn read_json(&self, path: &Path, out: &mut Emitter<'_>) -> Option<String> {
        let text = self.read_file(path).filter(|text| Fields::read(text).is_some());
        if text.is_none() {
            out.report.bad_lines += 1;
        }
        text
    }

    fn read_file(&self, path: &Path) -> Option<String> {
        let folder = self.storage.below(path.parent()?)?;
        folder.read(path.file_name()?, MAX_FILE).map(|bytes| whole::mended(bytes).0)
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().map(OsStr::to_string_lossy).unwrap_or_default().into_owned()
}
