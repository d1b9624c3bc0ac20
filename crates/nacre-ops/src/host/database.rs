//! The database that several servers share, where `server.database` names one.
//!
//! Nothing of it is looked at where none is set. What is opened is kept by [`Shared`], so that all calls of a server use the same
//! connections. The password comes from a variable or a file and is kept nowhere else.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use nacre_api::wire::{DatabaseState, DatabaseStatus, ErrorCode};
use nacre_core::config::{NACRE_DATABASE_PASSWORD, ServerSettings};
use nacre_core::platform::is_private_file;
use nacre_core::safefs::{Access, RelPath, WriteScope};
use nacre_postgres::database::{
    Database, DatabaseError, DatabaseOptions, Health, Leadership, MIN_VECTOR,
};

use super::Host;
use nacre_postgres::search::SharedRecords;

use super::files::read_text;
use crate::error::OpError;

/// How long one call may take, and how long a connection is waited for: somebody waits for the answer.
const CALL_TIME: Duration = Duration::from_secs(10);
const CONNECT_TIME: Duration = Duration::from_secs(3);

/// A longer password is none.
const MAX_PASSWORD: u64 = 4096;

/// The file in `run/` with the name that this home goes by among the servers of a database.
const SERVER_ID: &str = "server-id";
const SERVER_ID_BYTES: usize = 8;

/// What the calls of one process share about the database.
#[derive(Clone, Default)]
pub(super) struct KeptDatabase(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    opened: Option<Opened>,
    leadership: Option<Leadership>,
    records: Option<SharedRecords>,
    /// How it was when it was last looked at, and since when it is so.
    seen: Option<(DatabaseState, Timestamp)>,
    /// What was last offered to its queue: everything decided before this moment.
    offered: Option<Timestamp>,
}

struct Opened {
    settings: ServerSettings,
    password: Option<String>,
    database: Database,
}

impl KeptDatabase {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for KeptDatabase {
    /// A password is in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptDatabase").finish_non_exhaustive()
    }
}

impl Host {
    /// Whether a database is set. Its address is not looked at.
    pub fn has_database(&self) -> bool {
        !self.own.server.database.is_empty()
    }

