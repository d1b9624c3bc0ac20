//! Authenticates and authorizes the server's callers, and writes the audit log. Permissions are
//! looked up for each request, so revoking a token takes effect immediately on all servers that
//! share the database.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use axum::http::HeaderName;
use nacre_ops::host::{Needs, OpenOptions, Tolerance, not_allowed};
use nacre_ops::people::{
    AccessScope, AuditEntry, Identity, MAX_AUDIT, MAX_AUDIT_AGE, PeopleStore, TOKEN_PREFIX,
    TokenHash, TokenRecord, is_person_name,
};
use nacre_ops::service;
use nacre_ops::service::LogLevel;
use tokio::task::spawn_blocking;

use crate::prelude::*;

const MAX_TOKEN_BYTES: usize = 200;

/// Maximum number of queued audit entries per person. Further entries are dropped, and the loss is
/// logged.
const MAX_WAITING: usize = 1000;

const PRUNE_AFTER: usize = 500;

const RECHECK: Duration = Duration::from_secs(2);

#[derive(Clone, Debug)]
pub(crate) struct TrustedProxy {
    pub(crate) address: IpAddr,
    pub(crate) header: HeaderName,
}

impl TrustedProxy {
    /// Returns `None` if no proxy header is configured.
    pub(crate) fn of(host: &Host) -> Result<Option<Self>> {
        let settings = &host.settings().server;
        if settings.trusted_proxy_header.is_empty() {
            return Ok(None);
        }
        let address = settings.trusted_proxy.parse().map_err(|_| {
            OpError::usage("`server.trusted_proxy` is not a valid proxy address")
                .hint("nacre config set server.trusted_proxy 127.0.0.1")
        })?;
        let header = settings.trusted_proxy_header.parse().map_err(|_| {
            OpError::usage("`server.trusted_proxy_header` is not a valid header name")
                .hint("nacre config set server.trusted_proxy_header x-forwarded-user")
        })?;
        Ok(Some(Self { address, header }))
    }
}

type OpenedStore = Option<Box<dyn PeopleStore + Send>>;

#[derive(Clone)]
pub(crate) struct People {
    environment: Environment,
    /// An async mutex, because waiting for it must not block a thread.
    store: Arc<tokio::sync::Mutex<OpenedStore>>,
    /// Whether a write has started but has not yet picked up the queued entries.
    is_writing: Arc<AtomicBool>,
    waiting: Arc<Mutex<Vec<AuditEntry>>>,
    n_written: Arc<AtomicUsize>,
}

impl People {
    pub(crate) fn new(environment: Environment) -> Self {
        Self {
            environment,
            store: Arc::default(),
            is_writing: Arc::default(),
            waiting: Arc::default(),
            n_written: Arc::default(),
        }
    }

    pub(crate) async fn with_token(&self, token: &str) -> Result<Option<Caller>> {
        if MAX_TOKEN_BYTES < token.len() || !token.starts_with(TOKEN_PREFIX) {
            return Ok(None);
        }
        let hash = TokenHash::of(token);
        self.find(move |store| Ok(store.token(&hash.id())?.filter(|token| token.hash.is(&hash))))
            .await
    }

    /// Returns the caller with the permissions of the named person's newest token.
    pub(crate) async fn find_by_name(&self, name: &str) -> Result<Option<Caller>> {
        if !is_person_name(name) {
            return Ok(None);
        }
        let (name, now) = (name.to_owned(), self.environment.now());
        self.find(move |store| Ok(store.token_of(&name, now)?)).await
    }

    /// Returns the caller, or `None` if the token is revoked or expired.
    pub(crate) async fn caller(&self, identity: &Identity) -> Result<Option<Caller>> {
        match identity.clone() {
            Identity::Owner => Ok(Some(Caller::owner())),
            Identity::Token { id, .. } => self.find(move |store| Ok(store.token(&id)?)).await,
        }
    }

    async fn find(
        &self,
        look: impl FnOnce(&dyn PeopleStore) -> Result<Option<TokenRecord>> + Send + 'static,
    ) -> Result<Option<Caller>> {
        let (people, mut store) = (self.clone(), Arc::clone(&self.store).lock_owned().await);
        let found = spawn_blocking(move || {
            people.open(&mut store)?;
            store.as_deref().map_or(Ok(None), |store| look(store))
        });
        let crashed = |_| Err(OpError::failed("Internal error while handling the request"));
        let found = found.await.unwrap_or_else(crashed)?;
        let valid = found.filter(|token| token.is_valid(self.environment.now()));
        Ok(valid.map(Caller::from))
    }

