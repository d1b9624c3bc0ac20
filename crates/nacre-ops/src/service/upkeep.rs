//! The server's scheduled work, its files in `run/`, and its log.

use jiff::SignedDuration;
use nacre_base::config::projects::Project;
use nacre_base::fs::Writer;
use nacre_engine::record::state::{LOG_FOLDER, MAX_TASK_AGE, State};
use nacre_memory::search::prune_indexes;
use nacre_team::postgres::queue::SharedQueue;
use nacre_traces::catalog::{SessionFilter, TraceGlance, glance};
use nacre_types::{LogsReport, ServiceStatus};

use super::definition::is_held;
use super::{ADDRESS, LOCK_FOLDER, MAX_BYTES, PAUSED, RUN_FOLDER, TOKEN, find};
use crate::hook::{prune_sessions, refresh_index};
use crate::host::{Environment, connections, empty_spill, open_catalog};
use crate::json::json_line;
use crate::map::bring_up_to_date;
use crate::prelude::*;
use crate::tasks::row_limit;

const IN_USE: SignedDuration = SignedDuration::from_hours(1);

/// Only the most recently used maps are kept up to date.
const MAX_MAPS: usize = 8;

pub fn look_at_traces(host: &Host) -> Result<TraceGlance> {
    Ok(glance(&connections(host, &[])?))
}

/// Returns whether the shared queue contains sessions that are due. Returns `false` if there is no
/// shared database.
pub fn has_due_sessions(host: &Host) -> Result<bool> {
    let Some(database) = host.database()? else { return Ok(false) };
    let queue = SharedQueue::open(&database)?.for_server(&host.server_id()?);
    Ok(queue.is_due(host.now())?)
}

/// Updates the indexes. Returns the number of stores checked. A store that cannot be checked is
/// reported and skipped.
pub fn keep_indexes(host: &Host, events: &Events) -> Result<usize> {
    let mut n_kept = 0;
    let projects = host.projects.iter().map(|project| host.store_at(&project.path));
    let global = host.global_store().transpose();
    for found in projects.chain(global) {
        events.check_cancelled()?;
        let kept = found.and_then(|scoped| refresh_index(host, &host.searchable(scoped, "serve")));
        match kept {
            Ok(_) => n_kept += 1,
            Err(error) => events.warn(&error),
        }
    }
    Ok(n_kept)
}

pub fn keep_maps(host: &Host, events: &Events) -> Result<usize> {
    let since = host.now().checked_sub(IN_USE).unwrap_or(Timestamp::UNIX_EPOCH);
    let filter = SessionFilter { since: Some(since), ..SessionFilter::default() };
    let mut seen = BTreeSet::new();
    let sessions = open_catalog(host)?.sessions(&filter)?.into_iter();
    let mut roots: Vec<String> = sessions.filter_map(|session| session.project).collect();
    roots.retain(|root| {
        let is_it = |project: &Project| project.path.as_os_str() == root.as_str();
        host.projects.iter().any(is_it) && seen.insert(root.clone())
    });
    let mut n_kept = 0;
    for root in roots.into_iter().take(MAX_MAPS) {
        events.check_cancelled()?;
        match bring_up_to_date(host, &root, events) {
            Ok(()) => n_kept += 1,
            Err(error) => events.warn(&error),
        }
    }
    Ok(n_kept)
}

const YES: &[u8] = b"yes\n";
const NO: &[u8] = b"no\n";

pub fn is_paused(host: &Host) -> Result<bool> {
    let Some(run) = host.existing_home_folder(RUN_FOLDER)? else { return Ok(false) };
    Ok(run.read_optional(&RelPath::new(PAUSED)?, MAX_BYTES)?.as_deref() == Some(YES))
}

/// Pauses or resumes scheduled work. The value persists across restarts.
pub fn set_paused(host: &Host, is_paused: bool) -> Result<()> {
    let run = host.home_folder(RUN_FOLDER)?;
    let text = if is_paused { YES } else { NO };
    Ok(run.put_output(&RelPath::new(PAUSED)?, text, &host.owner("serve"))?)
}

