//! The database shared by several servers (if `server.database` is set), and the session queue,
//! which is otherwise in the local catalog.
//!
//! [`Shared`] keeps the database open, so that all calls on a server use the same connections. The
//! password is read from an environment variable or a file, and is never stored.

use std::fs::File;
use std::io::Read as _;
use std::sync::{MutexGuard, PoisonError};

use jiff::SignedDuration;
use nacre_base::config::{NACRE_DATABASE_PASSWORD, ServerSettings};
use nacre_base::platform::is_private_file;
use nacre_team::postgres::database::{
    Database, DatabaseError, DatabaseOptions, Leadership, MIN_VECTOR,
};
use nacre_team::postgres::queue::SharedQueue;
use nacre_team::postgres::search::SharedRecords;
use nacre_traces::catalog::{Catalog, CatalogError, JobQueue, SessionRow};
use nacre_types::{DatabaseState, DatabaseStatus, WaitingSessions};

use super::files::read_text;
use super::open_catalog;
use crate::error::hinted;
use crate::prelude::*;

const CALL_TIME: Duration = Duration::from_secs(10);
const CONNECT_TIME: Duration = Duration::from_secs(3);

const MAX_PASSWORD: u64 = 4096;

const SERVER_ID: &str = "server-id";
const SERVER_ID_BYTES: usize = 8;

#[derive(Default)]
pub(super) struct OpenDatabase {
    opened: Option<(ServerSettings, Option<String>, Database)>,
    leadership: Option<Leadership>,
    records: Option<SharedRecords>,
    seen: Option<(DatabaseState, Timestamp)>,
    /// Decisions made before this time have already been added to the queue.
    offered: Option<Timestamp>,
}

// Omits the password.
nacre_base::debug_only!(OpenDatabase {});

impl Host {
    /// Returns whether a database is configured, even if the setting is invalid.
    pub fn has_database(&self) -> bool {
        !self.own.server.database.is_empty()
    }

    /// Returns the configured database, if any, without connecting to it.
    pub fn database(&self) -> Result<Option<Database>> {
        if !self.has_database() {
            return Ok(None);
        }
        let (settings, password) = (&self.own.server, password(self)?);
        let mut kept = self.open_database();
        if let Some((of, by, database)) = &kept.opened
            && *of == *settings
            && *by == password
        {
            return Ok(Some(database.clone()));
        }
        let options = DatabaseOptions {
            password: password.clone(),
            certificates: certificates(&settings.database_certificates)?,
            max_connections: settings.database_connections,
            wait_for_connection: CONNECT_TIME,
            connect_timeout: CONNECT_TIME,
            call_timeout: CALL_TIME,
            ..DatabaseOptions::new(&settings.database)
        };
        let database = Database::new(options)?;
        let opened = Some((settings.clone(), password, database.clone()));
        *kept = OpenDatabase { opened, ..OpenDatabase::default() };
        Ok(Some(database))
    }

    pub fn require_database(&self) -> Result<Database> {
        self.database()?.ok_or_else(|| {
            OpError::new(ErrorCode::NotSet, "No database is configured")
                .hint("nacre config set server.database postgres://USER@HOST/NAME")
        })
    }

    pub fn database_status(&self) -> Option<DatabaseStatus> {
        if !self.has_database() {
            return None;
        }
        let looked = self.require_database().and_then(|database| {
            database.check_schema()?;
            Ok(database.health())
        });
        let (state, detail) = match looked {
            Ok(state) => (state, None),
            Err(error) => {
                let is_away = error.code == ErrorCode::DatabaseAway;
                let state = if is_away { DatabaseState::Away } else { DatabaseState::Unusable };
                let causes = std::iter::once(&error.message).chain(&error.causes);
                (state, Some(causes.cloned().collect::<Vec<_>>().join(": ")))
            }
        };
        let mut kept = self.open_database();
        let since = match kept.seen {
            Some((before, since)) if before == state => since,
            Some(_) | None => self.now(),
        };
        kept.seen = Some((state, since));
        let since = since.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let is_leader = kept.leadership.is_some();
        Some(DatabaseStatus { state, since, is_leader, detail })
    }

    /// Returns whether this server is the leader. Without a shared database, every server is the
    /// leader.
    pub fn is_leader(&self) -> Result<bool> {
        let Some(database) = self.database()? else { return Ok(true) };
        let held = self.open_database().leadership.take();
        // The lock is not held here, because both branches query the database.
        let leadership = match held.filter(Leadership::is_held) {
            Some(leadership) => Some(leadership),
            None => database.try_lead()?,
        };
        let is_leader = leadership.is_some();
        self.open_database().leadership = leadership;
        Ok(is_leader)
    }

