//! The people of a server: the tokens they show, the names that a trusted proxy gives, and the audit list.
//!
//! A caller is looked up in the store each time, so that a revocation on any server of a database holds at once. The store is not
//! opened before somebody shows a token that is not the server's own.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::HeaderName;
use nacre_ops::host::{Environment, Needs, OpenOptions, Tolerance};
use nacre_ops::people::{
    AuditEntry, Caller, Identity, MAX_AUDIT, MAX_AUDIT_AGE, PeopleStore, TOKEN_PREFIX, TokenHash,
    TokenRecord, is_person_name,
};
use nacre_ops::service::{self, LogLevel};
use nacre_ops::{Host, OpError};
use tokio::task::spawn_blocking;

use crate::permit::Permit;

/// No token is longer.
const MAX_TOKEN_BYTES: usize = 200;

/// Entries of one person that are queued while the store is slow; more are lost, and that is logged.
const MAX_WAITING: usize = 1000;

/// How many entries are written between two looks for old ones.
const PRUNE_AFTER: usize = 500;

/// How often a silent connection is looked up.
const RECHECK: Duration = Duration::from_secs(2);

/// A proxy that logs people in, as the settings name it.
#[derive(Clone, Debug)]
pub(crate) struct TrustedProxy {
    pub(crate) address: IpAddr,
    pub(crate) header: HeaderName,
}

impl TrustedProxy {
    /// What the settings say; `None` where they name no header.
    pub(crate) fn of(host: &Host) -> Result<Option<Self>, OpError> {
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
pub(crate) struct People {
    environment: Environment,
    /// Callers queue for it without occupying a thread each.
    store: Arc<tokio::sync::Mutex<OpenedStore>>,
    is_open: Arc<AtomicBool>,
    waiting: Arc<Mutex<Vec<AuditEntry>>>,
    n_written: Arc<AtomicUsize>,
}

impl People {
    pub(crate) fn new(environment: Environment) -> Self {
        Self {
            environment,
            store: Arc::default(),
            is_open: Arc::default(),
            waiting: Arc::default(),
            n_written: Arc::default(),
        }
    }

    /// The owner of a token, if it is valid.
    pub(crate) async fn with_token(&self, token: &str) -> Result<Option<Caller>, OpError> {
        if MAX_TOKEN_BYTES < token.len() || !token.starts_with(TOKEN_PREFIX) {
            return Ok(None);
        }
        let hash = TokenHash::of(token);
        self.find(move |store| Ok(store.token(&hash.id())?.filter(|token| token.hash.is(&hash))))
            .await
    }

    /// The person whom a trusted proxy names: what they may do is what their newest token says.
    pub(crate) async fn named(&self, name: &str) -> Result<Option<Caller>, OpError> {
        if !is_person_name(name) {
            return Ok(None);
        }
        let (name, now) = (name.to_owned(), self.environment.now());
        self.find(move |store| Ok(store.token_of(&name, now)?)).await
    }

    /// What an identity may do now; `None` once its token is revoked or expired.
    pub(crate) async fn caller(&self, identity: &Identity) -> Result<Option<Caller>, OpError> {
        match identity.clone() {
            Identity::Owner => Ok(Some(Caller::owner())),
            Identity::Token { id, .. } => self.find(move |store| Ok(store.token(&id)?)).await,
        }
    }

    async fn find(
        &self,
        look: impl FnOnce(&dyn PeopleStore) -> Result<Option<TokenRecord>, OpError> + Send + 'static,
    ) -> Result<Option<Caller>, OpError> {
        let (people, mut store) = (self.clone(), Arc::clone(&self.store).lock_owned().await);
        let found = spawn_blocking(move || {
            people.open(&mut store)?;
            store.as_deref().map_or(Ok(None), |store| look(store))
        });
        let broken = |_| Err(OpError::failed("The request broke down inside"));
        let found = found.await.unwrap_or_else(broken)?;
        let valid = found.filter(|token| token.is_valid(self.environment.now()));
        Ok(valid.map(Caller::from))
    }

    /// Notes what somebody asked for. What the owner reads is theirs, and nobody else's business.
    pub(crate) fn note(&self, caller: &Caller, is_change: bool, entry: NewEntry) {
        let is_open = self.is_open.load(Ordering::Relaxed);
        if caller.is_owner() && !(is_change && is_open) {
            return;
        }
        let NewEntry { what, project, outcome } = entry;
        let (at, who) = (self.environment.now(), caller.name().to_owned());
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let n_waiting = waiting.iter().filter(|entry| entry.who == who).count();
        if n_waiting < MAX_WAITING {
            waiting.push(AuditEntry { at, who, what, project, outcome });
        }
        if n_waiting + 1 == MAX_WAITING {
            service::log(&self.environment, LogLevel::Error, "audit list is behind", &[]);
        }
        // The first one starts the write; it takes the others with it.
        if waiting.len() == 1 {
            let people = self.clone();
            drop(spawn_blocking(move || people.write()));
        }
    }

    /// Writes what waits.
    pub(crate) fn write(&self) {
        let mut store = self.store.blocking_lock();
        let Ok(()) = self.open(&mut store) else { return };
        let Some(store) = store.as_deref_mut() else { return };
        let waiting = self.waiting.lock();
        let entries = std::mem::take(&mut *waiting.unwrap_or_else(PoisonError::into_inner));
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

    /// Opens the store, unless it is open or there is none yet.
    fn open(&self, store: &mut OpenedStore) -> Result<(), OpError> {
        if store.is_none() {
            let options = OpenOptions {
                needs: Needs::Registered,
                tolerance: Tolerance::Mistakes,
                ..OpenOptions::default()
            };
            *store = Host::open(self.environment.clone(), &options).host?.people()?;
            self.is_open.store(store.is_some(), Ordering::Relaxed);
        }
        Ok(())
    }
}

/// The access of an open connection: its identity, which is looked up for each message.
#[derive(Clone)]
pub(crate) struct LastingAccess {
    pub(crate) people: People,
    pub(crate) identity: Identity,
    pub(crate) permit: Permit,
}

impl LastingAccess {
    /// The caller, if the connection may continue. It may not while the store cannot be asked.
    pub(crate) async fn caller(&self) -> Option<Caller> {
        let caller = self.people.caller(&self.identity).await.ok()??;
        self.permit.check(&caller, None).is_ok().then_some(caller)
    }

    /// Returns once the connection may not continue, also when nothing is said on it.
    pub(crate) async fn ended(&self) {
        while self.caller().await.is_some() {
            tokio::time::sleep(RECHECK).await;
        }
    }
}

/// What is noted of a request, beside who and when.
pub(crate) struct NewEntry {
    pub(crate) what: String,
    pub(crate) project: Option<String>,
    pub(crate) outcome: String,
}
