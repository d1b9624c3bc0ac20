//! The people of a server: who shows a token, whom a trusted proxy names, and the audit list.
//!
//! Nothing is opened before somebody shows a token that is not the server's own.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::HeaderName;
use nacre_ops::host::{Environment, Needs, OpenOptions, Tolerance};
use nacre_ops::people::{
    AuditEntry, Caller, MAX_AUDIT, MAX_AUDIT_AGE, PeopleStore, TOKEN_PREFIX, TokenHash,
    TokenRecord, is_person_name,
};
use nacre_ops::service::{self, LogLevel};
use nacre_ops::{Host, OpError};
use tokio::task::spawn_blocking;

/// No token is longer.
const MAX_TOKEN_BYTES: usize = 200;

/// Entries of the audit list that wait while the store is slow; more are lost, and that is logged.
const MAX_WAITING: usize = 10_000;

/// How many entries are written between two looks for old ones.
const PRUNE_AFTER: usize = 500;

/// A proxy that logs people in, as the settings name it.
#[derive(Clone, Debug)]
pub(super) struct TrustedProxy {
    pub(super) address: IpAddr,
    pub(super) header: HeaderName,
}

impl TrustedProxy {
    /// What the settings say; `None` where they name no header.
    pub(super) fn of(host: &Host) -> Result<Option<Self>, OpError> {
        let settings = &host.settings().server;
        if settings.trusted_proxy_header.is_empty() {
            return Ok(None);
        }
        let address = settings.trusted_proxy.parse().map_err(|_| {
            OpError::usage("`server.trusted_proxy` is not the address of a proxy")
                .hint("nacre config set server.trusted_proxy 127.0.0.1")
        })?;
        let header = settings.trusted_proxy_header.parse().map_err(|_| {
            OpError::usage("`server.trusted_proxy_header` is not the name of a header")
                .hint("nacre config set server.trusted_proxy_header x-forwarded-user")
        })?;
        Ok(Some(Self { address, header }))
    }
}

/// The store of people, opened when it is first needed.
type OpenedStore = Option<Box<dyn PeopleStore + Send>>;

#[derive(Clone)]
pub(super) struct People {
    environment: Environment,
    store: Arc<Mutex<OpenedStore>>,
    is_open: Arc<AtomicBool>,
    waiting: Arc<Mutex<Vec<AuditEntry>>>,
    n_written: Arc<AtomicUsize>,
}

impl People {
    pub(super) fn new(environment: Environment) -> Self {
        Self {
            environment,
            store: Arc::default(),
            is_open: Arc::default(),
            waiting: Arc::default(),
            n_written: Arc::default(),
        }
    }

    /// Whoever has that token, if it is valid.
    pub(super) async fn with_token(&self, token: &str) -> Result<Option<Caller>, OpError> {
        if MAX_TOKEN_BYTES < token.len() || !token.starts_with(TOKEN_PREFIX) {
            return Ok(None);
        }
        let hash = TokenHash::of(token);
        self.find(move |store| Ok(store.token(&hash)?)).await
    }

    /// The person whom a trusted proxy names: what they may do is what their newest token says.
    pub(super) async fn named(&self, name: &str) -> Result<Option<Caller>, OpError> {
        if !is_person_name(name) {
            return Ok(None);
        }
        let (name, now) = (name.to_owned(), self.environment.now());
        self.find(move |store| Ok(store.token_of(&name, now)?)).await
    }

    async fn find(
        &self,
        look: impl FnOnce(&dyn PeopleStore) -> Result<Option<TokenRecord>, OpError> + Send + 'static,
    ) -> Result<Option<Caller>, OpError> {
        let people = self.clone();
        let found = spawn_blocking(move || {
            let mut store = people.opened()?;
            store.as_deref_mut().map_or(Ok(None), |store| look(&*store))
        });
        let broken = |_| Err(OpError::failed("The request broke down inside"));
        let found = found.await.unwrap_or_else(broken)?;
        let valid = found.filter(|token| token.is_valid(self.environment.now()));
        Ok(valid.map(|token| Caller::person(&token.person, token.permissions)))
    }

    /// Notes what somebody asked for. What the owner reads is theirs, and nobody else's business.
    pub(super) fn note(&self, caller: &Caller, is_change: bool, entry: NewEntry) {
        let is_open = self.is_open.load(Ordering::Relaxed);
        let is_noted = caller.person.is_some() || (is_change && is_open);
        if !is_noted {
            return;
        }
        let NewEntry { what, project, outcome } = entry;
        let (at, who) = (self.environment.now(), caller.name().to_owned());
        let mut waiting = lock(&self.waiting);
        if waiting.len() < MAX_WAITING {
            waiting.push(AuditEntry { at, who, what, project, outcome });
        }
        // Whoever adds the first one writes those of others, too.
        if waiting.len() == 1 {
            let people = self.clone();
            drop(spawn_blocking(move || people.write()));
        }
        if waiting.len() == MAX_WAITING {
            service::log(&self.environment, LogLevel::Error, "audit list is behind", &[]);
        }
    }

    /// Writes what waits.
    pub(super) fn write(&self) {
        let Ok(mut store) = self.opened() else { return };
        let Some(store) = store.as_deref_mut() else { return };
        let entries = std::mem::take(&mut *lock(&self.waiting));
        if entries.is_empty() {
            return;
        }
        let now = self.environment.now();
        let written = store.record(&entries).and_then(|()| {
            let n_written = self.n_written.fetch_add(entries.len(), Ordering::Relaxed);
            let is_due = (n_written + entries.len()) / PRUNE_AFTER != n_written / PRUNE_AFTER;
            match now.checked_sub(MAX_AUDIT_AGE) {
                Ok(before) if is_due || n_written == 0 => {
                    store.prune_audit(before, MAX_AUDIT).map(drop)
                }
                Ok(_) | Err(_) => Ok(()),
            }
        });
        if let Err(error) = written {
            let fields = [("error", &*error.to_string())];
            service::log(&self.environment, LogLevel::Error, "audit list not written", &fields);
        }
    }

    /// The store, looked for again as long as there is none.
    fn opened(&self) -> Result<MutexGuard<'_, OpenedStore>, OpError> {
        let mut store = lock(&self.store);
        if store.is_none() {
            let options = OpenOptions {
                needs: Needs::Registered,
                tolerance: Tolerance::Mistakes,
                ..OpenOptions::default()
            };
            *store = Host::open(self.environment.clone(), &options).host?.people()?;
            self.is_open.store(store.is_some(), Ordering::Relaxed);
        }
        Ok(store)
    }
}

/// What is noted of a request, beside who and when.
pub(super) struct NewEntry {
    pub(super) what: String,
    pub(super) project: Option<String>,
    pub(super) outcome: String,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
