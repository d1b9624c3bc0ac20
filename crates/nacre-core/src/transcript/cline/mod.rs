//! Cline: the sessions of its program, and the tasks of its extension for editors.
//!
//! Both are documents that are rewritten at every step, with messages in the blocks of Anthropic's
//! API. The extension wraps the person's words in tags and puts its own text around them; before
//! models could call tools, it wrote results as texts too.

mod talk;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use self::talk::{Talk, Writer};
use super::adapter::{Adapter, Discovery, Homes, ReadOutcome, Trace, Watermark};
use super::emit::Emitter;
use super::error::Result;
use super::facts::{Agent, SessionFacts};
use super::names::short_name;
use super::sink::Sink;
use super::view::Fields;
use super::walk::{Wanted, walk};
use super::whole::{self, Part};

/// Reads what Cline leaves behind.
pub struct Cline;

/// How the files end that hold a session of the program, and their descriptions.
const MESSAGES: &str = ".messages.json";
const DESCRIPTION: &str = ".json";
/// The file of a task of the extension.
const TASK: &str = "api_conversation_history.json";
/// The extension's id, by which editors keep its files.
const EXTENSION: &str = "User/globalStorage/saoudrizwan.claude-dev/tasks";
/// Editors that take the extension.
const EDITORS: [&str; 5] = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];

impl Adapter for Cline {
    fn agent(&self) -> Agent {
        Agent::Cline
    }

    fn version(&self) -> u32 {
        2
    }

    fn roots(&self, homes: &Homes) -> Vec<PathBuf> {
        let own = homes.cline.clone().unwrap_or_else(|| homes.home.join(".cline"));
        let data = homes.cline_data.clone().unwrap_or_else(|| own.join("data"));
        let sessions = homes.cline_sessions.clone().unwrap_or_else(|| data.join("sessions"));
        let mut roots = vec![sessions, data.join("tasks")];
        let mut configs = vec![homes.config(), homes.home.join("Library/Application Support")];
        configs.extend(homes.app_data.clone());
        for config in configs {
            roots.extend(EDITORS.iter().map(|editor| config.join(editor).join(EXTENSION)));
        }
        roots
    }

    fn discover(&self, roots: &[PathBuf]) -> Discovery {
        let file = |name: &OsStr| {
            let name = name.to_string_lossy();
            name.ends_with(MESSAGES) || name == TASK
        };
        let directory = |name: &OsStr| name != "checkpoints" && name != ".git";
        walk(roots, &Wanted { agent: Agent::Cline, file: &file, directory: &directory })
    }

    fn read(
        &self,
        trace: &Trace,
        _from: Option<&Watermark>,
        sink: Sink<'_>,
    ) -> Result<ReadOutcome> {
        let path = &trace.source.path;
        let facts = SessionFacts::new(Agent::Cline, &id_of(path));
        whole::read_document(path, facts, sink, |text, out| {
            let is_task = path.file_name().is_some_and(|name| name == TASK);
            let mut talk = Talk::new(if is_task { Writer::Extension } else { Writer::Program });
            describe(path, out);
            let parsed = whole::parts(text, &["messages"], |part| match part {
                Part::Field(key, raw) => note_member(key, raw, out),
                Part::Item(raw) => talk.message(raw, out),
            });
            talk.finish(out);
            parsed
        })
    }
}

/// What the place of a file says about the session's id: its name, or for a task its folder.
fn id_of(path: &Path) -> String {
    let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    match name.strip_suffix(MESSAGES) {
        Some(id) => short_name(id),
        None => {
            let folder = path.parent().and_then(Path::file_name);
            short_name(&folder.map(OsStr::to_string_lossy).unwrap_or_default())
        }
    }
}

fn note_member(key: &str, raw: &str, out: &mut Emitter<'_>) {
    match key {
        "sessionId" => {
            let id = super::view::text_of(raw).map(|id| short_name(&id.decode()));
            out.facts.id = id.filter(|id| !id.is_empty()).unwrap_or_else(|| out.facts.id.clone());
        }
        "origin" => out.note_version(&Fields::of(raw).string("version")),
        _ => {}
    }
}

/// Takes over the description of a session, from the file beside its messages.
fn describe(path: &Path, out: &mut Emitter<'_>) {
    let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    let Some(stem) = name.strip_suffix(MESSAGES) else { return };
    let beside = path.with_file_name(format!("{stem}{DESCRIPTION}"));
    let Some(text) = whole::sidecar(&beside) else { return };
    let description = Fields::of(&text);
    out.note_cwd(&description.string("cwd"));
    out.note_model(&description.string("model"));
    out.note_title(&description.object("metadata").string("title"));
    for key in ["started_at", "ended_at"] {
        description.time(key).into_iter().for_each(|time| out.note_time(time));
    }
}
