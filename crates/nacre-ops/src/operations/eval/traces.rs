//! Reads the sessions of a folder of traces, as the catalog would.

use std::path::{Path, PathBuf};

use nacre_core::catalog::said_in;
use nacre_core::search::eval::messages::{TracedMessage, TracedSession};
use nacre_core::transcript::{Trace, traces_at};

use crate::error::OpError;

/// Folders deeper than this are not a set of traces.
const MAX_DEPTH: usize = 16;

/// All sessions below `folder` that an adapter reads. Files that are not traces are passed over.
pub(super) fn sessions(folder: &Path) -> Result<Vec<TracedSession>, OpError> {
    let mut files = Vec::new();
    collect_files(folder, MAX_DEPTH, &mut files).map_err(|error| {
        OpError {
            causes: vec![error.to_string()],
            ..OpError::failed(format!("Cannot read the traces in `{}`", folder.display()))
        }
        .hint("Name the folder with `--traces`")
    })?;
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
    let (facts, said) = said_in(trace).ok()?;
    let name = trace.session.as_deref().unwrap_or_default();
    let project = facts.cwd.as_deref().and_then(|cwd| cwd.rsplit('/').next()).unwrap_or_default();
    let facets = [("project", project.to_owned())];
    let messages = said.into_iter().map(|message| {
        let mut record = message.record(&facets);
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
