//! The stores of memories: of the project, and of the person.

use std::path::Path;
use std::time::Duration;

use nacre_api::wire::{ErrorCode, Scope, StoreScope, Warning};
use nacre_core::config::{ScopeMode, Settings};
use nacre_core::memory::{IndexPlace, LedgerPlace, Rules, STORE_ACCESS, Store};
use nacre_core::safefs::{Access, FsError, Seal, WriteScope};

use super::{Host, STORE_FOLDER, finding};
use crate::error::OpError;

/// How long one command may take to bring an index up to date; what is left waits for the next one.
const INDEX_TIME: Duration = Duration::from_secs(2);

/// A store and whose memories it holds.
#[derive(Debug)]
pub struct ScopedStore {
    pub scope: StoreScope,
    pub store: Store,
    /// Those of its project, or the person's own.
    pub settings: Settings,
}

impl Host {
    /// The stores to read, in the order they are searched.
    pub fn stores_to_read(&self, scope: Option<Scope>) -> Result<Vec<ScopedStore>, OpError> {
        let mode = scope.map_or(self.settings().memory.scope, scope_mode);
        let mut stores = Vec::new();
        match mode {
            ScopeMode::ProjectFallbackGlobal => {
                stores.extend(self.project_store()?);
                stores.extend(self.global_store()?);
            }
            ScopeMode::ProjectOnly => stores.extend(self.project_store()?),
            ScopeMode::GlobalOnly => stores.extend(self.global_store()?),
        }
        match (stores.is_empty(), mode) {
            (false, _) => Ok(stores),
            (true, ScopeMode::GlobalOnly) => Err(OpError::failed(
                "There are no global memories yet",
            )
            .hint("nacre memory add --scope global_only \"Write commit subjects in lower case\"")),
            (true, ScopeMode::ProjectFallbackGlobal | ScopeMode::ProjectOnly) => {
                Err(self.no_project())
            }
        }
    }

    /// The store that new memories go to. The global one is made when it is missing.
    ///
    /// A repository may say where to look, and not where to write: without a flag the person's own settings decide.
    pub fn store_to_write(&self, scope: Option<Scope>) -> Result<ScopedStore, OpError> {
        let settings = self.own_settings();
        match scope.map_or(settings.memory.scope, scope_mode) {
            ScopeMode::ProjectFallbackGlobal | ScopeMode::ProjectOnly => {
                self.project_store()?.ok_or_else(|| self.no_project())
            }
            ScopeMode::GlobalOnly if !self.caller.permissions.allow_everything() => {
                Err(self.no_project())
            }
            ScopeMode::GlobalOnly => {
                let store = self.store(self.home_scope()?, &settings)?;
                Ok(ScopedStore { scope: StoreScope::Global, store, settings })
            }
        }
    }

    /// Opens the store folder of the project at `root`.
    pub fn project_scope(&self, root: &Path) -> Result<WriteScope, FsError> {
        WriteScope::open_inside(root, STORE_FOLDER, STORE_ACCESS).map(|scope| self.sealed(scope))
    }

    /// Proves what is begun in `scope` with the key of the person's own folder, so that a later command can finish it.
    pub fn sealed(&self, scope: WriteScope) -> WriteScope {
        match &self.home {
            Some(home) => scope.sealed_by(Seal::kept_in(home)),
            None => scope,
        }
    }

    /// Says that a repository brought a change along that nobody here began.
    pub(super) fn warn_of_foreign_change(&self, warnings: &mut Vec<Warning>) {
        let Some(project) = &self.project else { return };
        let Ok(scope) = self.project_scope(&project.path) else { return };
        if !scope.is_interrupted().unwrap_or(false) || !scope.has_foreign_change() {
            return;
        }
        let journal = scope.path().join("journal");
        let message = format!(
            "`{}` holds a change that is damaged or was not begun on this computer; it is not made",
            journal.display()
        );
        let hint = Some("`nacre doctor` says where it is put aside".to_owned());
        warnings.push(Warning { message, hint });
    }

