//! Shows the log of the server: its last lines, and those that come.

use std::path::PathBuf;

use nacre_api::wire::{LogsReport, LogsRequest};
use nacre_core::safefs::{Access, RelPath, WriteScope};
use nacre_engine::record::state::LOG_FOLDER;

use super::log::LOG_FILE;
use crate::error::OpError;
use crate::host::Host;

/// Lines that are shown where nobody says how many.
const USUAL_LINES: usize = 50;

/// More than a log ever has before it makes room.
const MAX_BYTES: u64 = 32 << 20;

/// The last lines of the log, the oldest first.
pub fn logs(host: &Host, request: &LogsRequest) -> Result<LogsReport, OpError> {
    let wanted = match request.lines {
        Some(0) => usize::MAX,
        lines => lines.unwrap_or(USUAL_LINES),
    };
    let mut text = read(host, LOG_FILE)?.unwrap_or_default();
    if text.lines().count() < wanted {
        let before = read(host, &format!("{LOG_FILE}.1"))?.unwrap_or_default();
        text = format!("{before}{text}");
    }
    let n_left_out = text.lines().count().saturating_sub(wanted);
    let lines = text.lines().skip(n_left_out).map(str::to_owned).collect();
    Ok(LogsReport { path: path(host)?.display().to_string(), lines })
}

/// What comes after the lines that were shown.
#[derive(Debug)]
pub struct LogTail {
    /// How far the log was read.
    n_bytes: usize,
}

impl LogTail {
    /// Begins at the end of the log as it is.
    pub fn begin(host: &Host) -> Result<Self, OpError> {
        Ok(Self { n_bytes: read(host, LOG_FILE)?.unwrap_or_default().len() })
    }

    /// The lines that were added since the last time.
    pub fn more(&mut self, host: &Host) -> Result<Vec<String>, OpError> {
        let text = read(host, LOG_FILE)?.unwrap_or_default();
        // A log that is shorter than before is the next one.
        let begin = if text.len() < self.n_bytes { 0 } else { self.n_bytes };
        let new = text.get(begin..).unwrap_or_default();
        // The writer may be in the middle of a line.
        let whole = new.rfind('\n').map_or("", |end| &new[..=end]);
        self.n_bytes = begin + whole.len();
        Ok(whole.lines().map(str::to_owned).collect())
    }
}

fn path(host: &Host) -> Result<PathBuf, OpError> {
    Ok(host.home()?.join(LOG_FOLDER).join(LOG_FILE))
}

fn read(host: &Host, name: &str) -> Result<Option<String>, OpError> {
    let folder = match WriteScope::open_inside(host.home()?, LOG_FOLDER, Access::Private) {
        Err(error) if error.is_missing() => return Ok(None),
        folder => folder?,
    };
    let bytes = folder.read_optional(&RelPath::new(name)?, MAX_BYTES)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}
