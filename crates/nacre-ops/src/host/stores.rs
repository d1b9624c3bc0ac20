//! Opens the project's store and the user's store.

use nacre_base::config::Settings;
use nacre_base::fs::Seal;
use nacre_base::git::GitProgram;
use nacre_memory::{IndexPlace, LedgerPlace, Rules, STORE_ACCESS};
use nacre_types::{OtherPlace, Scope, StoreScope, Warning};

use super::STORE_FOLDER;
use super::files::if_there;
use super::projects::check;
use crate::prelude::*;

/// Time limit for one command to update an index. The next command continues the update.
const INDEX_TIME: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub struct ScopedStore {
    pub scope: StoreScope,
    pub store: Store,
    pub settings: Settings,
}

impl Host {
    pub fn stores_to_read(&self, scope: Option<Scope>) -> Result<Vec<ScopedStore>> {
        let mode = scope.unwrap_or(self.settings().memory.scope);
        let mut stores = Vec::new();
        if mode != Scope::GlobalOnly {
            stores.extend(self.project_store()?);
        }
        if mode != Scope::ProjectOnly {
            stores.extend(self.global_store()?);
        }
        if !stores.is_empty() {
            return Ok(stores);
        }
        if mode != Scope::GlobalOnly {
            return Err(self.no_project());
        }
        let hint = "nacre memory add --scope global_only \"Write commit subjects in lower case\"";
        Err(OpError::failed("There are no global memories yet").hint(hint))
    }

    /// Returns the store for new memories. A missing global store is created.
    ///
    /// Uses only the command line and the user's own settings, because a repository may configure
    /// where to search but not where to write.
    pub fn store_to_write(&self, scope: Option<Scope>) -> Result<ScopedStore> {
        let settings = self.own_settings();
        match scope.unwrap_or(settings.memory.scope) {
            Scope::ProjectFallbackGlobal | Scope::ProjectOnly => {
                self.project_store()?.ok_or_else(|| self.no_project())
            }
            Scope::GlobalOnly if !self.caller.permissions.allow_everything() => {
                Err(self.no_project())
            }
            Scope::GlobalOnly => {
                let store = self.store(self.home_scope()?, &settings)?;
                Ok(ScopedStore { scope: StoreScope::Global, store, settings })
            }
        }
    }

    pub fn project_scope(&self, root: &Path) -> Result<WriteScope, FsError> {
        WriteScope::open_inside(root, STORE_FOLDER, STORE_ACCESS)
            .map(|scope| self.seal_scope(scope))
    }

    /// Makes `scope` sign its changes with the user's key, so that a later command can complete an
    /// interrupted change.
    pub fn seal_scope(&self, scope: WriteScope) -> WriteScope {
        match &self.home {
            Some(home) => scope.with_seal(Seal::from_directory(home)),
            None => scope,
        }
    }

    /// Warns about an unfinished change that was committed to a repository.
    pub(super) fn warn_of_foreign_change(&self, warnings: &mut Vec<Warning>) {
        let Some(project) = &self.project else { return };
        let Ok(scope) = self.project_scope(&project.path) else { return };
        if !scope.is_interrupted().unwrap_or(false) || !scope.has_foreign_change() {
            return;
        }
        let journal = scope.path().join("journal");
        let message = format!(
            "`{}` contains a change that is damaged or was started on another computer; the change \
             was not applied",
            journal.display()
        );
        let hint = Some("`nacre doctor` shows where the change was moved".to_owned());
        warnings.push(Warning { message, hint });
    }

    pub fn project_store(&self) -> Result<Option<ScopedStore>> {
        self.project.as_ref().map_or(Ok(None), |project| self.open_store(&project.path))
    }

    fn open_store(&self, root: &Path) -> Result<Option<ScopedStore>> {
        let Some(scope) = if_there(self.project_scope(root))? else { return Ok(None) };
        let settings = self.settings_for(root)?;
        let store = self.store(scope, &settings)?;
        Ok(Some(ScopedStore { scope: StoreScope::Project, store, settings }))
    }

    /// Returns whether a store contains an unfinished change. Opening such a store completes the
    /// change, and therefore writes to the store.
    pub fn has_unsettled_store(&self) -> bool {
        let project = self.project.as_ref().map(|project| project.path.join(STORE_FOLDER));
        let folders = project.into_iter().chain(self.home.clone());
        let scopes = folders.filter_map(|folder| WriteScope::open(&folder, Access::Shared).ok());
        scopes.map(|scope| scope.is_interrupted()).any(|is| is.unwrap_or(true))
    }

    pub fn store_at(&self, root: &Path) -> Result<ScopedStore> {
        check(&self.person, root)?;
        self.open_store(root)?.ok_or_else(|| {
            OpError::failed(format!("No `.nacre` directory found in `{}`", root.display()))
                .hint("Run `nacre init` there")
        })
    }

    /// Returns the global store, if there is one. Only this machine's owner has one.
    pub fn global_store(&self) -> Result<Option<ScopedStore>> {
        if !self.caller.permissions.allow_everything() {
            return Ok(None);
        }
        let Some(home) = self.home.as_deref().filter(|home| home.is_dir()) else { return Ok(None) };
        let scope = self.seal_scope(WriteScope::open(home, Access::Private)?);
        let settings = self.own_settings();
        let store = self.store(scope, &settings)?;
        Ok(Some(ScopedStore { scope: StoreScope::Global, store, settings }))
    }

    /// Opens a directory as a store. First completes any unfinished change.
    pub fn store(&self, scope: WriteScope, settings: &Settings) -> Result<Store> {
        let (ledger, is_personal) = (self.ledger_of(scope.path()), scope.is_private());
        self.store_with(scope, settings, ledger, is_personal, Some(self.git()))
    }