    /// The project's store, where it has one.
    pub fn project_store(&self) -> Result<Option<ScopedStore>, OpError> {
        let Some(project) = &self.project else { return Ok(None) };
        match self.project_scope(&project.path) {
            Ok(scope) => {
                let settings = self.settings_for(&project.path)?;
                let store = self.store(scope, &settings)?;
                Ok(Some(ScopedStore { scope: StoreScope::Project, store, settings }))
            }
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a change was left halfway in a store that would be read. Who opens it puts that right, and so changes it.
    pub fn has_unsettled_store(&self) -> bool {
        let project = self.project.as_ref().map(|project| project.path.join(STORE_FOLDER));
        let folders = project.into_iter().chain(self.home.clone());
        let scopes = folders.filter_map(|folder| WriteScope::open(&folder, Access::Shared).ok());
        scopes.map(|scope| scope.is_interrupted()).any(|is| is.unwrap_or(true))
    }

    /// The store of the project at `root`.
    pub fn store_at(&self, root: &Path) -> Result<ScopedStore, OpError> {
        finding::check(&self.person, root)?;
        match self.project_scope(root) {
            Ok(scope) => {
                let settings = self.settings_for(root)?;
                let store = self.store(scope, &settings)?;
                Ok(ScopedStore { scope: StoreScope::Project, store, settings })
            }
            Err(error) if error.is_missing() => {
                Err(OpError::failed(format!("There is no `.nacre` folder in `{}`", root.display()))
                    .hint("Run `nacre init` there"))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The global store, where there is one. It belongs to the person whose machine it is; for others there is none.
    pub fn global_store(&self) -> Result<Option<ScopedStore>, OpError> {
        if !self.caller.permissions.allow_everything() {
            return Ok(None);
        }
        let Some(home) = self.home.as_deref().filter(|home| home.is_dir()) else { return Ok(None) };
        let scope = self.sealed(WriteScope::open(home, Access::Private)?);
        let settings = self.own_settings();
        let store = self.store(scope, &settings)?;
        Ok(Some(ScopedStore { scope: StoreScope::Global, store, settings }))
    }

    /// Takes a folder as a store under the settings of whose it is, after dealing with a change that was left halfway.
    pub fn store(&self, scope: WriteScope, settings: &Settings) -> Result<Store, OpError> {
        let (ledger, is_personal) = (self.ledger_of(scope.path()), scope.is_private());
        self.store_with(scope, settings, (ledger, is_personal))
    }

    /// A copy of a store, for a rehearsal: what is trusted there is trusted here, and nothing is written down.
    pub fn copy_of_store(
        &self,
        of: &Store,
        copy: WriteScope,
        settings: &Settings,
    ) -> Result<Store, OpError> {
        let ledger = self.ledger_of(of.path()).map(LedgerPlace::rehearsed);
        self.store_with(copy, settings, (ledger, of.scope().is_private()))
    }

    fn store_with(
        &self,
        scope: WriteScope,
        settings: &Settings,
        (ledger, is_personal): (Option<LedgerPlace>, bool),
    ) -> Result<Store, OpError> {
        // What lies in the person's own folder is read by nobody else.
        let root = scope.path().parent().filter(|_| !scope.is_private());
        let rules = Rules {
            max_file_bytes: settings.memory.max_file_bytes,
            redact_extra: settings.redact.extra.clone(),
            local_names: root.map(|root| self.environment.local_names(root)),
            index: self.index_place(&scope),
            index_time: Some(INDEX_TIME),
            actor: self.actor,
            trusts_evidence: trusts_memories(&self.own_settings(), scope.path()),
            is_personal,
            ledger,
        };
        let store = Store::new(scope, rules);
        store.settle(&self.owner("recovery"))?;
        Ok(store)
    }

    /// A repository's index is the person's own, so that no repository brings one.
    fn index_place(&self, scope: &WriteScope) -> IndexPlace {
        match &self.home {
            _ if scope.is_private() => IndexPlace::InStore,
            Some(home) => IndexPlace::Below(home.clone()),
            None => IndexPlace::Nowhere,
        }
    }

    /// Where it is written down which memories of a store are trusted.
    pub fn ledger_of(&self, store: &Path) -> Option<LedgerPlace> {
        let home = self.home.as_deref()?;
        Some(LedgerPlace::of_store(home, store).kept_in(self.shared.ledgers.as_ref()))
    }

    pub fn no_project(&self) -> OpError {
        let folder =
            self.project.as_ref().map_or(&self.environment.folder, |project| &project.path);
        let message = format!("There is no `.nacre` folder in `{}` or above it", folder.display());
        OpError { code: ErrorCode::NoProject, ..OpError::failed(message) }
            .hint("Run `nacre init` to prepare this repository")
    }
}

/// Whether a person said that the memories of the repository around this store are to be trusted.
fn trusts_memories(own: &Settings, store: &Path) -> bool {
    let root = store.parent();
    own.safe.memories.iter().any(|safe| safe == "*" || Some(Path::new(safe)) == root)
}

/// Where to look, in the words of the settings.
pub fn scope_mode(scope: Scope) -> ScopeMode {
    match scope {
        Scope::ProjectFallbackGlobal => ScopeMode::ProjectFallbackGlobal,
        Scope::ProjectOnly => ScopeMode::ProjectOnly,
        Scope::GlobalOnly => ScopeMode::GlobalOnly,
    }
}
