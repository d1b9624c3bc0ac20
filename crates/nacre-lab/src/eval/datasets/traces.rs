//! Reads the sessions in a trace directory the same way as the catalog does.

use std::path::{Path, PathBuf};

use nacre_memory::messages::message_record;
use nacre_traces::agents::{adapter_of, traces_at};
use nacre_traces::catalog::SaidMessage;
use nacre_traces::transcript::{Sink, Trace, TranscriptEvent};

use super::messages::{TracedMessage, TracedSession};
use crate::AnyError;

/// Deeper directories are not searched.
const MAX_DEPTH: usize = 16;

/// Returns all sessions below `folder` that an adapter can read. Other files are ignored.
pub(crate) fn sessions(folder: &Path) -> Result<Vec<TracedSession>, AnyError> {
    let mut files = Vec::new();
    collect_files(folder, MAX_DEPTH, &mut files)
        .map_err(|error| format!("Cannot read the traces in `{}`: {error}", folder.display()))?;
    files.sort();
    let read = |file: &PathBuf| {
        let path = file.strip_prefix(folder).unwrap_or(file).to_string_lossy().into_owned();
        let traces = traces_at(file).unwrap_or_default();
        traces.iter().filter_map(|trace| session(&path, trace)).collect::<Vec<_>>()
    };
    Ok(files.iter().flat_map(read).collect())
}

fn collect_files(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() && depth > 0 {
            collect_files(&entry.path(), depth - 1, files)?;
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    Ok(())
}

fn session(path: &str, trace: &Trace) -> Option<TracedSession> {
    let mut said = Vec::new();
    let mut take = |event: TranscriptEvent| said.extend(SaidMessage::of(&event));
    let adapter = adapter_of(trace.source.agent);
    let facts = adapter.read(trace, None, Sink::said(&mut take)).ok()?.facts;
    let name = trace.session.as_deref().unwrap_or_default();
    let project = facts.cwd.as_deref().and_then(|cwd| cwd.rsplit('/').next()).unwrap_or_default();
    let facets = [("project", project.to_owned())];
    let messages = said.into_iter().map(|message| {
        let mut record = message_record(&message, &facets);
        record.key = format!("{path}#{name}#{}", record.key);
        TracedMessage { record, text: message.text }
    });
    let messages: Vec<TracedMessage> = messages.collect();
    (!messages.is_empty()).then(|| TracedSession {
        path: path.to_owned(),
        name: name.to_owned(),
        messages,
    })
}
