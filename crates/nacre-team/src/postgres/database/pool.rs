//! A connection pool that limits how many connections are open and how long calls take.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use nacre_types::DatabaseState;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Row};
use tokio_rustls::TlsConnector;

use super::connect::{self, RawConnection};
use super::error::{DatabaseError, Result};
use super::options::DatabaseOptions;

/// Response time above which the database counts as slow.
const SLOW: Duration = Duration::from_millis(500);

/// A handle to the connection pool. Clones share the connections.
#[derive(Clone)]
pub struct Database {
    shared: Arc<Shared>,
}

struct Shared {
    config: Config,
    tls: TlsConnector,
    options: DatabaseOptions,
    /// `None` only while the value is being dropped.
    runtime: Option<Runtime>,
    permits: Semaphore,
    idle: Mutex<Vec<Client>>,
}

impl Database {
    /// Creates a pool, which connects on the first call.
    pub fn new(options: DatabaseOptions) -> Result<Self> {
        let config = options.config()?;
        let tls = connect::tls_connector(options.certificates.as_deref())?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("nacre-team")
            .enable_all()
            .build()
            .map_err(DatabaseError::Thread)?;
        let permits = Semaphore::new(options.max_connections.max(1));
        let idle = Mutex::new(Vec::new());
        let shared = Shared { config, tls, options, runtime: Some(runtime), permits, idle };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Runs `work` and waits for it.
    ///
    /// `work` should make all its changes in one transaction, because it may be interrupted.
    pub(crate) fn run<T>(&self, work: impl AsyncFnOnce(&mut Client) -> Result<T>) -> Result<T> {
        self.run_within(self.shared.options.call_timeout, work)
    }

    pub(crate) fn query(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>> {
        self.run(async |client| Ok(client.query(sql, values).await?))
    }

    pub(crate) fn query_opt(
        &self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Option<Row>> {
        self.run(async |client| Ok(client.query_opt(sql, values).await?))
    }

    pub(crate) fn query_one(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<Row> {
        self.run(async |client| Ok(client.query_one(sql, values).await?))
    }

    pub(crate) fn execute(&self, sql: &str, values: &[&(dyn ToSql + Sync)]) -> Result<u64> {
        self.run(async |client| Ok(client.execute(sql, values).await?))
    }

    pub(crate) fn run_within<T>(
        &self,
        limit: Duration,
        work: impl AsyncFnOnce(&mut Client) -> Result<T>,
    ) -> Result<T> {
        self.wait(self.call(limit, work))
    }

    /// Runs both queries concurrently on separate connections.
    pub(crate) fn run_both<A, B>(
        &self,
        one: impl AsyncFnOnce(&mut Client) -> Result<A>,
        other: impl AsyncFnOnce(&mut Client) -> Result<B>,
    ) -> Result<(A, B)> {
        let limit = self.shared.options.call_timeout;
        self.wait(async { tokio::try_join!(self.call(limit, one), self.call(limit, other)) })
    }

    async fn call<T>(
        &self,
        limit: Duration,
        work: impl AsyncFnOnce(&mut Client) -> Result<T>,
    ) -> Result<T> {
        let shared = &*self.shared;
        let DatabaseOptions { max_connections, wait_for_connection, .. } = shared.options;
        let Ok(permit) = timeout(wait_for_connection, shared.permits.acquire()).await else {
            return Err(DatabaseError::Exhausted { n_connections: max_connections });
        };
        let mut client = shared.client().await?;
        // A connection is not reused after a timeout, because the old response may still arrive on
        // it.
        let result = timeout(limit, work(&mut client))
            .await
            .map_err(|_| DatabaseError::TooSlow { limit })?;
        if !client.is_closed() {
            shared.idle().push(client);
        }
        drop(permit);
        result
    }

    pub fn health(&self) -> DatabaseState {
        let asked = self.run(async |client| {
            let before = tokio::time::Instant::now();
            client.simple_query("SELECT 1").await?;
            Ok(before.elapsed())
        });
        match asked {
            Ok(took) if took < SLOW => DatabaseState::Connected,
            Ok(_) => DatabaseState::Slow,
            Err(_) => DatabaseState::Away,
        }
    }

    pub(super) fn connect_apart(&self) -> Result<(Client, RawConnection)> {
        self.wait(self.shared.connect())
    }

    pub(super) fn wait_within<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
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

    pub(super) fn wait<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
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

    async fn client(&self) -> Result<Client> {
        loop {
            let kept = self.idle().pop();
            match kept {
                Some(client) if !client.is_closed() => return Ok(client),
                Some(_) => {}
                None => break,
            }
        }
        let (client, connection) = self.connect().await?;
        // Connection errors are also returned by the client's calls.
        tokio::spawn(async move { drop(connection.await) });
        Ok(client)
    }

    async fn connect(&self) -> Result<(Client, RawConnection)> {
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

nacre_base::debug_only!(Database {});

/// Replaces NUL characters, which PostgreSQL does not allow in strings.
pub(crate) fn plain(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// Returns milliseconds since the Unix epoch.
pub(crate) fn millis_after(now: Timestamp, wait: Duration) -> i64 {
    now.as_millisecond().saturating_add(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX))
}
