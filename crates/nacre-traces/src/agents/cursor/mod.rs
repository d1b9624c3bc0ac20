//! Reads Cursor's sessions from the editor's databases, its agent's transcripts and its CLI's
//! stores. Several of these may contain the same conversation, under the same ID. The catalog
//! prefers the editor's database, then the CLI's store, then the transcript.

mod blobs;
mod bubble;
mod composer;
mod listing;
mod message;
mod project;
#[cfg(test)]
mod tests;
mod transcripts;
pub(super) mod uri;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::{AgentSpec, Copies, HookContract, InputKeys, Mark};
use crate::agent_config::shared::*;
use crate::transcript::toolkit::*;

use self::listing::{COMPOSERS, PROMPTS, PROMPTS_SESSION, TABS};
use self::project::{Links, Project, item};

pub(crate) struct Cursor;

/// Subdirectories of the editor's data directory that contain many files but no transcripts.
const SKIPPED: &str = "\
    History snippets images chatEditingSessions terminals mcps node_modules .git";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TraceFormat {
    State,
    Store,
    Lines,
    Plain,
}

impl TraceFormat {
    fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        match name {
            "state.vscdb" => Some(Self::State),
            "store.db" => Some(Self::Store),
            _ if name.ends_with(".jsonl") => Some(Self::Lines),
            _ if name.ends_with(".txt") => Some(Self::Plain),
            // A file passed by the user can have any name.
            _ if name.ends_with(".vscdb") => Some(Self::State),
            _ => None,
        }
    }
}

pub(super) static SPEC: AgentSpec = AgentSpec {
    adapter: Some(&Cursor),
    trace_names: &[
        "home-me-app/agent-transcripts/x/x.jsonl",
        "home-me-app/agent-transcripts/x/subagents/y.jsonl",
        "home-me-app/agent-transcripts/x.txt",
    ],
    marks: &[
        (0, Mark::Database(".vscdb")),
        (0, Mark::Database("store.db")),
        (31, Mark::NameEnd(".txt")),
        (31, Mark::Line(&["\"role\"", "\"message\":{\"content\""])),
    ],
    copies: Copies::Anywhere(&["vscdb", "db"]),
    shell_variables: &["CURSOR_AGENT"],
    signs: |places| vec![places.home.join(".cursor")],
    mcp: Some(|places, program| {
        let path = places.home.join(".cursor/mcp.json");
        member(path, &["mcpServers", "nacre"], server(program, Vec::new()))
    }),
    // Nacre installs no hooks, because no version of Cursor is known to run them.
    skill: Some(edit_shared_skill),
    contract: Some(CONTRACT),
    ..AgentSpec::new("cursor", "Cursor")
};

/// Nacre's prompt hook prints nothing, because all that Cursor would let it do is block the prompt.
/// This contract is based on the documentation only.
const CONTRACT: HookContract = HookContract {
    keys: InputKeys {
        session: &["conversation_id", "session_id"],
        folder: &["workspace_roots", "cwd"],
        tool: &["tool_name", "hook_event_name"],
        ..InputKeys::CLAUDE
    },
    hears: &[HookEvent::Start],
    context: r#"{"additional_context":$JSON}"#,
    denial: r#"{"permission":"deny","user_message":$JSON,"agent_message":$JSON}"#,
    ..HookContract::CLAUDE
};

impl Adapter for Cursor {
    fn agent(&self) -> Agent {
        Agent::Cursor
    }

    fn roots(&self, homes: &Homes) -> Vec<PathBuf> {
        let below_home = [
            "Library/Application Support/Cursor/User",
            ".cursor-server/data/User",
            ".cursor/projects",
            ".cursor-server/projects",
            ".cursor/chats",
        ];
        let below_home = below_home.into_iter().map(|path| homes.home.join(path));
        std::iter::once(homes.config().join("Cursor/User")).chain(below_home).collect()
    }

    fn is_trace(&self, name: &str) -> bool {
        TraceFormat::of(Path::new(name)).is_some()
    }

    fn is_searched(&self, directory: &str) -> bool {
        // Extension directories are named `publisher.extension`.
        let is_extension = directory.contains('.') && !directory.starts_with('.');
        !contains_word(SKIPPED, directory) && !is_extension
    }

    fn discover(&self, roots: &[PathBuf]) -> Discovery {
        let mut discovery =
            walk(roots, Agent::Cursor, &|name| self.is_trace(name), &|name| self.is_searched(name));
        let is_transcript =
            |path: &Path| path.components().any(|part| part.as_os_str() == TRANSCRIPTS);
        discovery.sources.retain(|source| {
            TraceFormat::of(&source.path) != Some(TraceFormat::Plain) || is_transcript(&source.path)
        });
        for source in &mut discovery.sources {
            if matches!(
                TraceFormat::of(&source.path),
                Some(TraceFormat::State | TraceFormat::Store)
            ) && let Some(stamp) = store::stamp(&source.path)
            {
                source.stamp = stamp;
            }
        }
        discovery
    }

    fn sessions(&self, source: &TraceSource) -> Result<Vec<Trace>> {
        match TraceFormat::of(&source.path) {
            Some(TraceFormat::State) => listing::sessions(source),
            Some(TraceFormat::Store | TraceFormat::Lines | TraceFormat::Plain) | None => {
                Ok(vec![Trace::whole(source.clone())])
            }
        }
    }