    /// Returns the shared index of all projects' memories, or `None` without a database.
    pub(crate) fn open_shared_records(&self) -> Result<Option<SharedRecords>> {
        let Some(database) = self.database()? else { return Ok(None) };
        if let Some(records) = &self.open_database().records {
            return Ok(Some(records.clone()));
        }
        let records = SharedRecords::open(&database)?;
        self.open_database().records = Some(records.clone());
        Ok(Some(records))
    }

    /// Returns whether the last call to the database failed. If so, optional calls are skipped to
    /// avoid a timeout.
    pub(super) fn is_database_away(&self) -> bool {
        let seen = self.open_database().seen;
        seen.is_some_and(|(state, _)| !state.is_usable())
    }

    fn open_database(&self) -> MutexGuard<'_, OpenDatabase> {
        self.shared.database.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn server_id(&self) -> Result<String> {
        let run = self.home_folder("run")?;
        let is_id = |id: &String| {
            id.len() == 2 * SERVER_ID_BYTES && id.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        let read = || Ok::<_, OpError>(read_text(run.path(), SERVER_ID)?.filter(is_id));
        if let Some(id) = read()? {
            return Ok(id);
        }
        let bytes: [u8; SERVER_ID_BYTES] = self.environment.random_bytes()?;
        let id: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        run.put_output(&RelPath::new(SERVER_ID)?, id.as_bytes(), &self.owner("serve"))?;
        // If another process created an id at the same time, both processes use the stored one.
        Ok(read()?.unwrap_or(id))
    }
}

fn password(host: &Host) -> Result<Option<String>> {
    if let Some(password) = host.environment.var(NACRE_DATABASE_PASSWORD) {
        return Ok(Some(password.to_owned()));
    }
    match host.own.server.database_password_file.as_str() {
        "" => Ok(None),
        path => read_password(Path::new(path)).map(Some),
    }
}

fn read_password(path: &Path) -> Result<String> {
    let shown = path.display();
    let failed = |why: String| {
        OpError::failed(format!("Cannot use the password file `{shown}`")).because(why)
    };
    let file = File::open(path).map_err(|error| failed(error.to_string()))?;
    if !is_private_file(&file).map_err(|error| failed(error.to_string()))? {
        let error = failed("other users can read it".to_owned());
        return Err(
            OpError { code: ErrorCode::Refused, ..error }.hint(format!("chmod 600 {shown}"))
        );
    }
    let mut text = String::new();
    file.take(MAX_PASSWORD).read_to_string(&mut text).map_err(|error| failed(error.to_string()))?;
    match text.trim_end_matches(['\r', '\n']) {
        "" => Err(failed("it is empty".to_owned())),
        password => Ok(password.to_owned()),
    }
}

fn certificates(path: &str) -> Result<Option<Vec<u8>>> {
    if path.is_empty() {
        return Ok(None);
    }
    let text = super::read_plain(Path::new(path)).map_err(|error| {
        OpError::failed(format!("Cannot read the certificates in `{path}`")).because(error)
    })?;
    Ok(Some(text.into_bytes()))
}

impl From<DatabaseError> for OpError {
    fn from(error: DatabaseError) -> Self {
        use ErrorCode::{Conflict, DatabaseAway, Failed, NotSet, Refused};
        if error.is_passing() {
            let hint =
                "No queued work is lost. Try again; `nacre server` shows the database status";
            return Self::from_error(DatabaseAway, &error, Some(hint.to_owned()));
        }
        hinted! { error:
            DatabaseError::Older { .. } => NotSet, "nacre server migrate";
            DatabaseError::Newer { .. } => Refused,
                "Install the same version of Nacre as on the other servers";
            DatabaseError::PasswordInUrl => Refused,
                "Set it in NACRE_DATABASE_PASSWORD, or in a file named by \
                 `server.database_password_file`";
            DatabaseError::Extension { .. } => NotSet,
                format!("Install pgvector {MIN_VECTOR} or newer in the database");
            DatabaseError::OtherModel { .. } => Conflict,
                "All servers that share a database need the same version of Nacre";
            DatabaseError::Distrusted(_) => Refused,
                "Use TLS, `scram-sha-256` in pg_hba.conf, or the socket directory with `peer` and \
                 no password";
            DatabaseError::Url(_) | DatabaseError::NoUser | DatabaseError::Certificates { .. }
                | DatabaseError::Thread(_) | DatabaseError::Away(_) | DatabaseError::GaveUp(_)
                | DatabaseError::TooSlow { .. } | DatabaseError::Exhausted { .. }
                | DatabaseError::Refused(_) | DatabaseError::Damaged { .. }
                | DatabaseError::State(_) => Failed, "nacre config get server.database";
        }
    }
}

/// Lease time for the local queue. Processing a session takes seconds with rules, and up to hours
/// with a slow model. A process that holds a lease for longer is assumed to be dead.
const LOCAL_LEASE: Duration = Duration::from_secs(12 * 3600);

/// Leases in the shared queue are short and renewed every few seconds, so that other servers
/// quickly take over the work of a dead server.
pub(crate) const SHARED_LEASE: Duration = Duration::from_secs(12);

const TOKEN: &str = "sync-";

/// A decision may be stored shortly after it is made, so each call also offers decisions made in
/// the two minutes before the previous call.
const OFFER_OVERLAP: SignedDuration = SignedDuration::from_mins(2);

pub(crate) struct WaitingQueue {
    pub(crate) catalog: Catalog,
    shared: Option<(SharedQueue, String)>,
}

pub(crate) fn open_queue(host: &Host) -> Result<WaitingQueue> {
    let catalog = open_catalog(host)?;
    let shared = match host.database()? {
        Some(database) => {
            let server = host.server_id()?;
            Some((SharedQueue::open(&database)?.for_server(&server), server))
        }
        None => None,
    };
    Ok(WaitingQueue { catalog, shared })
}

impl WaitingQueue {
    pub(crate) fn local(catalog: Catalog) -> Self {
        Self { catalog, shared: None }
    }

