//! Prepares a repository: it gets a store and is registered.

use nacre_api::wire::{ErrorCode, InitReport, InitRequest};
use nacre_core::memory;
use nacre_core::safefs::{Access, WriteScope};

use super::register::register;
use crate::error::OpError;
use crate::events::Events;
use crate::host::{Host, STORE_FOLDER, check_owner, git_root};

/// What a repository's own settings start with.
const REPO_CONFIG: &str = "\
# Settings of this repository, shared through git. `nacre config show` lists every key.
# What runs commands or sends data is a person's own to set, and ignored here.
";

/// The command that a person may try next.
const NEXT: &str = "nacre memory add \"Use SQLite for the queue\" --body \"One file, no server.\"";

/// Makes the store of the git repository around the current folder, or of the folder itself. A project that is named takes the
/// place of the current folder.
pub fn init(host: &Host, request: &InitRequest, events: &Events) -> Result<InitReport, OpError> {
    let InitRequest { name } = request;
    let folder = host.named_folder.as_ref().unwrap_or(&host.environment.folder);
    let git = git_root(&host.person, folder);
    let root = git.as_deref().unwrap_or(folder);
    if Some(root.join(STORE_FOLDER).as_path()) == host.home().ok() {
        let error = OpError::failed("This folder's `.nacre` is the global store");
        return Err(OpError { code: ErrorCode::Refused, ..error }
            .hint("Run `nacre init` inside a repository"));
    }
    let scope = host.sealed(WriteScope::create_inside(root, STORE_FOLDER, Access::Shared)?);
    check_owner(&host.person, root)?;
    let writer = scope.lock(&host.owner("init"), host.settings().lock.wait)?;
    let shares = host.settings_now(Some(root)).is_some_and(|settings| settings.share.summaries);
    let created = memory::init(&writer, REPO_CONFIG, shares)?;
    drop(writer);
    let registered = register(host, root, name.as_deref());
    let ledger = host.ledger_of(scope.path());
    let rules = memory::Rules { ledger, ..memory::Rules::default() };
    let store = memory::Store::new(scope, rules);
    let memories = store.outlines(|_| true)?.memories.len();
    // What lies there already came from elsewhere, or is older than ledgers.
    if memories == 0 {
        store.begin_ledger(&host.owner("init"));
    }
    if let Err(error) = &registered {
        let message = format!("The project could not be registered: {}", error.message);
        events.warning(message, None);
    }
    Ok(InitReport {
        root: root.display().to_string(),
        project: registered.ok(),
        is_git: git.is_some(),
        created: created.iter().map(|path| format!("{STORE_FOLDER}/{path}")).collect(),
        memories,
        shares_summaries: shares,
        next: NEXT.to_owned(),
    })
}