    fn read(&self, trace: &Trace, from: Option<&Watermark>, sink: Sink) -> Result<ReadOutcome> {
        let path = &trace.source.path;
        let mut outcome = match TraceFormat::of(path) {
            Some(TraceFormat::State) => read_state(trace, sink)?,
            Some(TraceFormat::Store) => read_store(path, sink)?,
            Some(TraceFormat::Plain) => {
                transcripts::read_plain(path, transcript_facts(path), sink)?
            }
            Some(TraceFormat::Lines) | None => {
                let facts = transcript_facts(path);
                let version = self.version();
                let mut outcome =
                    read_lines::<transcripts::Lines>(trace, version, facts, from, sink)?;
                settle_lines(path, &mut outcome);
                outcome
            }
        };
        // Transcripts contain no times, so use the file's modification time.
        let last_activity = &mut outcome.facts.last_activity;
        *last_activity = last_activity.or(trace.source.stamp.modified);
        Ok(outcome)
    }
}

const TRANSCRIPTS: &str = "agent-transcripts";

fn read_state(trace: &Trace, sink: Sink) -> Result<ReadOutcome> {
    let path = &trace.source.path;
    let id = trace.session.as_deref().ok_or_else(|| trace.missing())?;
    let store = Store::open(path)?;
    let mut out = Emitter::new(SessionFacts::new(Agent::Cursor, &short_name(id)), 0, sink);
    let mut project = Project::of_database(path);
    if holds_composer(&store, id)? {
        composer::read_composer(&store, id, &mut project, &mut out)?;
        match listing::parse_linked_workspace(trace.revision.as_deref()) {
            Some(workspace) => project.note_workspace(workspace),
            None if project.folders.is_empty() && trace.revision.is_none() => {
                let links = Links::find(&store, path);
                project.note_workspace(links.workspace(id).unwrap_or_default());
            }
            None => {}
        }
    } else if !read_item(&store, id, path, &mut project, &mut out)? {
        return Err(trace.missing());
    }
    store.close()?;
    project.settle(&mut out);
    Ok(out.finish())
}

fn holds_composer(store: &Store, id: &str) -> Result<bool> {
    if !store.has_table("cursorDiskKV")? {
        return Ok(false);
    }
    let sql = "SELECT 1 FROM cursorDiskKV WHERE key = 'composerData:' || ?1 \
        OR (key >= 'bubbleId:' || ?1 || ':' AND key < 'bubbleId:' || ?1 || ';') LIMIT 1";
    Ok(store.first(sql, [id], |_| ())?.is_some())
}

/// Reads a session from a list in a workspace database. Returns `false` if the source contains no
/// such session.
fn read_item(
    store: &Store,
    id: &str,
    path: &Path,
    project: &mut Project,
    out: &mut Emitter,
) -> Result<bool> {
    if !store.has_table("ItemTable")? {
        return Ok(false);
    }
    let composers = item(store, COMPOSERS)?.unwrap_or_default();
    for raw in Fields::of(&composers).items("allComposers") {
        if listing::composer_id(&Fields::of(raw)).as_deref() == Some(id) {
            composer::read_listed(raw, &format!("{COMPOSERS}:{id}"), project, out);
            return Ok(true);
        }
    }
    let tabs = item(store, TABS)?.unwrap_or_default();
    for raw in Fields::of(&tabs).items("tabs") {
        if listing::tab_id(&Fields::of(raw)).as_deref() == Some(id) {
            composer::read_tab(raw, project, out);
            return Ok(true);
        }
    }
    if id == PROMPTS_SESSION {
        let workspace = directory_name(path).unwrap_or_default();
        out.facts.id = short_name(&format!("{PROMPTS_SESSION}-{workspace}"));
        composer::read_prompts(&item(store, PROMPTS)?.unwrap_or_default(), out);
        return Ok(true);
    }
    Ok(false)
}

fn directory_name(path: &Path) -> Option<String> {
    Some(path.parent()?.file_name()?.to_string_lossy().into_owned())
}

fn read_store(path: &Path, sink: Sink) -> Result<ReadOutcome> {
    let id = directory_name(path).unwrap_or_default();
    let mut out = Emitter::new(SessionFacts::new(Agent::Cursor, &short_name(&id)), 0, sink);
    let mut project = Project::default();
    blobs::read_store(path, &mut project, &mut out)?;
    project.settle(&mut out);
    Ok(out.finish())
}

/// Derives session facts from a transcript's path: `<id>/<id>.jsonl`, `<id>/subagents/<id>.jsonl`,
/// or a flat file.
fn transcript_facts(path: &Path) -> SessionFacts {
    let mut facts = SessionFacts::new(Agent::Cursor, &short_name(&file_stem(path)));
    let above = path.parent();
    if above.and_then(Path::file_name) == Some(OsStr::new("subagents")) {
        facts.role = SessionRole::SubAgent;
        facts.links.extend(above.and_then(directory_name).map(|parent| parent_link(&parent)));
    }
    facts
}

/// Finds a transcript's project. The directory name is a lossy slug of the project's path, so the
/// result must be confirmed by paths mentioned in the transcript.
fn settle_lines(path: &Path, outcome: &mut ReadOutcome) {
    let carry = outcome.watermark.as_ref().map(|mark| mark.carry.as_str()).unwrap_or_default();
    let carry: transcripts::Carry = serde_json::from_str(carry).unwrap_or_default();
    let slug = path
        .ancestors()
        .find(|above| above.file_name() == Some(OsStr::new(TRANSCRIPTS)))
        .and_then(directory_name)
        .unwrap_or_default();
    let mut files = uri::TouchedFiles::default();
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