    /// Records a request. Read requests by the owner are not recorded.
    pub(crate) fn note(
        &self,
        caller: &Caller,
        what: String,
        project: Option<String>,
        is_change: bool,
        outcome: &str,
    ) {
        if caller.is_owner() && !is_change {
            return;
        }
        let outcome = outcome.to_owned();
        let (at, who) = (self.environment.now(), caller.name().to_owned());
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let n_waiting = waiting.iter().filter(|entry| entry.who == who).count();
        if n_waiting < MAX_WAITING {
            waiting.push(AuditEntry { at, who, what, project, outcome });
        }
        if n_waiting + 1 == MAX_WAITING {
            service::log(&self.environment, LogLevel::Error, "audit log queue is full", &[]);
        }
        // A write takes all entries that are queued when it starts.
        if !self.is_writing.swap(true, Ordering::SeqCst) {
            let people = self.clone();
            drop(spawn_blocking(move || people.write()));
        }
    }

    pub(crate) fn write(&self) {
        let mut store = self.store.blocking_lock();
        // Later entries start another write, even if this one fails.
        self.is_writing.store(false, Ordering::SeqCst);
        let Ok(()) = self.open(&mut store) else { return };
        let waiting = self.waiting.lock();
        let entries = std::mem::take(&mut *waiting.unwrap_or_else(PoisonError::into_inner));
        // Without a store, no token was ever issued, so there is nothing to audit.
        let Some(store) = store.as_deref_mut().filter(|_| !entries.is_empty()) else { return };
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
            service::log(&self.environment, LogLevel::Error, "audit log not written", &fields);
        }
    }

    fn open(&self, store: &mut OpenedStore) -> Result<()> {
        if store.is_none() {
            let options = OpenOptions {
                needs: Needs::Registered,
                tolerance: Tolerance::Mistakes,
                ..OpenOptions::default()
            };
            *store = Host::open(self.environment.clone(), &options).host?.people()?;
        }
        Ok(())
    }
}

/// The access rights of an open connection. The caller's permissions are looked up again for each
/// message.
#[derive(Clone)]
pub(crate) struct LastingAccess {
    pub(crate) people: People,
    pub(crate) identity: Identity,
    pub(crate) permit: Permit,
}

impl LastingAccess {
    /// Returns the caller, or `None` if the connection is no longer permitted or the store is
    /// unavailable.
    pub(crate) async fn caller(&self) -> Option<Caller> {
        let caller = self.people.caller(&self.identity).await.ok()??;
        self.permit.check(&caller, None).is_ok().then_some(caller)
    }

    /// Waits until the connection loses its access, even if the connection is idle.
    pub(crate) async fn wait_until_ended(&self) {
        while self.caller().await.is_some() {
            tokio::time::sleep(RECHECK).await;
        }
    }
}

/// Counts open connections per person. Each person has a separate limit.
#[derive(Clone)]
pub(crate) struct OpenConnections {
    max_of_owner: usize,
    max_of_person: usize,
    /// Open connections by person name; `None` is the owner.
    n_open: Arc<Mutex<BTreeMap<Option<String>, usize>>>,
}

impl OpenConnections {
    pub(crate) fn new(max_of_owner: usize, max_of_person: usize) -> Self {
        Self { max_of_owner, max_of_person, n_open: Arc::default() }
    }

    pub(crate) fn count(&self) -> usize {
        self.n_open.lock().unwrap_or_else(PoisonError::into_inner).values().sum()
    }

    /// Counts a connection until the returned value is dropped. Returns `None` if the person has
    /// too many connections.
    pub(crate) fn add(&self, identity: &Identity) -> Option<OpenConnection> {
        let person = identity.person().map(str::to_owned);
        let max = if person.is_none() { self.max_of_owner } else { self.max_of_person };
        let mut all = self.n_open.lock().unwrap_or_else(PoisonError::into_inner);
        let n_open = all.entry(person.clone()).or_default();
        if max <= *n_open {
            return None;
        }
        *n_open += 1;
        Some(OpenConnection { all: self.clone(), person })
    }
}