    /// The database that is set; `None` where none is. Nothing is sent to it yet.
    pub fn database(&self) -> Result<Option<Database>, OpError> {
        if !self.has_database() {
            return Ok(None);
        }
        let (settings, password) = (&self.own.server, password(self)?);
        let mut kept = self.shared().database.lock();
        if let Some(opened) = &kept.opened
            && opened.settings == *settings
            && opened.password == password
        {
            return Ok(Some(opened.database.clone()));
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
        let opened = Opened { settings: settings.clone(), password, database: database.clone() };
        *kept = Kept { opened: Some(opened), ..Kept::default() };
        Ok(Some(database))
    }

    /// The database, where an operation needs one.
    pub fn needed_database(&self) -> Result<Database, OpError> {
        self.database()?.ok_or_else(|| {
            let error = OpError::failed("No database is set");
            OpError { code: ErrorCode::NotSet, ..error }
                .hint("nacre config set server.database postgres://USER@HOST/NAME")
        })
    }

    /// How the database is, and since when; `None` where none is set.
    pub fn database_status(&self) -> Option<DatabaseStatus> {
        if !self.has_database() {
            return None;
        }
        let looked = self.needed_database().and_then(|database| look(&database));
        let (state, detail) = match looked {
            Ok(state) => (state, None),
            Err(error) => {
                let is_away = error.code == ErrorCode::DatabaseAway;
                let state = if is_away { DatabaseState::Away } else { DatabaseState::Unusable };
                let causes = std::iter::once(&error.message).chain(&error.causes);
                (state, Some(causes.cloned().collect::<Vec<_>>().join(": ")))
            }
        };
        let mut kept = self.shared().database.lock();
        let since = match kept.seen {
            Some((before, since)) if before == state => since,
            Some(_) | None => self.now(),
        };
        kept.seen = Some((state, since));
        let since = since.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let is_leader = kept.leadership.is_some();
        Some(DatabaseStatus { state, since, is_leader, detail })
    }

    /// Whether this server does what only one is to do: always where no database is shared.
    pub fn is_leader(&self) -> Result<bool, OpError> {
        let Some(database) = self.database()? else { return Ok(true) };
        let held = self.shared().database.lock().leadership.take();
        // Both ask the database, so nothing is locked meanwhile.
        let leadership = match held.filter(Leadership::is_held) {
            Some(leadership) => Some(leadership),
            None => database.try_lead()?,
        };
        let is_leader = leadership.is_some();
        self.shared().database.lock().leadership = leadership;
        Ok(is_leader)
    }

    /// The memories of all projects that servers share; `None` where no database is set.
    pub(crate) fn shared_records(&self) -> Result<Option<SharedRecords>, OpError> {
        let Some(database) = self.database()? else { return Ok(None) };
        if let Some(records) = &self.shared().database.lock().records {
            return Ok(Some(records.clone()));
        }
        let records = SharedRecords::open(&database, self.own_embedder()?)?;
        self.shared().database.lock().records = Some(records.clone());
        Ok(Some(records))
    }

    /// Whether the database did not answer when it was last looked at: what can do without it does not wait for it.
    pub(super) fn is_database_away(&self) -> bool {
        let seen = self.shared().database.lock().seen;
        seen.is_some_and(|(state, _)| !state.is_usable())
    }

    /// From when on this process has to offer what it decides, and notes that it is offered up to `now`.
    pub(super) fn offered_since(&self) -> Option<Timestamp> {
        self.shared().database.lock().offered
    }

    pub(super) fn note_offered_until(&self, until: Timestamp) {
        self.shared().database.lock().offered = Some(until);
    }

    /// The name that this home goes by among the servers of a database; made at first use.
    pub(crate) fn server_id(&self) -> Result<String, OpError> {
        let run = WriteScope::create_inside(self.home_scope()?.path(), "run", Access::Private)?;
        let read = || Ok::<_, OpError>(read_text(run.path(), SERVER_ID)?.filter(|id| is_id(id)));
        if let Some(id) = read()? {
            return Ok(id);
        }
        let mut bytes = [0; SERVER_ID_BYTES];
        (self.environment.random)(&mut bytes).map_err(|error| {
            OpError::failed(format!("The system gives no random bytes: {error}"))
        })?;
        let id: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        run.put_output(&RelPath::new(SERVER_ID)?, id.as_bytes(), &self.owner("serve"))?;
        // Two processes may make it at once; both go by the one that stayed.
        Ok(read()?.unwrap_or(id))
    }
}

fn is_id(id: &str) -> bool {
    id.len() == 2 * SERVER_ID_BYTES && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn look(database: &Database) -> Result<DatabaseState, OpError> {
    database.check_schema()?;
    Ok(match database.health() {
        Health::Ready { .. } => DatabaseState::Connected,
        Health::Slow { .. } => DatabaseState::Slow,
        Health::Away => DatabaseState::Away,
    })
}

/// The password: of the variable, else of the file, else none.
fn password(host: &Host) -> Result<Option<String>, OpError> {
    if let Some(password) = host.environment.var(NACRE_DATABASE_PASSWORD) {
        return Ok(Some(password.to_owned()));
    }
    match host.own.server.database_password_file.as_str() {
        "" => Ok(None),
        path => read_password(Path::new(path)).map(Some),
    }
}

fn read_password(path: &Path) -> Result<String, OpError> {
    let shown = path.display();
    let failed = |why: String| OpError {
        causes: vec![why],
        ..OpError::failed(format!("Cannot use the password file `{shown}`"))
    };
    let file = File::open(path).map_err(|error| failed(error.to_string()))?;
    if !is_private_file(&file).map_err(|error| failed(error.to_string()))? {
        let error = failed("others may read it".to_owned());
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

fn certificates(path: &str) -> Result<Option<Vec<u8>>, OpError> {
    if path.is_empty() {
        return Ok(None);
    }
    let text = super::read_plain(Path::new(path)).map_err(|error| OpError {
        causes: vec![error.to_string()],
        ..OpError::failed(format!("Cannot read the certificates in `{path}`"))
    })?;
    Ok(Some(text.into_bytes()))
}

impl From<DatabaseError> for OpError {
    fn from(error: DatabaseError) -> Self {
        let (code, hint) = match &error {
            error if error.is_passing() => (
                ErrorCode::DatabaseAway,
                "Nothing that waits is lost. Try again; `nacre server status` says how it is".into(),
            ),
            DatabaseError::Older { .. } => (ErrorCode::NotSet, "nacre server migrate".into()),
            DatabaseError::Newer { .. } => (
                ErrorCode::Refused,
                "Install the version of nacre that its other servers have".into(),
            ),
            DatabaseError::PasswordInUrl => (
                ErrorCode::Refused,
                "Put it into NACRE_DATABASE_PASSWORD, or into a file that `server.database_password_file` names"
                    .into(),
            ),
            DatabaseError::Extension { .. } => {
                (ErrorCode::NotSet, format!("Install pgvector {MIN_VECTOR} or newer beside it"))
            }
            DatabaseError::OtherModel { .. } => (
                ErrorCode::Conflict,
                "Servers of one database need the same `search.embedding`".into(),
            ),
            DatabaseError::Distrusted(_) => (
                ErrorCode::Refused,
                "Use TLS, `scram-sha-256` in pg_hba.conf, or the socket folder with `peer` and no password"
                    .into(),
            ),
            DatabaseError::Url(_)
            | DatabaseError::NoUser
            | DatabaseError::Certificates { .. }
            | DatabaseError::Thread(_)
            | DatabaseError::Away(_)
            | DatabaseError::TooSlow { .. }
            | DatabaseError::GaveUp(_)
            | DatabaseError::Exhausted { .. }
            | DatabaseError::Refused(_)
            | DatabaseError::Damaged { .. } => {
                (ErrorCode::Failed, "nacre config get server.database".into())
            }
        };
        Self::from_error(code, &error, Some(hint))
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
            (ErrorCode::Refused, vec!["others may read it".to_owned()])
        );
        set(0o600);
        std::fs::write(&path, "\n").unwrap();
        assert_eq!(read_password(&path).unwrap_err().causes, ["it is empty"]);
    }
}