/// Removes old tasks and returns their number. Logs are rotated on write, and each run prunes old
/// run directories.
pub fn prune(host: &Host) -> Result<u64> {
    let home = host.home_scope()?;
    let (owner, wait) = (host.owner("serve"), host.settings().lock.wait);
    empty_spill(host, &home);
    prune_sessions(host)?;
    prune_indexes(host.home()?, &owner, wait, host.now().into())?;
    let mut state = State::open(&home, &owner, wait)?;
    Ok(state.trim(MAX_TASK_AGE, host.now())?)
}

/// Returns the service's status. Ignores the address if the lock is free, because a killed server
/// must have left it behind.
pub(crate) fn service_status(host: &Host) -> Result<Option<ServiceStatus>> {
    if host.home.is_none() {
        return Ok(None);
    }
    let Some(found) = find(host)? else { return Ok(None) };
    if !is_held(host)? {
        return Ok(None);
    }
    Ok(Some(ServiceStatus { address: found.address, paused: is_paused(host)? }))
}

const TOKEN_BYTES: usize = 32;

/// Lock timeout. Allows for a concurrent status check, which holds the lock only briefly.
const LOCK_PATIENCE: Duration = Duration::from_millis(200);

const PATIENCE: Duration = Duration::from_secs(2);

pub struct HeldService<'h> {
    _lock: Writer<'h>,
    run: &'h WriteScope,
    home: WriteScope,
    owner: Owner,
    pub token: String,
}