pub(crate) struct OpenConnection {
    all: OpenConnections,
    person: Option<String>,
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let mut all = self.all.n_open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(n_open) = all.get_mut(&self.person) {
            *n_open -= 1;
            if *n_open == 0 {
                all.remove(&self.person);
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permit {
    /// Requires no permission, because the response contains no data about projects or people.
    Anybody,
    /// Requires this scope in the request's project. Lists contain only projects that the caller
    /// may read.
    Scope(AccessScope),
    /// Requires the `admin` scope in all projects, because the request affects the whole machine or
    /// its owner.
    Machine,
}

impl From<AccessScope> for Permit {
    fn from(scope: AccessScope) -> Self {
        Self::Scope(scope)
    }
}

impl Permit {
    #[cfg(test)]
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Anybody => "none",
            Self::Scope(scope) => scope.as_str(),
            Self::Machine => "admin of all projects",
        }
    }

    /// Returns the scope that the caller needs to see a project.
    pub(crate) fn scope(self) -> AccessScope {
        match self {
            Self::Anybody => AccessScope::Read,
            Self::Scope(scope) => scope,
            Self::Machine => AccessScope::Admin,
        }
    }

    /// Checks the caller's access. If the caller may not read the project, the error is the same as
    /// for an unknown project.
    pub(crate) fn check(self, caller: &Caller, project: Option<&str>) -> Result<()> {
        let (permissions, scope) = (&caller.permissions, self.scope());
        let is_allowed = match (self, project) {
            (Self::Anybody, _) => true,
            (Self::Machine, _) => permissions.allow_everything(),
            (Self::Scope(_), None) => permissions.allow_anywhere(scope),
            (Self::Scope(_), Some(project)) => {
                let is_known = permissions.allow(project, AccessScope::Read);
                !is_known || permissions.allow(project, scope)
            }
        };
        match is_allowed {
            true => Ok(()),
            false => Err(not_allowed(scope, project.filter(|_| self != Self::Machine))),
        }
    }
}

#[cfg(test)]
mod tests {
    use nacre_ops::people::Permissions;

    use super::*;

    #[test]
    fn a_person_with_too_many_connections_keeps_nobody_else_out() {
        let all = OpenConnections::new(3, 2);
        let person = |name: &str| Identity::Token { id: "1".to_owned(), person: name.to_owned() };
        let (ana, bo) = (person("ana"), person("bo"));
        let open: Vec<OpenConnection> = (0..2).filter_map(|_| all.add(&ana)).collect();
        assert_eq!(open.len(), 2);
        assert!(all.add(&ana).is_none());
        let others = [&bo, &bo, &Identity::Owner, &Identity::Owner, &Identity::Owner];
        let others: Vec<OpenConnection> =
            others.into_iter().filter_map(|one| all.add(one)).collect();
        assert_eq!((others.len(), all.count()), (5, 7));
        assert!(all.add(&Identity::Owner).is_none());
        drop(open);
        assert!(all.add(&ana).is_some());
        drop(others);
        assert_eq!(all.count(), 0);
    }

    #[test]
    fn a_project_that_cannot_be_read_is_not_mentioned() {
        let permissions = Permissions::default()
            .with("pearl", AccessScope::Write)
            .with("shell", AccessScope::Read);
        let ana = Caller::with_token("1", "ana", permissions);
        let said = |permit: Permit, project| {
            permit.check(&ana, project).err().map(|error| error.message).unwrap_or_default()
        };
        assert_eq!(said(Permit::Scope(AccessScope::Write), Some("pearl")), "");
        assert_eq!(
            said(Permit::Scope(AccessScope::Write), Some("shell")),
            "This requires the scope `write` in `shell`"
        );
        // The response must not reveal whether the project exists.
        assert_eq!(said(Permit::Scope(AccessScope::Write), Some("other")), "");
        assert_eq!(said(Permit::Scope(AccessScope::Write), None), "");
        assert_eq!(
            said(Permit::Scope(AccessScope::Admin), None),
            "This requires the scope `admin`"
        );
        assert_eq!(said(Permit::Machine, Some("other")), "This requires the scope `admin`");
        assert!(Permit::Machine.check(&Caller::owner(), None).is_ok());
        let nobody = Caller::nobody();
        assert!(Permit::Scope(AccessScope::Read).check(&nobody, None).is_err());
        assert!(Permit::Anybody.check(&nobody, None).is_ok());
    }
}