    /// Returns a copy of a store for a dry run. The copy trusts the same memories, but changes to
    /// it are not recorded.
    pub fn copy_of_store(
        &self,
        of: &Store,
        copy: WriteScope,
        settings: &Settings,
    ) -> Result<Store> {
        let ledger = self.ledger_of(of.path()).map(LedgerPlace::without_writing);
        self.store_with(copy, settings, ledger, of.scope().is_private(), None)
    }

    fn store_with(
        &self,
        scope: WriteScope,
        settings: &Settings,
        ledger: Option<LedgerPlace>,
        is_personal: bool,
        git: Option<GitProgram>,
    ) -> Result<Store> {
        // The user's own directory is not shared, so local names need not be removed there.
        let root = scope.path().parent().filter(|_| !scope.is_private());
        let own = self.own_settings();
        let is_safe = |safe: &String| safe == "*" || Some(Path::new(safe)) == scope.path().parent();
        let trusts_evidence = own.safe.memories.iter().any(is_safe);
        let shares_summaries = settings.share.summaries && own.share.summaries;
        let is_owners = self.caller.permissions.allow_everything();
        let rules = Rules {
            max_file_bytes: settings.memory.max_file_bytes,
            redact_extra: settings.redact.extra.clone(),
            local_names: root.map(|root| self.environment.local_names(root)),
            // A repository's index is stored in the user's own data directory, so that it cannot be
            // part of a clone.
            index: match &self.home {
                _ if scope.is_private() => IndexPlace::InStore,
                Some(home) => IndexPlace::Below(home.clone()),
                None => IndexPlace::Nowhere,
            },
            index_time: Some(INDEX_TIME),
            actor: self.actor,
            trusts_evidence,
            is_personal,
            // Hide summaries from everyone except the owner, unless both the owner's settings and
            // the store's settings share them.
            hides_summaries: !(is_owners || shares_summaries),
            git,
            ledger,
        };
        let store = Store::new(scope, rules);
        store.settle(&self.owner("recovery"))?;
        Ok(store)
    }

    pub fn ledger_of(&self, store: &Path) -> Option<LedgerPlace> {
        let home = self.home.as_deref()?;
        Some(LedgerPlace::of_store(home, store).with_cache(self.shared.ledgers.as_ref()))
    }

    pub fn no_project(&self) -> OpError {
        let folder =
            self.project.as_ref().map_or(&self.environment.folder, |project| &project.path);
        let message = format!(
            "No `.nacre` directory found in `{}` or its parent directories",
            folder.display()
        );
        OpError::new(ErrorCode::NoProject, message)
            .hint("Run `nacre init` to set up this repository")
    }
}

const MAX_NAMED: usize = 3;

pub struct LocatedStore {
    pub scoped: ScopedStore,
    pub also_in: Vec<OtherPlace>,
}

impl Host {
    /// Returns the store that contains the memory `id`. An exact match takes precedence over a
    /// prefix match. Warns if another store contains the same id.
    pub fn store_of(
        &self,
        events: &Events,
        scope: Option<Scope>,
        id: &str,
    ) -> Result<LocatedStore> {
        let mut stores = self.stores_to_read(scope)?;
        let (number, id) = self.locate(&stores, id)?;
        let also_in = other_places(&stores, number, &id)?;
        let scoped = stores.swap_remove(number);
        warn(events, &scoped, &id, &also_in);
        Ok(LocatedStore { scoped, also_in })
    }

    fn locate(&self, stores: &[ScopedStore], id: &str) -> Result<(usize, MemoryId)> {
        if let Ok(whole) = id.parse::<MemoryId>() {
            for (number, scoped) in stores.iter().enumerate() {
                if !scoped.store.places(&whole)?.is_empty() {
                    return Ok((number, whole));
                }
            }
        }
        let mut first_error = None;
        for (number, scoped) in stores.iter().enumerate() {
            match scoped.store.locate(id) {
                Ok(at) => return Ok((number, at.id)),
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        Err(first_error.map_or_else(|| self.no_project(), OpError::from))
    }
}

fn other_places(stores: &[ScopedStore], meant: usize, id: &MemoryId) -> Result<Vec<OtherPlace>> {
    let mut others = Vec::new();
    for (number, scoped) in stores.iter().enumerate() {
        let places = scoped.store.places(id)?;
        others.extend(places.iter().skip(usize::from(number == meant)).map(|at| OtherPlace {
            scope: scoped.scope,
            path: scoped.store.path().join(at.path.as_str()).display().to_string(),
        }));
    }
    Ok(others)
}

fn warn(events: &Events, meant: &ScopedStore, id: &MemoryId, also_in: &[OtherPlace]) {
    if also_in.is_empty() {
        return;
    }
    let mut places: Vec<&str> =
        also_in.iter().take(MAX_NAMED).map(|other| other.path.as_str()).collect();
    if also_in.len() > MAX_NAMED {
        places.push("…");
    }
    let whose = meant.scope.as_str();
    let is_elsewhere = also_in.iter().any(|other| other.scope != meant.scope);
    let hint = match (is_elsewhere, meant.scope) {
        (true, StoreScope::Project) => "Use `--scope global_only` to select the global store",
        (true, StoreScope::Global) => "Use `--scope project_only` to select the project's store",
        (false, _) => "`nacre doctor` shows what to do",
    };
    events.warning(
        format!("Using `{id}` from the {whose} store; the same id exists in {}", places.join(", ")),
        Some(hint),
    );
}
