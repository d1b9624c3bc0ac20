//! `nacre config set`

use clap::Args;
use nacre_core::base::ShownLine;
use nacre_core::config::{self, FAMILIES, FromRepo, KEYS, edit};
use nacre_core::safefs::{Access, WriteScope};
use serde_json::json;

use super::super::exit::Exit;
use super::super::ui::{Ui, shown};
use nacre_ops::Host;
use nacre_ops::OpError;
use nacre_ops::host::STORE_FOLDER;
use nacre_ops::host::settle_map_cache;

/// What lies on the disk in another way than this key wants goes at once.
const AT_REST: &str = "map.at_rest";

/// Set one key; comments and order of the file stay
#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// The key, such as memory.scope
    key: String,
    /// Its value; a list is comma separated
    #[arg(required_unless_present = "unset")]
    value: Option<String>,
    /// Take the key out of the file instead
    #[arg(long, conflicts_with = "value")]
    unset: bool,
    /// Write to the repository's own settings, which are shared through git
    #[arg(long)]
    repo: bool,
}

pub(crate) fn cmd_set(ui: &mut Ui, host: &Host, args: &SetArgs) -> Result<Exit, OpError> {
    let SetArgs { key, value, unset: _, repo } = args;
    let scope = if *repo { repo_scope(host, key)? } else { host.home_scope()? };
    let origin = scope.path().join("config.toml");
    host.edit_text(&scope, "config.toml", "config set", |text, origin| {
        Ok(match value {
            Some(value) => edit::set(text, origin, key, value)?,
            None => edit::unset(text, origin, key)?,
        })
    })?;
    if key == AT_REST {
        let at_rest = match value.as_ref().map(|value| value.parse()) {
            Some(Ok(at_rest)) => at_rest,
            Some(Err(_)) | None => config::resolve(&[], &[], &[])?.settings.map.at_rest,
        };
        settle_map_cache(host, "config set", at_rest)?;
    }
    if ui.is_json() {
        ui.json(&json!({ "key": key, "value": value, "path": origin.display().to_string() }))?;
    }
    match value {
        Some(value) => {
            ui.status(format!("Set {key} = {} in {}", ShownLine(value), shown(&origin)))?;
        }
        None => ui.status(format!("Unset {} in {}", ShownLine(key), shown(&origin)))?,
    }
    Ok(Exit::Done)
}

/// The repository's store, for a key that a repository may set.
fn repo_scope(host: &Host, key: &str) -> Result<WriteScope, OpError> {
    let spec = KEYS.iter().find(|spec| spec.name == key);
    let is_in_family = FAMILIES
        .iter()
        .any(|family| key.strip_prefix(family.name).is_some_and(|rest| rest.starts_with('.')));
    if is_in_family || spec.is_some_and(|spec| spec.from_repo == FromRepo::Refused) {
        return Err(OpError::usage(format!("A repository may not set `{key}`"))
            .hint(format!("Set it for yourself: nacre config set {key} VALUE")));
    }
    let Some(project) = &host.project else {
        return Err(OpError::failed("There is no project here").hint("Run `nacre init`"));
    };
    Ok(WriteScope::open_inside(&project.path, STORE_FOLDER, Access::Shared)?)
}
