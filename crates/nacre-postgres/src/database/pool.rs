//! Connections, kept open between calls and bounded in number and time.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_postgres::{Client, Config};

use super::connect::{self, RawConnection};
use super::error::DatabaseError;
use super::options::DatabaseOptions;
use super::tls::Tls;

/// From this answering time on the database counts as slow.
const SLOW: Duration = Duration::from_millis(500);

/// A database; clones share its connections.
#[derive(Clone)]
pub struct Database {
    shared: Arc<Shared>,
}

struct Shared {
    config: Config,
    tls: Tls,
    options: DatabaseOptions,
    /// `None` only while it is being dropped.
    runtime: Option<Runtime>,
    permits: Semaphore,
    idle: Mutex<Vec<Client>>,
}

/// How the database is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    Ready {
        took: Duration,
    },
    /// It answers, but not as it should.
    Slow {
        took: Duration,
    },
    /// It does not answer.
    Away,
}

/// How much of the pool is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolUse {
    pub max: usize,
    /// Connections that a call holds now.
    pub busy: usize,
    /// Connections that stand open for the next call.
    pub idle: usize,
}

impl Database {
    /// Prepares to connect; nothing is sent before the first call.
    pub fn new(options: DatabaseOptions) -> Result<Self, DatabaseError> {
        let config = options.config()?;
        let tls = Tls::new(options.certificates.as_deref())?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("nacre-postgres")
            .enable_all()
            .build()
            .map_err(DatabaseError::Thread)?;
        let permits = Semaphore::new(options.max_connections.max(1));
        let idle = Mutex::new(Vec::new());
        let shared = Shared { config, tls, options, runtime: Some(runtime), permits, idle };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Does `work` with a connection, and waits for it; must not be called where nothing may wait.
    ///
    /// What goes wrong in between leaves nothing half done as long as `work` changes things in one transaction.
    pub(crate) fn run<T>(
        &self,
        work: impl AsyncFnOnce(&mut Client) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        self.run_within(self.shared.options.call_timeout, work)
    }

    /// The same with a limit of its own, for work that is known to take long.
    pub(crate) fn run_within<T>(
        &self,
        limit: Duration,
        work: impl AsyncFnOnce(&mut Client) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        self.wait(self.call(limit, work))
    }

    /// Does two things at once, each with a connection of its own.
    pub(crate) fn run_both<A, B>(
        &self,
        one: impl AsyncFnOnce(&mut Client) -> Result<A, DatabaseError>,
        other: impl AsyncFnOnce(&mut Client) -> Result<B, DatabaseError>,
    ) -> Result<(A, B), DatabaseError> {
        let limit = self.shared.options.call_timeout;
        self.wait(async { tokio::try_join!(self.call(limit, one), self.call(limit, other)) })
    }

    async fn call<T>(
        &self,
        limit: Duration,
        work: impl AsyncFnOnce(&mut Client) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        let shared = &*self.shared;
        let DatabaseOptions { max_connections, wait_for_connection, .. } = shared.options;
        let Ok(permit) = timeout(wait_for_connection, shared.permits.acquire()).await else {
            return Err(DatabaseError::Exhausted { n_connections: max_connections });
        };
        let mut client = shared.client().await?;
        // A connection whose call was given up is not used again: its answer may still come.
        let result = timeout(limit, work(&mut client))
            .await
            .map_err(|_| DatabaseError::TooSlow { limit })?;
        if !client.is_closed() {
            shared.idle().push(client);
        }
        drop(permit);
        result
    }

    /// Asks the database for a sign of life.
    pub fn health(&self) -> Health {
        let asked = self.run(async |client| {
            let before = tokio::time::Instant::now();
            client.simple_query("SELECT 1").await?;
            Ok(before.elapsed())
        });
        match asked {
            Ok(took) if took < SLOW => Health::Ready { took },
            Ok(took) => Health::Slow { took },
            Err(_) => Health::Away,
        }
    }

    /// How many connections are used now.
    pub fn pool_use(&self) -> PoolUse {
        let max = self.shared.options.max_connections.max(1);
        let busy = max.saturating_sub(self.shared.permits.available_permits());
        PoolUse { max, busy, idle: self.shared.idle().len() }
    }

    /// A connection of its own, which `drive` is to drive.
    pub(super) fn connect_apart(&self) -> Result<(Client, RawConnection), DatabaseError> {
        self.wait(self.shared.connect())
    }

    /// Waits for work on a connection that is not one of the pool, no longer than for a call.
    pub(super) fn wait_within<T>(
        &self,
        work: impl Future<Output = Result<T, DatabaseError>>,
    ) -> Result<T, DatabaseError> {
        let limit = self.shared.options.call_timeout;
        self.wait(async {
            timeout(limit, work).await.map_err(|_| DatabaseError::TooSlow { limit })?
        })
    }

    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let Some(runtime) = &self.shared.runtime {
            runtime.spawn(task);
        }
    }

    pub(super) fn wait<T>(
        &self,
        work: impl Future<Output = Result<T, DatabaseError>>,
    ) -> Result<T, DatabaseError> {
        match &self.shared.runtime {
            Some(runtime) => runtime.block_on(work),
            None => Err(DatabaseError::Away("the connection is being closed".into())),
        }
    }
}

impl Shared {
    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Client>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A connection that was used before and still stands, or a new one.
    async fn client(&self) -> Result<Client, DatabaseError> {
        loop {
            let kept = self.idle().pop();
            match kept {
                Some(client) if !client.is_closed() => return Ok(client),
                Some(_) => {}
                None => break,
            }
        }
        let (client, connection) = self.connect().await?;
        // Its failure is told to whoever uses the client.
        tokio::spawn(async move { drop(connection.await) });
        Ok(client)
    }

    async fn connect(&self) -> Result<(Client, RawConnection), DatabaseError> {
        let limit = self.options.connect_timeout;
        timeout(limit, connect::connect(&self.config, &self.tls))
            .await
            .map_err(|_| DatabaseError::TooSlow { limit })?
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").field("options", &self.shared.options).finish_non_exhaustive()
    }
}