    pub(crate) fn jobs(&mut self) -> &mut dyn JobQueue {
        match &mut self.shared {
            Some((queue, _)) => queue,
            None => &mut self.catalog,
        }
    }

    pub(crate) fn shared(&self) -> Option<&SharedQueue> {
        self.shared.as_ref().map(|(queue, _)| queue)
    }

    /// Adds to the shared queue all decisions made since the last call.
    pub(crate) fn offer(&mut self, host: &Host) -> Result<()> {
        let Some((queue, _)) = &mut self.shared else { return Ok(()) };
        let now = host.now();
        let since =
            host.open_database().offered.and_then(|since| since.checked_sub(OFFER_OVERLAP).ok());
        let since = since.map_or(0, Timestamp::as_millisecond);
        queue.offer(&self.catalog.list_offered(since)?)?;
        host.open_database().offered = Some(now);
        Ok(())
    }

    pub(crate) fn token_prefix(&self) -> String {
        match &self.shared {
            Some((_, server)) => format!("{TOKEN}{server}-"),
            None => TOKEN.to_owned(),
        }
    }

    pub(crate) fn lease(&self) -> Duration {
        if self.shared.is_some() { SHARED_LEASE } else { LOCAL_LEASE }
    }

    /// Returns the session with this key. If the session is not on this machine, records that in
    /// the shared queue and returns `None`.
    pub(crate) fn session(&mut self, key: &str) -> Result<Option<SessionRow>, CatalogError> {
        match (self.catalog.session(key), &mut self.shared) {
            (Err(CatalogError::UnknownTrace { .. }), Some((queue, _))) => {
                queue.cannot_read(key)?;
                Ok(None)
            }
            (found, _) => found.map(Some),
        }
    }

    pub(crate) fn waiting(&self, now: Timestamp) -> Result<WaitingSessions, CatalogError> {
        match &self.shared {
            Some((queue, _)) => queue.waiting(now),
            None => self.catalog.waiting(now),
        }
    }

    pub(crate) fn keys_starting(&self, start: &str) -> Result<Vec<String>, CatalogError> {
        match &self.shared {
            Some((queue, _)) => queue.keys_starting(start),
            None => self.catalog.keys_starting(start),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    #[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
    fn a_password_is_read_from_a_file_that_only_its_owner_may_read() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("password");
        std::fs::write(&path, "s3cret\n").unwrap();
        let set = |mode| std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        set(0o600);
        assert_eq!(read_password(&path).unwrap(), "s3cret");
        set(0o640);
        let error = read_password(&path).unwrap_err();
        assert_eq!(
            (error.code, error.causes),
            (ErrorCode::Refused, vec!["other users can read it".to_owned()])
        );
        set(0o600);
        std::fs::write(&path, "\n").unwrap();
        assert_eq!(read_password(&path).unwrap_err().causes, ["it is empty"]);
    }
}
