//! Cursor: the editor's databases, its agent's transcripts and the stores of its CLI.
//!
//! One conversation can lie in several of them under the same id. The editor's database tells
//! most, then the CLI's store, then the transcript; whoever lists sessions picks by that.

mod blobs;
mod bubble;
mod chat;
mod clock;
mod composer;
mod lines;
mod listing;
mod message;
mod plain;
mod project;
#[cfg(test)]
mod tests;
pub(super) mod uri;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use self::listing::{COMPOSERS, PROMPTS, PROMPTS_SESSION, TABS};
use self::project::{Links, Project};
use super::adapter::{Adapter, Began, Discovery, Homes, ReadOutcome, Source, Trace, Watermark};
use super::emit::Emitter;
use super::error::{Error, Result};
use super::event::Event;
use super::facts::{Agent, LinkKind, SessionFacts, SessionRole};
use super::names::short_name;
use super::sink::Sink;
use super::store::{self, Store};
use super::stream::{Start, read_stream};
use super::view::Fields;
use super::walk::{Wanted, walk};

/// Reads what Cursor leaves behind.
pub struct Cursor;

/// Directories below the editor's that hold no traces but many files.
const SKIPPED: [&str; 8] = [
    "History",
    "snippets",
    "images",
    "chatEditingSessions",
    "terminals",
    "mcps",
    "node_modules",
    ".git",
];

/// The kinds of files that hold sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A database of the editor.
    State,
    /// A store of the CLI.
    Store,
    /// A transcript of lines.
    Lines,
    /// A transcript of plain text.
    Plain,
}

impl Kind {
    fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        match name {
            "state.vscdb" => Some(Self::State),
            "store.db" => Some(Self::Store),
            _ if name.ends_with(".jsonl") => Some(Self::Lines),
            _ if name.ends_with(".txt") => Some(Self::Plain),
            // What a person names need not have the name that Cursor gives.
            _ if name.ends_with(".vscdb") => Some(Self::State),
            _ => None,
        }
    }
}

impl Adapter for Cursor {
    fn agent(&self) -> Agent {
        Agent::Cursor
    }

    fn version(&self) -> u32 {
        1
    }

    fn roots(&self, homes: &Homes) -> Vec<PathBuf> {
        let home = &homes.home;
        let mut roots = vec![
            homes.config().join("Cursor/User"),
            home.join("Library/Application Support/Cursor/User"),
            home.join(".cursor-server/data/User"),
            home.join(".cursor/projects"),
            home.join(".cursor-server/projects"),
            home.join(".cursor/chats"),
        ];
        roots.extend(homes.app_data.iter().map(|app_data| app_data.join("Cursor/User")));
        roots
    }

    fn discover(&self, roots: &[PathBuf]) -> Discovery {
        let mut discovery = walk(
            roots,
            &Wanted {
                agent: Agent::Cursor,
                file: &|name| is_trace_name(name),
                directory: &|name| is_searched(name),
            },
        );
        discovery.sources.retain(|source| {
            Kind::of(&source.path) != Some(Kind::Plain) || is_transcript(&source.path)
        });
        for source in &mut discovery.sources {
            if matches!(Kind::of(&source.path), Some(Kind::State | Kind::Store))
                && let Some(stamp) = store::stamp(&source.path)
            {
                source.stamp = stamp;
            }
        }
        discovery
    }

    fn sessions(&self, source: &Source) -> Result<Vec<Trace>> {
        match Kind::of(&source.path) {
            Some(Kind::State) => listing::sessions(source),
            Some(Kind::Store | Kind::Lines | Kind::Plain) | None => {
                Ok(vec![Trace::whole(source.clone())])
            }
        }
    }

    fn read(&self, trace: &Trace, from: Option<&Watermark>, sink: Sink<'_>) -> Result<ReadOutcome> {
        let path = &trace.source.path;
        let mut outcome = match Kind::of(path) {
            Some(Kind::State) => read_state(trace, sink)?,
            Some(Kind::Store) => read_store(path, sink)?,
            Some(Kind::Plain) => plain::read_plain(path, transcript_facts(path), sink)?,
            Some(Kind::Lines) | None => {
                let facts = transcript_facts(path);
                let start = Start { version: self.version(), facts, format: lines::Lines::new };
                let mut outcome = read_stream(path, start, from, sink)?;
                settle_lines(path, &mut outcome);
                outcome
            }
        };
        // Transcripts tell no time; the file's own is better than none.
        if let (None, Some(modified)) = (outcome.facts.last_activity, trace.source.stamp.modified) {
            outcome.facts.last_activity = Some(modified);
        }
        Ok(outcome)
    }
}

fn is_trace_name(name: &OsStr) -> bool {
    Kind::of(Path::new(name)).is_some()
}

fn is_searched(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    // Extensions keep their files in directories named `publisher.extension`.
    let is_extension = name.contains('.') && !name.starts_with('.');
    !SKIPPED.contains(&name) && !is_extension
}

fn is_transcript(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "agent-transcripts")
}

