//! The log of events: one JSON object a line, in files that make room for the next.

use std::fmt::Write as _;
use std::time::Duration;

use nacre_core::base::is_hidden_char;
use nacre_core::safefs::{FsError, Owner, RelPath, WriteScope};

use super::events::Ready;
use crate::record::TaskState;
use crate::record::{Event, Record};

/// The folder of logs in the global folder, and the file of events in it.
pub const LOG_FOLDER: &str = "logs";
pub const LOG_FILE: &str = "server.log";

/// A log of this size makes room for the next; so many old ones are kept.
const MAX_BYTES: u64 = 10 << 20;
const N_KEPT: u32 = 5;

/// A log is not worth waiting for.
const PATIENCE: Duration = Duration::from_millis(200);

/// The log of events.
#[derive(Debug)]
pub struct LogFile {
    folder: WriteScope,
    owner: Owner,
    path: RelPath,
    max_bytes: u64,
}

impl LogFile {
    /// The log in `folder`, which is the one for logs.
    pub fn new(folder: WriteScope, owner: Owner) -> Result<Self, FsError> {
        Ok(Self { folder, owner, path: RelPath::new(LOG_FILE)?, max_bytes: MAX_BYTES })
    }

    #[cfg(test)]
    pub(super) fn with_max_bytes(self, max_bytes: u64) -> Self {
        Self { max_bytes, ..self }
    }

    pub(super) fn write(&self, batch: &[Ready]) -> Result<(), FsError> {
        let mut lines = String::new();
        for ready in batch {
            push_line(&mut lines, ready);
        }
        let writer = self.folder.lock(&self.owner, PATIENCE)?;
        if self.max_bytes <= writer.append(&self.path, lines.as_bytes())? {
            writer.rotate(&self.path, N_KEPT)?;
        }
        Ok(())
    }
}

/// Appends an event as one object, made from the JSON that is stored of it.
fn push_line(lines: &mut String, ready: &Ready) {
    let Record { task, sequence, at, event } = &*ready.record;
    let Some(fields) = ready.json.strip_prefix('{') else { return };
    // Writing to a `String` cannot fail.
    let _ = write!(
        lines,
        r#"{{"at":"{at}","level":"{}","task":"{task}","sequence":{sequence},"#,
        level(event)
    );
    for c in fields.chars() {
        match is_hidden_char(c) {
            // Nothing in a log steers the screen of who reads it.
            true => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                let _ = write!(lines, "\\u{unit:04x}");
            }),
            false => lines.push(c),
        }
    }
    lines.push('\n');
}

fn level(event: &Event) -> &'static str {
    let is_error = matches!(
        event,
        Event::Error { .. }
            | Event::ModelError { .. }
            | Event::EventsLost { .. }
            | Event::TaskState(TaskState::Failed { .. })
    );
    let is_warning = matches!(
        event,
        Event::ModelRetry { .. }
            | Event::ModelFallback { .. }
            | Event::ToolDenied { .. }
            | Event::BudgetBlock { .. }
    ) || matches!(event, Event::ToolResult(facts) if facts.fault.is_some());
    match (is_error, is_warning) {
        (true, _) => "error",
        (false, true) => "warn",
        (false, false) => "info",
    }
}
