//! The JSON tree: a file for each session, message and part.
//!
//! Two shapes of it exist: `session/<project>/`, `message/<session>/`, `part/<message>/` below one
//! `storage`, and before that all three below `storage/session` of each project.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::super::adapter::Stamp;
use super::super::emit::Emitter;
use super::super::error::{Error, Result};
use super::super::lines::open_regular;
use super::super::view::Fields;
use super::super::walk;
use super::talk::Talk;

/// The most entries of one directory.
const MAX_ENTRIES: usize = 200_000;
/// The longest file; a longer one is counted and left out.
const MAX_FILE: u64 = 32 * 1024 * 1024;
/// The parts of this many of the last messages are looked at for changes: earlier ones are done.
const LIVE_MESSAGES: usize = 2;
/// With what the ids of parts begin, and so the names of their files.
const PART_PREFIX: &str = "prt_";

/// Where the three kinds of files lie.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    infos: Vec<PathBuf>,
    messages: PathBuf,
    parts: PathBuf,
    /// `storage/session` of a project: parts lie below their session.
    is_per_project: bool,
}

impl Tree {
    /// The tree of a `storage` directory; `None` where it is none.
    pub(super) fn at(storage: &Path) -> Option<Self> {
        let session = storage.join("session");
        let old = session.join("info");
        if old.is_dir() {
            let (messages, parts) = (session.join("message"), session.join("part"));
            return Some(Self { infos: vec![old], messages, parts, is_per_project: true });
        }
        let (messages, parts) = (storage.join("message"), storage.join("part"));
        if !session.is_dir() || !messages.is_dir() {
            return None;
        }
        let infos = entries(&session).into_iter().filter(|path| path.is_dir()).collect();
        Some(Self { infos, messages, parts, is_per_project: false })
    }

    /// All sessions, by id, with the file that describes each.
    pub(super) fn sessions(&self) -> BTreeMap<String, PathBuf> {
        let mut sessions = BTreeMap::new();
        for info in self.infos.iter().flat_map(|directory| json_files(directory)) {
            // The file is named after the id; some tools put `ses_` before it once more.
            let stem = stem(&info);
            let bare = stem.strip_prefix("ses_").unwrap_or(&stem);
            let id = if !self.messages.join(&stem).is_dir() && self.messages.join(bare).is_dir() {
                bare.to_owned()
            } else {
                stem
            };
            sessions.insert(id, info);
        }
        sessions
    }

    pub(super) fn n_messages(&self, session: &str) -> usize {
        json_files(&self.messages.join(session)).len()
    }

    fn parts_of(&self, session: &str, message: &str) -> PathBuf {
        if self.is_per_project {
            self.parts.join(session).join(message)
        } else {
            self.parts.join(message)
        }
    }

    /// The outside of a session's files, without opening any.
    pub(super) fn stamp(&self, session: &str, info: &Path) -> Stamp {
        let mut stamp = fs::metadata(info).map_or_else(
            |_| Stamp { size: 0, modified: None, inode: 0 },
            |metadata| walk::stamp(&metadata),
        );
        let messages = json_files(&self.messages.join(session));
        let live = messages.iter().rev().take(LIVE_MESSAGES);
        let parts = live.flat_map(|message| json_files(&self.parts_of(session, &stem(message))));
        let files: Vec<PathBuf> = parts.collect();
        for file in messages.iter().chain(&files) {
            if let Ok(metadata) = fs::metadata(file) {
                let one = walk::stamp(&metadata);
                stamp.size += one.size;
                stamp.modified = stamp.modified.max(one.modified);
            }
        }
        stamp
    }

    /// Reads one session.
    pub(super) fn read(&self, session: &str, talk: &mut Talk, out: &mut Emitter<'_>) -> Result<()> {
        let sessions = self.sessions();
        let Some(info) = sessions.get(session) else {
            let (path, session) = (self.messages.clone(), session.to_owned());
            return Err(Error::NoSession { path, session });
        };
        let description = read_json(info, out).unwrap_or_default();
        let description = Fields::of(&description);
        let id = description.string("id");
        if !id.is_empty() {
            out.facts.id = super::super::names::short_name(&id);
        }
        talk.describe(&description, out);
        let flat = self.flat_parts();
        for (_, id, path) in self.ordered_messages(session, out) {
            let Some(text) = read_json(&path, out) else { continue };
            let message = Fields::of(&text);
            talk.message(&id, &message, out);
            for (idx, raw) in message.items("parts").into_iter().enumerate() {
                talk.part(&format!("{id}/{idx}"), raw, out);
            }
            let mut parts = self.ordered_parts(session, (&id, &stem(&path)), out);
            parts.extend(flat.get(&id).into_iter().flatten().cloned());
            for (id, path) in parts {
                if let Some(text) = read_json(&path, out) {
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
        for path in json_files(&self.messages.join(session)) {
            let Some(text) = read_json(&path, out) else { continue };
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
        let mut files = json_files(&self.parts_of(session, id));
        if files.is_empty() && id != stem_of_message {
            files = json_files(&self.parts_of(session, stem_of_message));
        }
        let mut parts: Vec<(String, PathBuf)> = files
            .into_iter()
            .filter_map(|path| {
                let stem = stem(&path);
                if stem.starts_with(PART_PREFIX) {
                    return Some((stem, path));
                }
                let text = read_json(&path, out)?;
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
        for path in json_files(&self.parts) {
            let Some(text) = read_file(&path) else { continue };
            let part = Fields::of(&text);
            let place = (part.string("id").into_owned(), path);
            flat.entry(part.string("messageID").into_owned()).or_default().push(place);
        }
        flat
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().map(OsStr::to_string_lossy).unwrap_or_default().into_owned()
}

/// The entries of a directory, by name; links are not followed.
fn entries(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries
        .flatten()
        .take(MAX_ENTRIES)
        .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()))
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    paths
}

fn json_files(directory: &Path) -> Vec<PathBuf> {
    let mut paths = entries(directory);
    paths.retain(|path| path.extension() == Some(OsStr::new("json")));
    paths
}

/// The text of a file that holds one whole JSON object; others are counted as bad.
fn read_json(path: &Path, out: &mut Emitter<'_>) -> Option<String> {
    let text = read_file(path).filter(|text| Fields::read(text).is_some());
    if text.is_none() {
        out.report.bad_lines += 1;
    }
    text
}

fn read_file(path: &Path) -> Option<String> {
    let file = open_regular(path).ok()?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).ok()?;
    if MAX_FILE < bytes.len() as u64 {
        return None;
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