fn read_state(trace: &Trace, sink: Sink<'_>) -> Result<ReadOutcome> {
    let path = &trace.source.path;
    let missing = || Error::NoSession {
        path: path.clone(),
        session: trace.session.clone().unwrap_or_default(),
    };
    let id = trace.session.as_deref().ok_or_else(missing)?;
    let store = Store::open(path)?;
    let mut out = Emitter::new(SessionFacts::new(Agent::Cursor, &short_name(id)), 0, sink);
    let mut project = Project::of_database(path);
    if holds_composer(&store, id)? {
        composer::read_composer(&store, id, &mut project, &mut out)?;
        match listing::linked_workspace(trace.revision.as_deref()) {
            Some(workspace) => project.note_workspace(workspace),
            None if !project.has_folder() && trace.revision.is_none() => {
                let links = Links::find(&store, path);
                project.note_workspace(links.workspace(id).unwrap_or_default());
            }
            None => {}
        }
    } else if !read_item(&store, id, path, &mut project, &mut out)? {
        return Err(missing());
    }
    store.close()?;
    project.settle(&mut out);
    let (facts, report) = (out.facts, out.report);
    Ok(ReadOutcome { facts, report, began: Began::FromStart, watermark: None })
}

fn holds_composer(store: &Store, id: &str) -> Result<bool> {
    if !store.has_table("cursorDiskKV")? {
        return Ok(false);
    }
    let sql = "SELECT 1 FROM cursorDiskKV WHERE key = 'composerData:' || ?1 \
        OR (key >= 'bubbleId:' || ?1 || ':' AND key < 'bubbleId:' || ?1 || ';') LIMIT 1";
    Ok(store.first(sql, [id], |_| ())?.is_some())
}

/// Reads a session that stands in a list of a workspace's database; `false` where it does not.
fn read_item(
    store: &Store,
    id: &str,
    path: &Path,
    project: &mut Project,
    out: &mut Emitter<'_>,
) -> Result<bool> {
    if !store.has_table("ItemTable")? {
        return Ok(false);
    }
    let composers = listing::item(store, COMPOSERS)?.unwrap_or_default();
    for raw in Fields::of(&composers).items("allComposers") {
        if listing::composer_id(&Fields::of(raw)).as_deref() == Some(id) {
            composer::read_listed(raw, &format!("{COMPOSERS}:{id}"), project, out);
            return Ok(true);
        }
    }
    let tabs = listing::item(store, TABS)?.unwrap_or_default();
    for raw in Fields::of(&tabs).items("tabs") {
        if listing::tab_id(&Fields::of(raw)).as_deref() == Some(id) {
            chat::read_tab(raw, project, out);
            return Ok(true);
        }
    }
    if id == PROMPTS_SESSION {
        let workspace = directory_name(path).unwrap_or_default();
        out.facts.id = short_name(&format!("{PROMPTS_SESSION}-{workspace}"));
        chat::read_prompts(&listing::item(store, PROMPTS)?.unwrap_or_default(), out);
        return Ok(true);
    }
    Ok(false)
}

fn directory_name(path: &Path) -> Option<String> {
    Some(path.parent()?.file_name()?.to_string_lossy().into_owned())
}

fn read_store(path: &Path, sink: Sink<'_>) -> Result<ReadOutcome> {
    let id = directory_name(path).unwrap_or_default();
    let mut out = Emitter::new(SessionFacts::new(Agent::Cursor, &short_name(&id)), 0, sink);
    let mut project = Project::default();
    blobs::read_store(path, &mut project, &mut out)?;
    project.settle(&mut out);
    let (facts, report) = (out.facts, out.report);
    Ok(ReadOutcome { facts, report, began: Began::FromStart, watermark: None })
}

/// What the place of a transcript says: `<id>/<id>.jsonl`, `<id>/subagents/<id>.jsonl` or flat.
fn transcript_facts(path: &Path) -> SessionFacts {
    let stem = path.file_stem().map(OsStr::to_string_lossy).unwrap_or_default();
    let mut facts = SessionFacts::new(Agent::Cursor, &short_name(&stem));
    let above = path.parent();
    if above.and_then(Path::file_name) == Some(OsStr::new("subagents")) {
        facts.role = SessionRole::SubAgent;
        if let Some(parent) = above.and_then(directory_name) {
            let mut ignore = |_: Event| {};
            let mut out = Emitter::new(facts, 0, Sink::said(&mut ignore));
            out.note_link(LinkKind::Parent, &parent, None);
            facts = out.facts;
        }
    }
    facts
}

/// The project of a transcript: the folder whose slug is the name of the project's directory,
/// where one of the paths in it tells which that is.
fn settle_lines(path: &Path, outcome: &mut ReadOutcome) {
    let carry = outcome.watermark.as_ref().map(|mark| mark.carry.as_str()).unwrap_or_default();
    let carry: lines::Carry = serde_json::from_str(carry).unwrap_or_default();
    let slug = path
        .ancestors()
        .find(|above| above.file_name() == Some(OsStr::new("agent-transcripts")))
        .and_then(directory_name)
        .unwrap_or_default();
    let mut files = uri::Files::default();
    carry.folder.iter().chain(&carry.paths).for_each(|path| files.note(path.clone()));
    let folder = files.folder_of_slug(&slug).or(carry.folder).or_else(|| files.folder());
    if let Some(folder) = folder {
        let folder = short_name(&folder);
        outcome.facts.cwd = Some(folder.clone());
        if let Some(mark) = &mut outcome.watermark {
            mark.facts.cwd = Some(folder);
        }
    }
}