/// Runs `work` as this home directory's only server. If another server is running, the error
/// contains its address.
pub fn hold<T>(host: &Host, work: impl FnOnce(&HeldService<'_>) -> Result<T>) -> Result<T> {
    let home = host.home_scope()?;
    let run = WriteScope::create_inside(host.home()?, RUN_FOLDER, Access::Private)?;
    let place = WriteScope::create_inside(run.path(), LOCK_FOLDER, Access::Private)?;
    let owner = host.owner("serve");
    let lock = place.lock(&owner, LOCK_PATIENCE).map_err(|error| {
        let mut error = OpError::from(error);
        error.hints = vec!["Use that server, or stop it first: nacre down".to_owned()];
        error
    })?;
    let mut held = HeldService { _lock: lock, run: &run, home, owner, token: String::new() };
    held.withdraw()?;
    // Remove the old address first, so that no client can send the new token to it. The token is
    // replaced at every start, so that a leaked token does not remain valid.
    let bytes: [u8; TOKEN_BYTES] = host.environment.random_bytes()?;
    held.token = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    run.put_output(&RelPath::new(TOKEN)?, held.token.as_bytes(), &held.owner)?;
    let result = work(&held);
    // A stale address is harmless, because no server is listening there.
    let _ = held.withdraw();
    result
}

impl HeldService<'_> {
    pub fn announce(&self, address: &str) -> Result<()> {
        Ok(self.run.put_output(&RelPath::new(ADDRESS)?, address.as_bytes(), &self.owner)?)
    }

    /// Returns the path of the socket. Returns `None` if the path would exceed `MAX_SOCKET_PATH`.
    #[cfg(unix)]
    pub fn socket_path(&self) -> Option<PathBuf> {
        /// Short enough for all supported operating systems.
        const MAX_SOCKET_PATH: usize = 100;
        let path = self.run.path().join(super::SOCKET);
        (path.as_os_str().len() <= MAX_SOCKET_PATH).then_some(path)
    }

    fn withdraw(&self) -> Result<()> {
        let run = RelPath::new(RUN_FOLDER)?;
        let names = [
            ADDRESS,
            #[cfg(unix)]
            super::SOCKET,
        ];
        let left = names.iter().map(|name| run.join(name)).collect::<Result<Vec<_>, _>>()?;
        let is_left = |path: &RelPath| self.home.full(path).symlink_metadata().is_ok();
        if !left.iter().any(is_left) {
            return Ok(());
        }
        let writer = self.home.lock(&self.owner, PATIENCE)?;
        for path in &left {
            match writer.remove_derived(path) {
                Err(error) if !error.is_missing() => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }
}

const USUAL_LINES: usize = 50;

/// Maximum number of bytes to read. Logs are rotated before they reach this size.
const MAX_READ_BYTES: u64 = 32 << 20;

/// Returns the last lines of the log, oldest first.
pub fn logs(host: &Host, lines: Option<usize>) -> Result<LogsReport> {
    let wanted = row_limit(lines, USUAL_LINES);
    let mut text = read(host, LOG_FILE)?.unwrap_or_default();
    if text.lines().count() < wanted {
        let before = read(host, &format!("{LOG_FILE}.1"))?.unwrap_or_default();
        text = format!("{before}{text}");
    }
    let n_left_out = text.lines().count().saturating_sub(wanted);
    let lines = text.lines().skip(n_left_out).map(str::to_owned).collect();
    let path = host.home()?.join(LOG_FOLDER).join(LOG_FILE);
    Ok(LogsReport { path: path.display().to_string(), lines })
}

#[derive(Debug)]
pub struct LogTail {
    n_bytes: usize,
}

impl LogTail {
    pub fn begin(host: &Host) -> Result<Self> {
        Ok(Self { n_bytes: read(host, LOG_FILE)?.unwrap_or_default().len() })
    }

    pub fn more(&mut self, host: &Host) -> Result<Vec<String>> {
        let text = read(host, LOG_FILE)?.unwrap_or_default();
        // If the log has become shorter, it has been rotated.
        let begin = if text.len() < self.n_bytes { 0 } else { self.n_bytes };
        let new = text.get(begin..).unwrap_or_default();
        // The last line may be incomplete.
        let whole = new.rfind('\n').map_or("", |end| &new[..=end]);
        self.n_bytes = begin + whole.len();
        Ok(whole.lines().map(str::to_owned).collect())
    }
}

fn read(host: &Host, name: &str) -> Result<Option<String>> {
    let Some(folder) = host.existing_home_folder(LOG_FOLDER)? else { return Ok(None) };
    let bytes = folder.read_optional(&RelPath::new(name)?, MAX_READ_BYTES)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

const LOG_FILE: &str = "service.log";

/// The size at which a log is rotated, and the number of old logs that are kept.
const MAX_LOG_BYTES: u64 = 10 << 20;
const N_KEPT: u32 = 4;

const MAX_VALUE: usize = 1000;

const LOG_PATIENCE: Duration = Duration::from_millis(500);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevel {
    Info,
    Error,
}

impl LogLevel {
    fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Error => "error",
        }
    }
}

/// Writes a log entry. Write errors are ignored, so that the server keeps running if its log cannot
/// be written.
pub fn log(environment: &Environment, level: LogLevel, event: &str, fields: &[(&str, &str)]) {
    let _ = try_log(environment, level, event, fields);
}

fn try_log(
    environment: &Environment,
    level: LogLevel,
    event: &str,
    fields: &[(&str, &str)],
) -> Option<()> {
    let home = environment.nacre_home().filter(|home| home.is_dir())?;
    let at = environment.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let mut line = format!("at={at} level={} event={}", level.as_str(), quote_value(event));
    for (key, value) in fields {
        line.push_str(&format!(" {key}={}", quote_value(value)));
    }
    line.push('\n');
    let folder = WriteScope::create_inside(&home, LOG_FOLDER, Access::Private).ok()?;
    let owner = Owner { pid: environment.pid, command: "nacre serve".to_owned(), since: at };
    let writer = folder.lock(&owner, LOG_PATIENCE).ok()?;
    let path = RelPath::new(LOG_FILE).ok()?;
    if MAX_LOG_BYTES <= writer.append(&path, line.as_bytes()).ok()? {
        writer.rotate(&path, N_KEPT).ok()?;
    }
    Some(())
}

/// Quotes a value in logfmt style unless it is a single plain word, so that it cannot start a new
/// line or field.
fn quote_value(value: &str) -> String {
    let value = &value[..value.floor_char_boundary(MAX_VALUE)];
    let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '=' | '\\');
    if !value.is_empty() && value.chars().all(is_plain) {
        return value.to_owned();
    }
    json_line(&value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_can_begin_a_line_or_a_field() {
        assert_eq!(quote_value("127.0.0.1:8765"), "127.0.0.1:8765");
        for value in ["", "a b", "a=b", "a\nlevel=error", "\u{1b}[2J", "\u{202e}", "\"", "\\"] {
            let shown = quote_value(value);
            assert!(shown.starts_with('"') && shown.ends_with('"'), "{shown}");
            assert!(shown.chars().all(|c| c == ' ' || c.is_ascii_graphic()), "{shown}");
            assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), value);
        }
    }
}
